#include "control/swarm/figure_promises.h"

#include <map>
#include <optional>

#include <fmt/format.h>

#include "control/report/metrics/metric.h"
#include "control/report/report.h"

namespace railyard::swarm {
namespace {

// NICs' clocks may be fast by 100 ppm (IEEE 802.3), and instants in reports are whole nanoseconds.
constexpr double kTolerance = 1e-3;

}  // namespace

void look_at_figures(build::BuiltLab& lab, Instant now, const std::function<void(const std::string&)>& broken) {
  const report::Report r = report::collect(lab, {}, now);
  const auto share = [&](const std::string& what, std::optional<double> value) {
    if (value && !(*value >= 0 && *value <= 1)) broken(fmt::format("{} is {}, expected a share", what, *value));
  };
  const report::RunTotals totals(r);
  for (const report::Metric& m : report::run_metrics())
    if (m.unit == report::Unit::kShare) share(std::string(m.name), m.value(totals));
  std::map<std::string, report::GoodputSum> from, to;
  for (const report::FlowReport& f : r.flows) {
    share(f.name + ": ce_share", f.ce_share());
    share(f.name + ": retransmission_share", f.retransmission_share());
    share(f.name + ": share", f.share());
    if (!f.goodput_bps()) continue;
    from[f.source].add(f);
    to[f.destination].add(f);
  }
  for (const report::PortReport& p : r.ports) {
    const std::string port = fmt::format("{}:{}", p.node, p.port);
    share(port + ": utilisation", p.utilisation);
    for (std::size_t k = 0; k < kPriorities; ++k) {
      const Duration paused = p.counters.classes[k].paused;
      if (paused < Duration{} || paused > now - Instant{})
        broken(fmt::format("{} class {} was paused for {} ns of {}", port, k, nanoseconds(paused),
                           nanoseconds(now - Instant{})));
    }
    if (p.is_switch) continue;
    for (const auto* sums : {&from, &to})
      for (const std::string& nic : {p.node, port})
        if (const auto sum = sums->find(nic); sum != sums->end())
          if (const auto bps = sum->second.bps(); bps && *bps > static_cast<double>(p.rate_bps) * (1 + kTolerance))
            if (p.port == 1 || nic == port)
              broken(fmt::format("{}: goodput of {} b/s over a link of {} b/s", port, *bps, p.rate_bps));
  }
}

}  // namespace railyard::swarm
