// How long something that shows its progress will still take.
#pragma once

#include <string>

namespace railyard::tools {

// ", 42 s left", ", 3 min left", ", 2 h 5 min left"; nothing for what cannot be known.
std::string time_left_text(double seconds);

}  // namespace railyard::tools
