// What reduces in switches: each switch whose profile has `reduction` gets a host of its own, a reducer, whose NIC is at the
// switch. Messages of collectives with the algorithm in-network go to it and from it.
#pragma once

#include <set>
#include <vector>

#include "control/collectives/reduction.h"
#include "control/spec/draft.h"
#include "control/spec/spec.h"

namespace railyard::spec {

// Adds "<switch>-reducer", with a link without delay, where the file (such as one that `railyard show` made) has none yet. Its
// profile is `reducer`: what the file says of that, or the default profile without GPUs, scale-up network and PCI Express. It is
// in the VLAN of all hosts; if these are in several, in VLAN 1.
void add_reducers(Draft& draft);

// VLANs of the ports of switches that lead to hosts, without reducers.
std::set<int> vlans_of_hosts(const Lab& lab);

// The NICs of all reducers of switches, in the order of the lab.
std::vector<PortName> reducers(const Lab& lab);

// The switches as collectives see them; `ranks`: their NICs. Behind the reducers of switches are those of scale-up networks with
// `reduces` and several of the ranks.
collectives::ReductionNetwork reduction_network(const Lab& lab, const std::vector<PortName>& ranks);
// Of each scale-up network that has a reducer, in the same order, the NIC of its first rank: the host whose part of the network
// has it.
std::vector<PortName> network_reducers(const Lab& lab, const std::vector<PortName>& ranks);

// The lab without reducers and their links: what people mean by its hosts and ports.
Lab without_reducers(const Lab& lab);

}  // namespace railyard::spec
