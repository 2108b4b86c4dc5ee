// Packets that leave in one class and arrive in another.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "control/doctor/rule.h"

namespace railyard::doctor {
namespace {

std::uint64_t moved(const PortCase& p) {
  std::uint64_t more = 0, fewer = 0;
  for (std::size_t k = 0; k < p.classes.size(); ++k) {
    const std::uint64_t sent = p.classes[k].tx, received = p.other->classes[k].rx;
    more += received > sent ? received - sent : 0;
    fewer += sent > received ? sent - received : 0;
  }
  // What is more without being fewer elsewhere was duplicated.
  return std::min(more, fewer);
}

std::vector<Diagnosis> find_dscp_rewritten(const Case& c) {
  constexpr std::uint64_t kLeast = 5;
  // Whoever gets packets in a wrong class may pass them on in one that its neighbour finds wrong again.
  std::set<std::string> wrong;
  for (const PortCase& p : c.ports())
    if (p.other != nullptr && moved(p) >= kLeast) wrong.insert(p.other->node);
  std::vector<Diagnosis> out;
  for (const PortCase& p : c.ports()) {
    if (p.other == nullptr || moved(p) < kLeast || (wrong.contains(p.node) && wrong.size() > 1)) continue;
    Diagnosis d{p.peer, 0.9, {}};
    for (std::size_t k = 0; k < p.classes.size(); ++k)
      if (p.classes[k].tx != p.other->classes[k].rx)
        d.evidence.push_back(fmt::format("class {}: {} sent {} packets, {} received {}", k, p.name(), p.classes[k].tx,
                                         p.peer, p.other->classes[k].rx));
    out.push_back(std::move(d));
  }
  return out;
}

}  // namespace

const Rule rules::kDscpRewritten{
    "dscp-rewritten",
    "Packets change their class between two devices: a DSCP is rewritten, or mapped to another class.",
    "Map and trust the same DSCP at both ends; no device on the way may rewrite it.",
    "Packets are missing on the link: then compare again without losses.", find_dscp_rewritten, {Input::kLinks}};

}  // namespace railyard::doctor
