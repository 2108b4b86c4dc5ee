#include "control/report/delivery.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace railyard::report {
namespace {

std::optional<double> mean(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

bool is_less(std::optional<double> a, std::optional<double> b, double alike) {
  return a && b && *a < *b * (1 - alike);
}

}  // namespace

void Delivery::add(const nlohmann::ordered_json& report) {
  const auto summary = report.find("summary");
  if (summary == report.end()) return;
  for (const auto& [name, to] : {std::pair{"completed", &completed}, std::pair{"delivered", &delivered}})
    if (const auto at = summary->find(name); at != summary->end() && at->is_number()) to->push_back(at->get<double>());
}

std::optional<double> Delivery::mean_completed() const { return mean(completed); }
std::optional<double> Delivery::mean_delivered() const { return mean(delivered); }

std::string Delivery::text() const {
  std::string text;
  if (const auto part = mean_completed()) text = fmt::format("completed {:.3f}", *part);
  if (const auto part = mean_delivered()) text += fmt::format("{}delivered {:.3f}", text.empty() ? "" : ", ", *part);
  return text;
}

std::vector<bool> delivered_less(const std::vector<Delivery>& all) {
  constexpr double kRounding = 1e-9;
  std::vector<bool> less;
  for (const Delivery& d : all)
    less.push_back(std::ranges::any_of(all, [&](const Delivery& other) {
      return is_less(d.mean_completed(), other.mean_completed(), kRounding) ||
             is_less(d.mean_delivered(), other.mean_delivered(), kDeliveredAlike);
    }));
  return less;
}

bool beats_all(double best, bool lower_is_better, const std::vector<double>& others) {
  return !others.empty() &&
         std::ranges::all_of(others, [&](double other) { return lower_is_better ? best < other : best > other; });
}

}  // namespace railyard::report
