#include "control/hosts/thing.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <net/if.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "control/hosts/command.h"
#include "dataplane/base/file_descriptor.h"
#include "control/hosts/hosts_error.h"
#include "control/hosts/inhabitants.h"
#include "control/hosts/network_namespace.h"

namespace railyard::hosts {
namespace {

namespace fs = std::filesystem;

constexpr int kMostTimeToDieMs = 5000;

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};

std::string canonical_path(const std::string& path) {
  const fs::path p(path);
  const fs::path name = p.filename();
  if (!p.is_absolute() || name.empty() || name == "." || name == "..")
    throw HostsError(fmt::format("'{}' is not an absolute path of a file", path));
  std::error_code error;
  const fs::path folder = fs::weakly_canonical(p.parent_path(), error);
  if (error) throw HostsError(fmt::format("cannot resolve {}: {}", path, error.message()));
  return folder / name;
}

// Walks to the folder of `path` without following any link. An invalid descriptor and errno if that cannot be.
FileDescriptor folder_of(const fs::path& path) {
  FileDescriptor folder(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (const fs::path& part : path.parent_path().relative_path()) {
    if (!folder) break;
    FileDescriptor next(::openat(folder.get(), part.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    const int error = errno;
    folder = std::move(next);
    errno = error;
  }
  return folder;
}

void remove_path(const std::string& path, int flags) {
  const fs::path p(path);
  if (!p.is_absolute() || p != p.lexically_normal())
    throw HostsError(fmt::format("cannot remove '{}': not a canonical path", path));
  const FileDescriptor folder = folder_of(p);
  if (!folder) {
    if (errno == ENOENT) return;
    throw HostsError(
        fmt::format("cannot remove {}: {}", path,
                    errno == ENOTDIR ? "a directory of its path has been replaced" : std::strerror(errno)));
  }
  if (::unlinkat(folder.get(), p.filename().c_str(), flags) == 0 || errno == ENOENT) return;
  if (flags == AT_REMOVEDIR && (errno == ENOTEMPTY || errno == EEXIST)) return;
  throw HostsError(fmt::format("cannot remove {}: {}", path, std::strerror(errno)));
}

void remove_interface(const Interface& interface, int keep_open) {
  bool there = false;
  const auto look = [&] { there = ::if_nametoindex(interface.name.c_str()) != 0; };
  if (interface.netns.empty())
    look();
  else if (namespace_exists(interface.netns))
    in_namespace(interface.netns, look);
  if (!there) return;
  std::vector<std::string> command{"ip"};
  if (!interface.netns.empty()) command.insert(command.end(), {"-n", interface.netns});
  command.insert(command.end(), {"link", "delete", "dev", interface.name});
  const CommandResult result = run_command(command, {.keep_open = keep_open});
  if (result.status != 0) throw HostsError(fmt::format("cannot remove {}: {}", to_string(interface), result.output));
}

void kill_process(const Process& process) {
  if (process.pid == ::getpid()) throw HostsError(fmt::format("{} is this one", to_string(process)));
  // The descriptor first: what it stands for cannot become another process after the comparison.
  const FileDescriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  if (!handle) {
    if (errno == ESRCH) return;
    throw HostsError(fmt::format("cannot end {}: {}", to_string(process), std::strerror(errno)));
  }
  if (Process::with(process.pid) != process) return;
  if (::syscall(SYS_pidfd_send_signal, handle.get(), SIGKILL, nullptr, 0) != 0 && errno != ESRCH)
    throw HostsError(fmt::format("cannot end {}: {}", to_string(process), std::strerror(errno)));
  pollfd ended{.fd = handle.get(), .events = POLLIN, .revents = 0};
  if (::poll(&ended, 1, kMostTimeToDieMs) == 0)
    throw HostsError(fmt::format("{} did not end within {} ms after SIGKILL", to_string(process), kMostTimeToDieMs));
}

}  // namespace

std::optional<Process> Process::with(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  // Field 2 is the name in parentheses, which may hold anything; field 3 follows the last one.
  const std::size_t name_end = line.rfind(')');
  if (name_end == line.npos) return std::nullopt;
  std::istringstream rest(line.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 22; ++field) rest >> skipped;
  Process process{.pid = pid, .start = 0, .boot = {}};
  if (!(rest >> process.start)) return std::nullopt;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> process.boot;
  return process;
}

std::string to_string(const Thing& thing) {
  return std::visit(Overloaded{
                        [](const Namespace& n) { return "the network namespace " + n.name; },
                        [](const Interface& i) {
                          return "the interface " + i.name +
                                 (i.netns.empty() ? "" : " in the network namespace " + i.netns);
                        },
                        [](const File& f) { return "the file " + f.path; },
                        [](const Directory& d) { return "the folder " + d.path; },
                        [](const Process& p) { return fmt::format("the process {}", p.pid); },
                    },
                    thing);
}

Thing canonical(const Thing& thing) {
  if (const auto* file = std::get_if<File>(&thing)) return File{canonical_path(file->path)};
  if (const auto* folder = std::get_if<Directory>(&thing)) return Directory{canonical_path(folder->path)};
  return thing;
}

void remove(const Thing& thing, int keep_open) {
  std::visit(Overloaded{
                 [](const Namespace& n) {
                   end_inhabitants(n.name);
                   remove_namespace(n.name);
                 },
                 [&](const Interface& i) { remove_interface(i, keep_open); },
                 [](const File& f) { remove_path(f.path, 0); },
                 [](const Directory& d) { remove_path(d.path, AT_REMOVEDIR); },
                 [](const Process& p) { kill_process(p); },
             },
             thing);
}

}  // namespace railyard::hosts
