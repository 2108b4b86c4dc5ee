#include "tools/railyard/input_file.h"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>

#include "control/spec/input_error.h"

namespace railyard::tools {

void check_readable(const std::filesystem::path& path) {
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(path, ignored);
  if (!folder && ::access(path.c_str(), R_OK) == 0) return;
  throw InputError(
      fmt::format("{}: cannot be read: {}", path.string(), std::strerror(folder ? EISDIR : errno)));
}

}  // namespace railyard::tools
