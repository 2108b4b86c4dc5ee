#include "control/bench/kpi_parts.h"

#include <algorithm>
#include <numeric>

#include "control/report/percentiles.h"

namespace railyard::bench {

std::optional<double> number(const ReportJson& j) {
  return j.is_number() ? std::optional(j.get<double>()) : std::nullopt;
}

const ReportJson* pointed(const ReportJson& report, const std::string& pointer) {
  const nlohmann::json_pointer<std::string> p(pointer);
  return report.contains(p) ? &report[p] : nullptr;
}

const ReportJson& list_of(const ReportJson& report, const char* name) {
  static const ReportJson kEmpty = ReportJson::array();
  const auto at = report.find(name);
  return at == report.end() ? kEmpty : *at;
}

const ReportJson* collective_of(const ReportJson& report, const std::string& name) {
  for (const auto& c : list_of(report, "collectives"))
    if (name.empty() || c["name"] == name) return &c;
  return nullptr;
}

double fraction_of(const std::string& at) {
  if (at == "min") return 0;
  if (at == "p50") return 0.5;
  if (at == "p95") return 0.95;
  if (at == "p99") return 0.99;
  if (at == "p999") return 0.999;
  return 1;  // max
}

double mean_of(const std::vector<double>& values) {
  return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<double> statistic(std::vector<double> values, const std::string& at) {
  if (values.empty()) return std::nullopt;
  if (at == "mean") return mean_of(values);
  std::ranges::sort(values);
  if (at == "min") return values.front();
  return report::nearest_rank(values, fraction_of(at));
}

std::vector<double> iterations(const ReportJson& report, const std::string& name) {
  std::vector<double> out;
  const ReportJson* const collective = collective_of(report, name);
  if (collective == nullptr) return out;
  const ReportJson& all = (*collective)["iterations"];
  for (std::size_t i = all.size() > 1 ? 1 : 0; i < all.size(); ++i)
    if (const auto ns = number(all[i]["time_ns"])) out.push_back(*ns);
  return out;
}

}  // namespace railyard::bench
