// What `railyard run --profile` says of more workers.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "dataplane/run/scaling_profile.h"

namespace railyard::lab {

// A table, for people.
std::string scaling_text(const ScalingProfile& profile);
nlohmann::ordered_json scaling_json(const ScalingProfile& profile);

}  // namespace railyard::lab
