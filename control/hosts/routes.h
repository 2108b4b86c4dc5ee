// By which NIC a host reaches every address of its lab.
//
// Hosts have addresses of full length (/32, /128) and send everything to the switch at the other end of the link, as
// their gateway. The address of NIC k of another host is reached by the own NIC k, its rail; if there is none, by the
// first. A neighbour is reached by the link to it. What is none of these leaves by the first NIC that has a switch.
#pragma once

#include <cstddef>
#include <vector>

#include "control/hosts/lab_hosts.h"
#include "dataplane/wire/address.h"

namespace railyard::hosts {

// Packets for `to` leave by NIC `nic` (from 0): to its gateway, or if `direct` to `to` itself, one address.
struct HostRoute {
  wire::IpPrefix to;
  std::size_t nic = 0;
  bool direct = false;

  auto operator<=>(const HostRoute&) const = default;
};

// The routes of lab.hosts[host] beside its default routes: as few and as short prefixes as separate the rails, ordered
// by prefix. None if all leave by one NIC, which then is the first with a switch.
std::vector<HostRoute> host_routes(const LabHosts& lab, std::size_t host);

}  // namespace railyard::hosts
