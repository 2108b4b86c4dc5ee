// A link fails and comes back.
#include <fmt/format.h>

#include "control/acceptance/figures.h"
#include "control/acceptance/item.h"
#include "control/blast/cost.h"
#include "control/report/units.h"

namespace railyard::acceptance {
namespace {

std::string after(std::optional<std::int64_t> ns) {
  return ns ? report::nanoseconds_text(static_cast<std::uint64_t>(*ns)) : "no table changed";
}

Finding failover(const Subject& s, const Runs& runs) {
  const auto& with = report_of(runs, ProbeKind::kFailover);
  const auto& without = report_of(runs, ProbeKind::kWithoutFailure);
  const blast::Cost cost = blast::cost_of({}, with, without, failure_at(s), failure_lasts(s), {});
  Finding f;
  f.threshold = "all flows come back and complete";
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
  f.answer = Answer::kPass;
  f.found = fmt::format("{} packets lost, {} flows hit, the messages took {:.2f} times as long",
                        report::count_text(cost.lost), cost.hit, cost.stretch.value_or(1));
  if (!cost.repaired_ns) {
    f.answer = Answer::kWarn;
    f.remedy =
        "No forwarding table changed: with `routing.protocol: static` only the switch next to the link avoids it.";
  }
  return f;
}

}  // namespace

namespace list {
const Item kFailover{"failover",
                     "Does traffic survive a link that fails and comes back?",
                     "design guides: failover and failback",
                     {ProbeKind::kWithoutFailure, ProbeKind::kFailover},
                     failover};
}  // namespace list

}  // namespace railyard::acceptance
