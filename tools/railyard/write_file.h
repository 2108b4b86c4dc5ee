// A result as a file.
#pragma once

#include <filesystem>
#include <string>

namespace railyard::tools {

// Throws std::runtime_error: "cannot write FILE: why".
void write_file(const std::filesystem::path& path, const std::string& text);

}  // namespace railyard::tools
