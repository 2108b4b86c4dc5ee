#include "tools/railyard/result_file.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace railyard::tools {

std::string taker_of_standard_output(std::initializer_list<std::pair<const char*, std::string>> files,
                                     bool prints_json) {
  std::string taker = prints_json ? "--json" : "";
  bool taken = prints_json;
  for (const auto& [option, file] : files) {
    if (file != "-") continue;
    if (taken)
      throw std::invalid_argument(
          fmt::format("{} -: {} goes to standard output already; expected a file for one of them", option, taker));
    taker = option;
    taken = true;
  }
  return prints_json ? "" : taker;
}

ResultFile::ResultFile(const std::filesystem::path& path, std::string option)
    : path_(path), option_(std::move(option)) {
  if (path_ == "-") {
    path_ = "standard output";
    fd_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    if (fd_ < 0) fail(errno);
    return;
  }
  std::error_code ignored;
  if (std::filesystem::is_symlink(path_, ignored))
    if (auto target = std::filesystem::weakly_canonical(path_, ignored); !ignored) path_ = std::move(target);
  struct stat st {};
  const bool is_there = ::stat(path_.c_str(), &st) == 0;
  if (is_there && S_ISDIR(st.st_mode)) fail(EISDIR);
  if (is_there && !S_ISREG(st.st_mode)) {
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) fail(errno);
    return;
  }
  if (is_there && ::access(path_.c_str(), W_OK) != 0) fail(errno);
  std::string part = path_.string() + ".XXXXXX";
  fd_ = ::mkostemp(part.data(), O_CLOEXEC);
  if (fd_ < 0) fail(errno);
  part_ = std::move(part);
  // As a file that is opened for writing: mkostemp() has it private.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(fd_, is_there ? st.st_mode & 07777 : 0666 & ~mask);
}

ResultFile::~ResultFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!part_.empty()) ::unlink(part_.c_str());
}

void ResultFile::write(const std::string& text) {
  for (std::size_t written = 0; written < text.size();) {
    const ssize_t n = ::write(fd_, text.data() + written, text.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(errno);
    written += static_cast<std::size_t>(n);
  }
  if (::close(std::exchange(fd_, -1)) != 0) fail(errno);
  if (part_.empty()) return;
  if (::rename(part_.c_str(), path_.c_str()) != 0) fail(errno);
  part_.clear();
}

void ResultFile::fail(int error) const {
  throw std::runtime_error(fmt::format("{}{}cannot write {}: {}", option_, option_.empty() ? "" : ": ", path_.string(),
                                       std::strerror(error)));
}

}  // namespace railyard::tools
