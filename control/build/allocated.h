// How much memory the process has allocated.
#pragma once

#include <cstdint>

namespace railyard::build {

// Octets that malloc has given out and that were not freed yet; 0 where it does not tell (sanitizers).
std::int64_t allocated_octets() noexcept;

}  // namespace railyard::build
