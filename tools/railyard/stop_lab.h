// Stops live labs.
#pragma once

#include "control/daemon/lab_dir.h"

namespace railyard::tools {

// Stops the lab, all of its sites, and waits until it is gone. One that was killed: removes what it has left. Returns whether
// it was running. Throws std::runtime_error: it stays, or something of it does.
bool stop_lab(const daemon::LabDir& dir);

}  // namespace railyard::tools
