// Diagnoses for people and programs.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/doctor/rule.h"

namespace railyard::doctor {

// Up to `most` diagnoses in full, the rest as a number; and which rules could not look, for want of what.
std::string text(const Case& c, const std::string& name, const std::vector<Found>& found, std::size_t most);
nlohmann::ordered_json json(const Case& c, const std::string& name, const std::vector<Found>& found);
// One line each, "pfc-ignored at h1 (95 % sure)", up to `most`.
std::string short_text(const std::vector<Found>& found, std::size_t most, const std::string& indent);
// What each rule finds: a table.
std::string rules_text();

}  // namespace railyard::doctor
