// A picture as SVG 1.1: one file that needs nothing else.
#pragma once

#include <string>

#include "control/picture/geometry.h"

namespace railyard::picture {

std::string svg(const Picture& picture);

}  // namespace railyard::picture
