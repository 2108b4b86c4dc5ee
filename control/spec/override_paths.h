// Where settings of the command line put their values.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace railyard::spec {

// For each of `overrides` ("path=value", yaml/override.h), applied to a fabric file in this order, the path of its
// value as the document has it: two that say the same thing by other words ("traffic.0.rate", "traffic.all.rate") have
// equal paths. Throws SpecError, as load() does before it reads the lab.
std::vector<std::string> override_paths(const std::filesystem::path& file, const std::vector<std::string>& overrides);

}  // namespace railyard::spec
