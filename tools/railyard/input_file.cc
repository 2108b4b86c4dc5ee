#include "tools/railyard/input_file.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>
#include <unistd.h>

#include "control/spec/input_error.h"

namespace railyard::tools {

void check_readable(const std::filesystem::path& path) {
  std::error_code ignored;
  if (path.empty()) throw InputError("'': cannot be read: No such file or directory");
  const bool folder = std::filesystem::is_directory(path, ignored);
  if (!folder && ::access(path.c_str(), R_OK) == 0) return;
  throw InputError(
      fmt::format("{}: cannot be read: {}", path.string(), std::strerror(folder ? EISDIR : errno)));
}

std::string daemon_path(const std::string& path, const std::string& what) {
  if (path.empty()) throw std::invalid_argument(fmt::format("{} is empty; expected a path", what));
  if (path == "-")
    throw std::invalid_argument(
        fmt::format("{} is -: the lab's daemon writes it; expected a path, such as that of a FIFO with a reader", what));
  return std::filesystem::absolute(path).string();
}

}  // namespace railyard::tools
