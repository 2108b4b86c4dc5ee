// The query of a target: "/history?of=leaf1%3A3".
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace railyard::api {

struct Target {
  std::string path;      // "/history"
  nlohmann::json query;  // {"of": "leaf1:3"}: texts by key, decoded (application/x-www-form-urlencoded); null without one
};

// Throws ApiError (400) for an escape that is none, octets that are not UTF-8 and NUL.
Target parse_target(const std::string& target);

}  // namespace railyard::api
