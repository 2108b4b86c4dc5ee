// How large port numbers are.
#pragma once

#include <algorithm>
#include <string>

#include "control/picture/text_width.h"

namespace railyard::picture {

inline constexpr double kPortSize = 8.5;
inline constexpr double kPortHeight = 12;

inline double port_width(int port) { return std::max(12.0, text_width(std::to_string(port), kPortSize) + 5); }

}  // namespace railyard::picture
