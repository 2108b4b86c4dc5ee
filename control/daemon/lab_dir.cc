#include "control/daemon/lab_dir.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace railyard::daemon {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kLongestName = 32;

bool is_plain(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

[[noreturn]] void fail(const fs::path& path, const char* what) {
  throw std::runtime_error(fmt::format("{} {}: {}", what, path.string(), std::strerror(errno)));
}

// A directory for its owner alone. Where anyone may make one of that name (/tmp), somebody else's is no good.
void make_private(const fs::path& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) fail(path, "cannot make");
  struct stat st {};
  if (::lstat(path.c_str(), &st) != 0) fail(path, "cannot look at");
  if (!S_ISDIR(st.st_mode) || st.st_uid != ::geteuid())
    throw std::runtime_error(
        fmt::format("{} is not a directory of yours; set RAILYARD_STATE_DIR to your own directory", path.string()));
}

}  // namespace

LabDir::LabDir(const std::string& name) : name_(name), path_(root() / name) {
  const bool fine = !name.empty() && name.size() <= kLongestName && is_plain(name[0]) &&
                    std::ranges::all_of(name, [](char c) { return is_plain(c) || c == '-' || c == '_' || c == '.'; });
  if (!fine)
    throw std::invalid_argument(
        fmt::format("'{}' is not a valid name of a live lab: expected letters, digits, '-', '_' and '.', at most "
                    "{}; --name gives "
                    "it another",
                    name, kLongestName));
}

fs::path LabDir::root() {
  if (const char* said = std::getenv("RAILYARD_STATE_DIR"); said != nullptr && *said != '\0') return said;
  if (::geteuid() == 0) return "/run/railyard";
  if (const char* xdg = std::getenv("XDG_RUNTIME_DIR"); xdg != nullptr && *xdg != '\0')
    return fs::path(xdg) / "railyard";
  return fmt::format("/tmp/railyard-{}", ::geteuid());
}

std::vector<std::string> LabDir::names() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root(), error))
    if (entry.is_directory(error)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

bool LabDir::exists() const {
  std::error_code ignored;
  return fs::is_directory(path_, ignored);
}

bool LabDir::running() const {
  const int fd = ::open(lock_file().c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool held = ::flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(fd);
  return held;
}

pid_t LabDir::pid() const {
  pid_t pid = 0;
  std::ifstream(lock_file()) >> pid;
  return pid;
}

void LabDir::remove() const {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

LabLock::LabLock(const LabDir& dir) {
  make_private(LabDir::root());
  make_private(dir.path());
  // Whoever removes the directory may do so between our making it and our locking the file in it.
  fd_ = ::open(dir.lock_file().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd_ < 0) fail(dir.lock_file(), "cannot open");
  if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    ::close(fd_);
    if (error == EWOULDBLOCK)
      throw std::runtime_error(fmt::format(
          "lab '{0}' is already running; stop it by `railyard down {0}`, or use --name for another name", dir.name()));
    errno = error;
    fail(dir.lock_file(), "cannot lock");
  }
  // For LabDir::pid(); without room on the disk it is not known.
  const std::string pid = fmt::format("{}\n", ::getpid());
  if (::ftruncate(fd_, 0) != 0 || ::pwrite(fd_, pid.data(), pid.size(), 0) < 0) return;
}

LabLock::~LabLock() { ::close(fd_); }

}  // namespace railyard::daemon
