// A link fails and comes back.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "control/acceptance/figures.h"
#include "control/acceptance/item.h"
#include "control/blast/cost.h"
#include "control/report/units.h"

namespace railyard::acceptance {
namespace {

// How many times as long the messages may take. Those that only wait for the link take as much longer as it is away; 1.15
// is the JCT ratio that draft-calabria-bmwg-ai-fabric-training-bench still calls acceptable; more than three times is too
// much, however long the link is away.
double most_stretch(std::optional<double> steady_ns, Duration lasts) {
  constexpr double kAcceptable = 1.15, kMost = 3;
  if (!steady_ns || *steady_ns <= 0) return kMost;
  return std::min(kAcceptable * (1 + static_cast<double>(lasts.ps) / 1000 / *steady_ns), kMost);
}

// "1 packet", "3 flows"
std::string counted(std::uint64_t n, const char* one) {
  return fmt::format("{} {}{}", report::count_text(n), one, n == 1 ? "" : "s");
}

std::string after(std::optional<std::int64_t> ns) {
  return ns ? report::nanoseconds_text(static_cast<std::uint64_t>(*ns)) : "no table changed";
}

Finding failover(const Subject& s, const Runs& runs) {
  const auto& with = report_of(runs, ProbeKind::kFailover);
  const auto& without = report_of(runs, ProbeKind::kWithoutFailure);
  const blast::Cost cost = blast::cost_of({}, with, without, failure_at(s), failure_lasts(s), {});
  Finding f;
  const auto steady = blast::job_time(without), failing = blast::job_time(with);
  const double most = most_stretch(steady, failure_lasts(s));
  f.threshold = fmt::format("all flows complete, in {:.2f} times their time or less", most);
  const auto link = with["faults"].empty() ? std::string("a link") : with["faults"][0]["on"].get<std::string>();
  f.evidence.push_back(fmt::format("{} fails at {} for {}", link, report::time_text(failure_at(s)),
                                   report::time_text(failure_lasts(s))));
  f.evidence.push_back(fmt::format("repaired after {}, back after its return after {}", after(cost.repaired_ns),
                                   after(cost.restored_ns)));
  if (!cost.gone.empty()) {
    f.answer = Answer::kFail;
    f.found = fmt::format("{} flows never came back, the first is {}", cost.gone.size(), cost.gone.front());
    f.remedy = "Routing does not heal: `routing.protocol: bgp`, BFD, a second path; or transports give up too early.";
    return f;
  }
  if (cost.lost == 0 && cost.hit == 0) {
    // A link that carries packets when it fails loses some.
    f.answer = Answer::kReport;
    f.found = fmt::format("not shown: no packet was lost, so no flow used {}", link);
    return f;
  }
  f.answer = Answer::kPass;
  f.found = fmt::format("{} lost, {} hit", counted(cost.lost, "packet"), counted(cost.hit, "flow"));
  const double stretch = cost.stretch.value_or(1);
  if (steady && failing)
    f.found += fmt::format("; {} instead of {}, {:.2f} times",
                           report::nanoseconds_text(static_cast<std::uint64_t>(*failing)),
                           report::nanoseconds_text(static_cast<std::uint64_t>(*steady)), stretch);
  if (!cost.repaired_ns) {
    f.answer = Answer::kWarn;
    f.remedy =
        "No forwarding table changed: with `routing.protocol: static` only the switch next to the link avoids it.";
  } else if (stretch > most) {
    f.answer = Answer::kWarn;
    const bool slow_routing = failing && steady && static_cast<double>(*cost.repaired_ns) > (*failing - *steady) / 2;
    f.remedy = slow_routing
                   ? "Routing is slow to avoid the link: BFD, a shorter carrier delay, fewer hops of the routing protocol."
                   : "Routes were repaired long before the flows were: shorter timeouts of the transport, selective "
                     "retransmission, or more paths (QPs, spraying).";
  }
  return f;
}

}  // namespace

namespace list {
const Item kFailover{"failover",
                     "Does traffic survive a link that fails and comes back?",
                     "design guides: failover and failback; the limit is Railyard's (docs/validate.md)",
                     {ProbeKind::kWithoutFailure, ProbeKind::kFailover},
                     failover};
}  // namespace list

}  // namespace railyard::acceptance
