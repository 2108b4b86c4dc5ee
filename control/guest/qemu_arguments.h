// A guest as QEMU's command line. QEMU 7.2 (Debian 12) is what it was tried with.
#pragma once

#include <string>
#include <vector>

#include "control/guest/vm_config.h"

namespace railyard::guest {

// All arguments, the program first. `accelerator` is kKvm or kTcg.
std::vector<std::string> qemu_arguments(const VmConfig& config, Accelerator accelerator);

}  // namespace railyard::guest
