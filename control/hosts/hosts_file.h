// /etc/hosts of a lab: its hosts and switches by name.
#pragma once

#include <string>

#include "control/hosts/lab_hosts.h"

namespace railyard::hosts {

// A line per address: "10.0.0.1 h1 h1.eth1". A host's name stands for its first NIC; a NIC is HOST.INTERFACE.
std::string hosts_file(const LabHosts& lab);

// The same without localhost, to stand beside what is in a file already.
std::string hosts_lines(const LabHosts& lab);

}  // namespace railyard::hosts
