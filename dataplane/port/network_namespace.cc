#include "dataplane/port/network_namespace.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/stat.h>

#include "dataplane/base/assert.h"

namespace railyard {
namespace {

constexpr const char* kOwn = "/proc/thread-self/ns/net";

[[noreturn]] void fail(const std::string& name, const std::string& what) {
  throw std::runtime_error(fmt::format("network namespace '{}': {}", name, what));
}

bool same_file(int a, int b) {
  struct stat first;
  struct stat second;
  return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

}  // namespace

NetworkNamespace::NetworkNamespace(const std::string& name) {
  if (name.empty()) return;
  const bool is_path = name.contains('/');
  const std::string path = is_path ? name : "/run/netns/" + name;
  const FileDescriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd && errno == ENOENT)
    fail(name, is_path ? "no such file" : fmt::format("no such namespace; create it with: ip netns add {}", name));
  if (!fd) fail(name, fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  enter(fd, name);
}

NetworkNamespace::NetworkNamespace(const FileDescriptor& fd) { enter(fd, fmt::format("of descriptor {}", fd.get())); }

void NetworkNamespace::enter(const FileDescriptor& fd, const std::string& name) {
  FileDescriptor home(open(kOwn, O_RDONLY | O_CLOEXEC));
  if (!home) fail(name, fmt::format("cannot open {}: {}", kOwn, std::strerror(errno)));
  if (same_file(home.get(), fd.get())) return;
  if (setns(fd.get(), CLONE_NEWNET) != 0) {
    if (errno == EPERM) fail(name, "cannot be entered without root or CAP_SYS_ADMIN");
    if (errno == EINVAL)
      fail(name, "is not a network namespace; expected a name of `ip netns list`, or a file such as /proc/PID/ns/net");
    fail(name, fmt::format("cannot be entered: {}", std::strerror(errno)));
  }
  home_ = std::move(home);
}

NetworkNamespace::~NetworkNamespace() {
  if (home_)
    RAILYARD_ASSERT(setns(home_.get(), CLONE_NEWNET) == 0, "a thread can go back to its own network namespace");
}

}  // namespace railyard
