// Where the page of a lab is.
#pragma once

#include <string>

#include "control/daemon/lab_dir.h"

namespace railyard::tools {

enum class Token { kLeftOut, kPrinted };

// Prints a link to the page, which works once, and where programs find their token. Returns the link. Throws api::ApiError
// (409) if the lab has no page.
std::string print_page(const daemon::LabDir& lab, Token token);

}  // namespace railyard::tools
