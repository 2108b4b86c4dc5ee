// Files that commands are given to read, where another process reads them.
#pragma once

#include <filesystem>

namespace railyard::tools {

// Throws InputError unless `path` is a file that can be read. Says nothing of what is in it.
void check_readable(const std::filesystem::path& path);

}  // namespace railyard::tools
