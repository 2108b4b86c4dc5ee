// Removes what a daemon that was killed has left.
#pragma once

#include <string>
#include <vector>

#include "control/daemon/lab_dir.h"

namespace railyard::daemon {

// What was made outside the process, and then the lab's directory. Throws std::runtime_error if the lab is running. What
// could not be removed, one line each.
std::vector<std::string> clean_up(const LabDir& dir);

}  // namespace railyard::daemon
