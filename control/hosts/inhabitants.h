// The processes in a network namespace.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace railyard::hosts {

// Those of which a namespace under /run/netns is the network namespace; this process is never among them. Empty if
// there is no such namespace.
std::vector<pid_t> inhabitants(const std::string& name);

// Ends them: SIGTERM, and after a second SIGKILL. A host that goes takes along what runs on it. Throws HostsError if
// one lives on.
void end_inhabitants(const std::string& name);

}  // namespace railyard::hosts
