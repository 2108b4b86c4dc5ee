// Addresses that nobody said.
//
// IPv4: NIC j (from 1) of those at the i-th switch that has hosts (from 0, in the order of nodes; NICs in the order of
// the switch's ports) is 10.(i>>8).(i&255).j. A switch's NICs from the 251st on continue in blocks behind those of all
// switches. IPv6: fd00:0:0:i::j. NICs linked back to back have a block too, behind the switches', in the order of
// links. Switch n (from 1) is 10.255.(n>>8).(n&255) and fd00:ffff::n. An address that somebody said is not given again:
// its place in the order stays empty, and the NIC that should have had it gets one from 10.254.255.1
// (then 10.254.254.1, ...) or fd00:0:0:ffff::1 on.
#pragma once

#include <cstddef>

#include "control/spec/spec.h"
#include "dataplane/wire/address.h"
#include "dataplane/wire/mac_address.h"

namespace railyard::spec {

// 02, the index of the node in Lab::nodes (24 bits), the port from 1 (16 bits). Hosts' NICs have it from
// assign_addresses(); for ports of switches it is there to be used.
wire::MacAddress automatic_mac(std::size_t node, int port) noexcept;
// Of a port of the lab: the automatic one of a switch; what a NIC says, 00:.. if that is not known yet.
wire::MacAddress port_mac(const Lab& lab, const PortName& port);

// Addresses by rail, for presets whose rails are subnets: NIC `nic` (from 1) of those of rail `rail` (1..254) at the
// `leaf`-th (from 0) leaf of that rail is 10.rail.leaf.nic and fd00:0:rail:leaf::nic.
wire::IpAddress ipv4_of_rail(int rail, int leaf, int nic) noexcept;
wire::IpAddress ipv6_of_rail(int rail, int leaf, int nic) noexcept;
// The `n`-th address of the /24 of leaf `leaf`, from 0: 10.<leaf in two octets>.n; and fd00:leaf:rail::nic, which has a
// prefix per leaf and within it one per rail.
wire::IpAddress ipv4_of_leaf(int leaf, int n) noexcept;
wire::IpAddress ipv6_of_leaf(int leaf, int rail, int nic) noexcept;

// Fills in what is missing: of all NICs and switches the addresses, of NICs that no host outside is attached to the MAC
// address too (a host outside brings its own; a capture file does not). A MAC that somebody said elsewhere is given as
// 06:.., 0a:.., instead.
void assign_addresses(Lab& lab);

}  // namespace railyard::spec
