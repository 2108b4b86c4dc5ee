#include "control/hosts/inhabitants.h"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dataplane/base/file_descriptor.h"
#include "control/hosts/hosts_error.h"
#include "control/hosts/network_namespace.h"

namespace railyard::hosts {
namespace {

bool is_in(pid_t pid, const struct stat& ns) {
  struct stat st {};
  return ::stat(fmt::format("/proc/{}/ns/net", pid).c_str(), &st) == 0 && st.st_ino == ns.st_ino &&
         st.st_dev == ns.st_dev;
}

// A process, held so that its number cannot become another's.
struct Held {
  pid_t pid;
  FileDescriptor handle;
};

void signal(const Held& p, int number) {
  if (::syscall(SYS_pidfd_send_signal, p.handle.get(), number, nullptr, 0) != 0 && errno != ESRCH)
    throw HostsError(fmt::format("cannot end process {}: {}", p.pid, std::strerror(errno)));
}

// Whether it has ended within `patience_ms`.
bool ends(const Held& p, int patience_ms) {
  pollfd ended{.fd = p.handle.get(), .events = POLLIN, .revents = 0};
  return ::poll(&ended, 1, patience_ms) > 0;
}

}  // namespace

std::vector<pid_t> inhabitants(const std::string& name) {
  std::vector<pid_t> found;
  struct stat ns {};
  if (::stat(namespace_path(name).c_str(), &ns) != 0) return found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string text = entry.path().filename();
    pid_t pid = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), pid);
    if (wrong != std::errc{} || end != text.data() + text.size() || pid == ::getpid()) continue;
    if (is_in(pid, ns)) found.push_back(pid);
  }
  return found;
}

void end_inhabitants(const std::string& name) {
  constexpr int kTimeForItselfMs = 1000;
  constexpr int kMostTimeToDieMs = 5000;
  struct stat ns {};
  if (::stat(namespace_path(name).c_str(), &ns) != 0) return;
  // More may be started while we look.
  for (std::vector<pid_t> left = inhabitants(name); !left.empty(); left = inhabitants(name)) {
    std::vector<Held> held;
    for (const pid_t pid : left) {
      FileDescriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
      if (handle && is_in(pid, ns)) held.push_back({pid, std::move(handle)});
    }
    for (const Held& p : held) signal(p, SIGTERM);
    for (const Held& p : held) {
      if (ends(p, kTimeForItselfMs)) continue;
      signal(p, SIGKILL);
      if (!ends(p, kMostTimeToDieMs))
        throw HostsError(fmt::format("process {} in the network namespace {} did not end within {} ms after SIGKILL",
                                     p.pid, name, kMostTimeToDieMs));
    }
  }
}

}  // namespace railyard::hosts
