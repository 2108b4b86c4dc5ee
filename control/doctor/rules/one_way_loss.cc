// Packets that one end of a link has sent and the other has not received, though the link is up.
#include <algorithm>

#include <fmt/format.h>

#include "control/doctor/rule.h"

namespace railyard::doctor {
namespace {

bool was_down(const PortCase& p) {
  for (const char* reason : {"link_down", "crash", "host_gone"})
    if (p.dropped(reason) > 0 || (p.other != nullptr && p.other->dropped(reason) > 0)) return true;
  return false;
}

std::vector<Diagnosis> find_one_way_loss(const Case& c) {
  // More than are on their way when the counters are read, and more than one in two thousand.
  constexpr std::uint64_t kLeast = 16;
  constexpr std::uint64_t kOneIn = 2000;
  std::vector<Diagnosis> out;
  for (const PortCase& p : c.ports()) {
    if (p.other == nullptr || was_down(p)) continue;
    // What arrived damaged or too long was received.
    const std::uint64_t seen =
        p.other->dropped("fcs_error") + p.other->dropped("giant") + p.other->dropped("too_short");
    const std::uint64_t missing = Case::missing(p);
    if (missing < kLeast + seen || (missing - seen) * kOneIn < p.tx()) continue;
    const std::uint64_t n = missing - seen;
    out.push_back({p.direction(),
                   p.other->rx() == 0 ? 0.95 : 0.9,
                   {fmt::format("{} sent {} packets, {} received {}: {} are missing, and neither end counted an error",
                                p.name(), p.tx(), p.peer, p.other->rx(), n)}});
  }
  return out;
}

}  // namespace

const Rule rules::kOneWayLoss{"one-way-loss", "A link loses packets in one direction and keeps its signal.",
                              "Replace the optic of the sending side; BFD finds such links when they lose everything.",
                              "Packets on their way when the counters were read: the difference then does not grow.",
                              find_one_way_loss, {Input::kLinks}};

}  // namespace railyard::doctor
