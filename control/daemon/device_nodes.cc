#include "control/daemon/device_nodes.h"

#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace railyard::daemon {
namespace {

namespace fs = std::filesystem;

// Where ours point to, seen from their folder. (People make them with /dev/null.)
constexpr const char* kOurs = "../null";

// Beside them, with a lock of each lab that uses them.
constexpr const char* kUse = ".railyard";

bool is_node(const fs::path& node) {
  struct stat s {};
  return ::stat(node.c_str(), &s) == 0 && S_ISCHR(s.st_mode) && s.st_rdev == makedev(kNodeMajor, kNodeMinor);
}

bool is_same_file(int fd, const fs::path& path) {
  struct stat open {}, there {};
  return ::fstat(fd, &open) == 0 && ::stat(path.c_str(), &there) == 0 && open.st_ino == there.st_ino &&
         open.st_dev == there.st_dev;
}

// None: there are no rights to make the file, and nobody has made it.
FileDescriptor use_of(const fs::path& folder) {
  const fs::path path = folder / kUse;
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  for (;;) {
    FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0644));
    if (!file) file = FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file || ::flock(file.get(), LOCK_SH) != 0) return {};
    if (is_same_file(file.get(), path)) return file;  // the last lab may have removed it in between
    fs::create_directories(folder, ignored);
  }
}

}  // namespace

std::vector<std::string> make_device_nodes(const std::vector<std::string>& names, const fs::path& folder) {
  std::vector<std::string> made;
  for (const std::string& name : names) {
    const fs::path path = folder / name;
    if (is_node(path)) continue;
    std::error_code error;
    fs::create_directories(folder, error);
    if (!error) fs::create_symlink(kOurs, path, error);
    if (error)
      throw std::runtime_error(fmt::format(
          "cannot make {} ({}), without which libibverbs sees no device; run once as root: mkdir -p {} && ln -sf "
          "/dev/null {}",
          path.string(), error.message(), folder.string(), path.string()));
    made.push_back(path);
  }
  return made;
}

void remove_unused_device_nodes(const fs::path& folder) {
  const fs::path path = folder / kUse;
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0 || !is_same_file(file.get(), path)) return;
  std::error_code error;
  std::vector<fs::path> ours;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (std::error_code no_link; fs::read_symlink(entry.path(), no_link) == kOurs) ours.push_back(entry.path());
  for (const fs::path& node : ours) fs::remove(node, error);
  fs::remove(path, error);
  fs::remove(folder, error);  // fails if there is more in it
}

DeviceNodes::DeviceNodes(const std::vector<std::string>& names, fs::path folder)
    : folder_(std::move(folder)), use_(use_of(folder_)), made_(make_device_nodes(names, folder_)) {}

DeviceNodes::~DeviceNodes() {
  use_.close();
  remove_unused_device_nodes(folder_);
}

}  // namespace railyard::daemon
