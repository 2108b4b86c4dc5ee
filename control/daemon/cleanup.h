// Removes what a daemon that was killed has left.
#pragma once

#include <string>
#include <vector>

#include "control/daemon/lab_dir.h"

namespace railyard::daemon {

// What was made outside the process, and the socket. Only by who holds the lab's lock. Returns one message per thing
// that could not be removed.
std::vector<std::string> remove_leftovers(const LabDir& dir);

// The same, and then the lab's directory. Throws std::runtime_error if the lab is running.
std::vector<std::string> clean_up(const LabDir& dir);

}  // namespace railyard::daemon
