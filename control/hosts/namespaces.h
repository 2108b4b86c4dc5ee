// The hosts of a lab as network namespaces.
//
// Host HOST of lab LAB is the namespace ry-LAB-HOST with interfaces eth1, eth2, ...: one per NIC, with its MAC and IP
// addresses, MTU, routes (routes.h), neighbours, offloads (offloads.h), shaped to the rate of its link. Each is one end of a
// veth pair whose other end is in ry-LAB, the lab's own namespace, for the fabric to open. `ip netns exec ry-LAB-HOST`
// has the lab's names in /etc/hosts.
#pragma once

#include <string>
#include <vector>

#include "control/hosts/journal.h"
#include "control/hosts/lab_hosts.h"

namespace railyard::hosts {

// "ry-LAB": where the fabric's ends are.
std::string fabric_namespace(const std::string& lab);
// "ry-LAB-HOST".
std::string host_namespace(const std::string& lab, const std::string& host);

// The fabric's end of a NIC's link.
struct FabricEnd {
  std::string host;
  int port = 0;  // of the NIC, from 1
  std::string netns;
  std::string interface;  // HOST-PORT if it fits in 15 octets, else v<n>, n counted over all NICs of the lab from 1

  bool operator==(const FabricEnd&) const = default;
};

// Of all NICs, by host and port, in order.
std::vector<FabricEnd> fabric_ends(const LabHosts& lab);

// Makes all of it; the fabric's ends are up. Every thing is recorded in `journal` first. Throws HostsError, one message
// with what to do, and nothing of it is left then: no privileges (root, or CAP_NET_ADMIN and CAP_SYS_ADMIN), no
// programs ip and tc, a kernel that lacks something, names that are taken or cannot be names.
void create_namespaces(const LabHosts& lab, Journal& journal);

// Makes the namespace of lab.hosts[host] alone, and the lab's own if `journal` does not have it: for a lab that is up.
// As create_namespaces().
void create_namespace(const LabHosts& lab, std::size_t host, Journal& journal);
// Removes it again; the lab's own stays. Returns one message per thing that could not be removed.
std::vector<std::string> remove_namespace(const LabHosts& lab, const std::string& host, Journal& journal);

// Shapes the NICs of hosts in both that have another rate in `to` than in `from` to that. Throws
// HostsError, and some may have their new rate then: it can be called again.
void change_rates(const LabHosts& from, const LabHosts& to, const Journal& journal);

// Removes what create_namespaces() made, and ends the processes in it. The links go when the last socket in
// fabric_namespace() is closed. Returns one message per thing that could not be removed.
std::vector<std::string> remove_namespaces(const LabHosts& lab, Journal& journal);

}  // namespace railyard::hosts
