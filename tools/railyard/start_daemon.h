// Starts railyardd, or another program that holds a lab, and waits until it tells that the lab is up.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace railyard::tools {

// railyardd lies where this program lies. Throws std::runtime_error.
std::string daemon_program();

// Starts `command` with --ready-fd FD added, in a session of its own. `detached`: it has no terminal, and / as its folder.
// `ready`: where it tells what becomes of it (daemon/ready.h). From then on this process passes SIGINT and SIGTERM on to it.
// Throws std::runtime_error.
pid_t start_daemon(std::vector<std::string> command, bool detached, int& ready);

// Waits until it has ended; its exit code.
int wait_for(pid_t pid);

}  // namespace railyard::tools
