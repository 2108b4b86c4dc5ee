#include "control/bench/result_parts.h"

#include <cmath>
#include <set>

namespace railyard::bench {

std::string number_text(double x) {
  constexpr double kWhole = 10'000;
  if (x == std::floor(x) || std::abs(x) >= kWhole) return fmt::format("{:.0f}", x);
  return fmt::format("{:.4g}", x);
}

std::string cell(const Value& v) { return v.value ? number_text(*v.value) : "-"; }
std::string cv_text(const Value& v) { return v.cv() ? fmt::format("{:.1f} %", *v.cv() * 100) : "-"; }
std::string head(const Kpi& k) {
  return fmt::format("{} {}[{}]", k.name, k.unit.empty() ? "" : k.unit + " ", static_cast<char>(k.observed));
}

const Value& primary_of(const ClauseResult& r, const CaseResult& c) {
  const auto at = std::ranges::find(r.clause->kpis, true, &Kpi::primary);
  return c.values[static_cast<std::size_t>(at - r.clause->kpis.begin())];
}

// A column without its own settings: "roce/rc/sr/ecmp".
std::string short_name(const std::pair<std::string, std::string>& param) {
  return param.first == "column" ? param.second.substr(0, param.second.find(',')) : param.second;
}

std::vector<std::string> other_params(const Case& c, std::size_t axis) {
  std::vector<std::string> rest;
  for (std::size_t p = 0; p < c.params.size(); ++p)
    if (p != axis) rest.push_back(c.params[p].first + " " + c.params[p].second);
  return rest;
}

std::string topology_text(const FabricFacts& f) {
  return fmt::format(
      "class {}, {} tiers, {} hosts, {} switches, {} links; {}{} switches on a path; {:.0f} Gb/s per accelerator{}{}",
      f.topology_class, f.tiers, f.hosts, f.switches, f.links, f.least_switches,
      f.least_switches == f.most_switches ? "" : fmt::format(" to {}", f.most_switches),
      static_cast<double>(f.b_acc_bps) / 1e9,
      f.bisection_bps ? fmt::format("; bisection {:.0f} Gb/s", static_cast<double>(*f.bisection_bps) / 1e9) : "",
      f.oversubscription ? fmt::format("; oversubscription {:.3g}:1", *f.oversubscription) : "");
}

std::string transport_text(const Case& c) {
  const compare::ColumnFacts& t = c.transport;
  if (t.transport.empty()) return "frames without a transport";
  return fmt::format("{}, {}, {}, paths {}, class {}", t.transport, t.congestion, t.recovery, t.path, t.traffic_class);
}

std::vector<std::string> algorithms_of(const ClauseResult& r) {
  std::set<std::string> all;
  for (const CaseResult& x : r.cases)
    if (!x.collective.is_null())
      all.insert(fmt::format("{} {}, n = {}, S = {} bytes, factor {:.5g}, S_fabric = {:.0f} bytes (counted)",
                             x.collective["collective"].get<std::string>(), x.collective["algorithm"].get<std::string>(),
                             x.collective["n"].dump(), x.collective["bytes"].dump(),
                             x.collective["algo_factor"].is_number() ? x.collective["algo_factor"].get<double>() : 0,
                             x.collective["s_fabric"].get<double>()));
  return {all.begin(), all.end()};
}

}  // namespace railyard::bench
