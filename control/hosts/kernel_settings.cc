#include "control/hosts/kernel_settings.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/hosts/hosts_error.h"
#include "dataplane/base/file_descriptor.h"

namespace railyard::hosts {

void set_kernel(std::initializer_list<KernelSetting> settings) {
  for (const KernelSetting& s : settings) {
    const std::string path = fmt::format("/proc/sys/{}", s.name);
    const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file || ::write(file.get(), s.value.data(), s.value.size()) < 0)
      throw HostsError(
          fmt::format("cannot write '{}' to {}: {}{}", s.value, path, std::strerror(errno),
                      errno == EROFS ? "; in a container, run it privileged (docker run --privileged)" : ""));
  }
}

bool kernel_has_ipv6() {
  struct stat status {};
  return ::lstat("/proc/sys/net/ipv6", &status) == 0;
}

}  // namespace railyard::hosts
