// The live page of a lab: files that the build has put into the program.
#pragma once

#include <span>

#include "control/daemon/web_access.h"

namespace railyard::web {

// Where Node.js was missing when the program was built: one page that says how to get the real one.
std::span<const daemon::PageFile> page() noexcept;

}  // namespace railyard::web
