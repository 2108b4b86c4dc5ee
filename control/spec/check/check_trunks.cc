#include <map>
#include <string>

#include <fmt/format.h>

#include "control/spec/check/check.h"

namespace railyard::spec {

void check_trunks(const Draft& draft) {
  std::map<wire::UdpEndpoint, std::string> users;
  for (std::size_t i = 0; i < draft.lab.nodes.size(); ++i) {
    const NodeSpec& node = draft.lab.nodes[i];
    if (node.kind != NodeSpec::Kind::kTrunk) continue;
    const Tree& said = *draft.nodes[i];
    if (draft.lab.run.clock == Clock::kVirtual)
      said.fail(
          fmt::format("trunk {} leads to another daemon, which needs the wall clock: set run.clock: wall", node.name));
    if (!node.trunk.udp) continue;
    const auto [first, is_new] = users.try_emplace(node.trunk.udp->local, node.name);
    if (!is_new)
      said.at_or_self("udp").at_or_self("local").fail(
          fmt::format("'{}' is already used by {}", to_string(node.trunk.udp->local), first->second));
  }
}

}  // namespace railyard::spec
