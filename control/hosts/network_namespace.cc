#include "control/hosts/network_namespace.h"

#include <cerrno>
#include <cstring>
#include <exception>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dataplane/base/file_descriptor.h"
#include "control/hosts/hosts_error.h"

namespace railyard::hosts {

std::string namespace_path(const std::string& name) { return "/var/run/netns/" + name; }

bool namespace_exists(const std::string& name) {
  struct stat status {};
  return ::lstat(namespace_path(name).c_str(), &status) == 0;
}

void in_namespace(const std::string& name, const std::function<void()>& action) {
  const FileDescriptor file(::open(namespace_path(name).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file)
    throw HostsError(
        fmt::format("cannot open the network namespace {} ({}): {}", name, namespace_path(name), std::strerror(errno)));
  std::exception_ptr thrown;
  std::thread([&] {
    try {
      if (::setns(file.get(), CLONE_NEWNET) != 0)
        throw HostsError(fmt::format("cannot enter the network namespace {}: {}", name, std::strerror(errno)));
      action();
    } catch (...) {
      thrown = std::current_exception();
    }
  }).join();
  if (thrown) std::rethrow_exception(thrown);
}

void remove_namespace(const std::string& name) {
  if (name.empty() || name == "." || name == ".." || name.find('/') != name.npos)
    throw HostsError(fmt::format("'{}' is not the name of a network namespace", name));
  const std::string path = namespace_path(name);
  // EINVAL: nothing is mounted there; whoever was making it got no further than the file.
  if (::umount2(path.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) != 0 && errno != EINVAL && errno != ENOENT)
    throw HostsError(fmt::format("cannot remove the network namespace {}: umount: {}", name, std::strerror(errno)));
  if (::unlink(path.c_str()) != 0 && errno != ENOENT)
    throw HostsError(fmt::format("cannot remove the network namespace {}: {}", name, std::strerror(errno)));
}

}  // namespace railyard::hosts
