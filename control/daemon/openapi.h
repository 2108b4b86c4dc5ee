// The description of the API: openapi.json, OpenAPI 3.1.
#pragma once

#include <string_view>

namespace railyard::daemon {

std::string_view openapi();

}  // namespace railyard::daemon
