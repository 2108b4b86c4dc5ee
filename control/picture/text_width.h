// How wide text is drawn, before anybody draws it.
#pragma once

#include <string_view>

namespace railyard::picture {

// In the unit of `size` (of the font). An estimate for the usual sans-serif fonts that is rather too wide than too
// narrow: which font there is, only the viewer knows.
double text_width(std::string_view utf8, double size, bool bold = false);

}  // namespace railyard::picture
