#pragma once

#include <string>

namespace railyard::lab {

// "0.1.0", with the commit where it is known.
std::string version();

}  // namespace railyard::lab
