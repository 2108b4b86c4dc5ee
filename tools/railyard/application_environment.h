// What a program needs in its environment to find the NICs of a host with `attach: application`.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace railyard::tools {

// Names and values. `tree`: of the host, from the daemon. Throws std::runtime_error: the provider is not there, or a
// device node is missing and cannot be made, with what to do.
std::vector<std::pair<std::string, std::string>> application_environment(const std::filesystem::path& tree);

}  // namespace railyard::tools
