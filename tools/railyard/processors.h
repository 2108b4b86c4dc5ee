// Which processors commands of `railyard exec` run on.
#pragma once

#include <span>

namespace railyard::tools {

// This process, and what it becomes, runs on its processors without `others`; on all of them if none is left.
void keep_off(std::span<const int> others) noexcept;

}  // namespace railyard::tools
