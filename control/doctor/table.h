// Diagnoses for people and programs.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/doctor/rule.h"

namespace railyard::doctor {

// Up to `most` diagnoses in full, the rest as a number.
std::string text(const std::string& name, const std::vector<Found>& found, std::size_t most);
nlohmann::ordered_json json(const std::string& name, const std::vector<Found>& found);
// What each rule finds: a table.
std::string rules_text();

}  // namespace railyard::doctor
