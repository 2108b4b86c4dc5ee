// A result as a file.
#pragma once

#include <filesystem>
#include <string>

namespace railyard::tools {

// All of it or nothing (ResultFile). Throws std::runtime_error: "cannot write FILE: why"; with "OPTION: " before it, if
// one is named.
void write_file(const std::filesystem::path& path, const std::string& text, const std::string& option = {});

// Makes it, with those above it, or sees that it can be written to. Throws std::runtime_error naming `option` and why.
void make_directory(const std::filesystem::path& path, const std::string& option);

}  // namespace railyard::tools
