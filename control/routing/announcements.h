// What each switch tells the others that it leads to.
#pragma once

#include <cstddef>
#include <vector>

#include "control/routing/graph.h"
#include "dataplane/switch/forwarding_table.h"
#include "dataplane/wire/address.h"

namespace railyard::routing {

// Prefixes that the same switches lead to: one destination for routing.
struct Origin {
  struct Owner {
    std::size_t node;
    std::vector<PortIndex> ports;  // to trunks that lead there; none: hosts of the switch, or the switch itself
  };
  std::vector<wire::IpPrefix> prefixes;  // at least one
  std::vector<Owner> owners;             // at least one, by node; several: the nearest of them
};

struct Announcements {
  // By node, empty for all but switches: routes to its own hosts (a port each), and to itself (no port). They stay
  // while links come and go: a host whose link is down is still its switch's to find.
  std::vector<std::vector<Route>> local;
  std::vector<Origin> origins;  // those of switches by node, then networks behind trunks by prefix
};

// Addresses of the hosts behind one switch are aggregated to one prefix, where that prefix covers nobody else's
// address; else those of each native VLAN are. Networks behind trunks are where the trunk is.
Announcements announcements(const Graph& graph);

}  // namespace railyard::routing
