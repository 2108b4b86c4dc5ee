// A picture as SVG 1.1: one file that needs nothing else.
#pragma once

#include <string>

#include "control/picture/geometry.h"

namespace railyard::picture {

std::string svg(const Picture& picture);
// The same as part of an HTML page: without a size of its own, which the page gives it.
std::string inline_svg(const Picture& picture);

}  // namespace railyard::picture
