#include "tools/railyard/write_file.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "tools/railyard/result_file.h"

namespace railyard::tools {

void write_file(const std::filesystem::path& path, const std::string& text, const std::string& option) {
  ResultFile(path, option).write(text);
}

void make_directory(const std::filesystem::path& path, const std::string& option) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  const std::string before = option.empty() ? option : option + ": ";
  if (error) throw std::runtime_error(fmt::format("{}cannot create {}: {}", before, path.string(), error.message()));
  if (::access(path.c_str(), W_OK | X_OK) != 0)
    throw std::runtime_error(fmt::format("{}cannot write to {}: {}", before, path.string(), std::strerror(errno)));
}

}  // namespace railyard::tools
