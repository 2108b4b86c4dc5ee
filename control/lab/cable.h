// What is between two ports of this machine, found out without a lab.
#pragma once

#include <cstdint>
#include <string>

#include "dataplane/port/cable_check.h"
#include "dataplane/port/port_abilities.h"

namespace railyard::lab {

struct CableOptions {
  std::uint32_t mtu = 9216;  // longest IP packet that is tried, octets, 68..9978
  bool hugepages = false;    // for PCI devices
};

struct CableReport {
  bool link = false;  // else nothing was tried
  PortAbilities abilities[2];
  CableWay ways[2];  // from the first, from the second
};

// Sends frames from each of two ports to the other. A port is named by an interface ("veth0", "veth0@NETNS" in a
// network namespace), by a PCI address, or as in `attach`: "tap:NAME", "netdev:NAME", "dpdk:ARGUMENTS",
// "vhost-user:PATH", "vhost-user-client:PATH", "memif:PATH" (server), "memif-client:PATH". Starts the EAL if nobody
// has. Throws std::invalid_argument for a name that is none, std::runtime_error for a port that cannot be opened.
CableReport test_cable(const std::string& a, const std::string& b, const CableOptions& options);

}  // namespace railyard::lab
