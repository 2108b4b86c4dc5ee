#include "control/report/delivery.h"

#include <algorithm>
#include <cmath>
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
  for (const auto& [name, to] : {std::pair{"completed", &completed}, std::pair{"delivered", &delivered},
                                std::pair{"failed_flows", &failed_flows}})
    if (const auto at = summary->find(name); at != summary->end() && at->is_number()) to->push_back(at->get<double>());
}

std::optional<double> Delivery::mean_completed() const { return mean(completed); }
std::optional<double> Delivery::mean_delivered() const { return mean(delivered); }
std::optional<double> Delivery::mean_failed_flows() const { return mean(failed_flows); }

std::string Delivery::text() const {
  std::string text;
  if (const auto part = mean_completed()) text = fmt::format("completed {:.3f}", *part);
  if (const auto part = mean_delivered()) text += fmt::format("{}delivered {:.3f}", text.empty() ? "" : ", ", *part);
  if (const auto failed = mean_failed_flows(); failed && *failed > 0)
    text += fmt::format("{}failed flows {:.3g}", text.empty() ? "" : ", ", *failed);
  return text;
}

std::vector<bool> delivered_less(const std::vector<Delivery>& all) {
  constexpr double kRounding = 1e-9;
  std::vector<bool> less;
  for (const Delivery& d : all)
    less.push_back(d.mean_delivered() == 0 || std::ranges::any_of(all, [&](const Delivery& other) {
                     return is_less(d.mean_completed(), other.mean_completed(), kRounding) ||
                            is_less(d.mean_delivered(), other.mean_delivered(), kDeliveredAlike) ||
                            is_less(other.mean_failed_flows(), d.mean_failed_flows(), kRounding);
                   }));
  return less;
}

bool may_win(const FigureKind& kind, bool less, bool complete) {
  return !less && (complete || (!kind.of_completed && kind.better == Better::kHigher));
}

bool is_alike(double a, double b) {
  constexpr double kAlike = 0.001;
  return std::abs(a - b) <= kAlike * std::max(std::abs(a), std::abs(b));
}

std::vector<std::size_t> best_of(const std::vector<Contender>& all, Better better) {
  if (better == Better::kNeither) return {};
  const auto beats = [&](double a, double b) { return better == Better::kLower ? a < b : a > b; };
  std::optional<double> best;
  std::size_t may_win = 0;
  for (const Contender& c : all) {
    if (!c.value || !c.may_win) continue;
    ++may_win;
    if (!best || beats(*c.value, *best)) best = c.value;
  }
  std::vector<std::size_t> out;
  for (std::size_t i = 0; best && i < all.size(); ++i)
    if (all[i].value && all[i].may_win && is_alike(*all[i].value, *best)) out.push_back(i);
  if (may_win > 1) return out.size() == may_win ? std::vector<std::size_t>() : out;
  std::size_t others = 0;
  for (const Contender& c : all) {
    if (!c.value || c.may_win) continue;
    ++others;
    if (best && (!beats(*best, *c.value) || is_alike(*best, *c.value))) return {};
  }
  return others > 0 ? out : std::vector<std::size_t>();
}

}  // namespace railyard::report
