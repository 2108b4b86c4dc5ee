// Files that commands are given, where another process reads or writes them.
#pragma once

#include <filesystem>
#include <string>

namespace railyard::tools {

// Throws InputError unless `path` is a file that can be read. Says nothing of what is in it.
void check_readable(const std::filesystem::path& path);

// The absolute path, for a lab's daemon. Throws std::invalid_argument naming `what`: it is empty, or "-", which is
// standard output of this process alone.
std::string daemon_path(const std::string& path, const std::string& what);

}  // namespace railyard::tools
