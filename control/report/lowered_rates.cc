#include "control/report/lowered_rates.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "control/report/link_tiers.h"
#include "control/report/report.h"
#include "control/report/timeline_report.h"

namespace railyard::report {
namespace {

// Of one port: the mean share of its rate that it had until `until`.
double mean_share(std::vector<fault::LoweredRate> rates, Instant until) {
  std::ranges::stable_sort(rates, {}, [](const fault::LoweredRate& r) { return r.when.begin; });
  std::map<Instant, std::vector<std::pair<std::size_t, bool>>> events;  // which begins or ends
  for (std::size_t i = 0; i < rates.size(); ++i) {
    if (rates[i].when.begin >= until) continue;
    events[rates[i].when.begin].emplace_back(i, true);
    events[std::min(rates[i].when.end, until)].emplace_back(i, false);
  }
  std::set<std::size_t> active;
  double had = 0;
  Instant from{};
  const auto pass = [&](Instant to) {
    had += (active.empty() ? 1 : rates[*active.rbegin()].share) * static_cast<double>((to - from).ps);
    from = to;
  };
  for (const auto& [at, changes] : events) {
    pass(at);
    for (const auto& [i, begins] : changes) {
      if (begins)
        active.insert(i);
      else
        active.erase(i);
    }
  }
  pass(until);
  return had / static_cast<double>((until - Instant{}).ps);
}

}  // namespace

void use_lowered_rates(const build::BuiltLab& lab, Report& report, const std::vector<fault::LoweredRate>& rates) {
  const Instant until = Instant{} + Duration{report.load.to_ns * 1000};
  if (rates.empty() || until <= Instant{}) return;
  std::map<std::pair<std::string, int>, std::vector<fault::LoweredRate>> by_port;
  for (const fault::LoweredRate& r : rates) by_port[{lab.node_of(r.sender.device).name, r.sender.port.value + 1}].push_back(r);
  for (PortReport& p : report.ports)
    if (const auto found = by_port.find({p.node, p.port}); found != by_port.end())
      if (const double share = mean_share(found->second, until); share > 0) p.utilisation = std::min(1.0, p.utilisation / share);
  report.link_tiers = link_tiers(lab, report.ports);
  add_path_links(lab, report);
}

}  // namespace railyard::report
