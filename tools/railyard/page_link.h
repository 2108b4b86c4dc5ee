// Where the page of a lab is.
#pragma once

#include <string>

#include "control/daemon/lab_dir.h"

namespace railyard::tools {

struct PageLink {
  std::string link;        // works once
  std::string token_file;  // of those who ask without a browser
};

// A new one. Throws api::ApiError (409) if the lab has no page.
PageLink page_link(const daemon::LabDir& lab);

// What `railyard up` says of it; the token, too.
void print_page(const daemon::LabDir& lab);

}  // namespace railyard::tools
