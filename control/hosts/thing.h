// Things outside this process that exist because of a lab, and how each is removed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include <sys/types.h>

namespace railyard::hosts {

// A network namespace, by its name in `ip netns`.
struct Namespace {
  std::string name;

  bool operator==(const Namespace&) const = default;
};

// A network interface. It goes with its namespace; on its own it needs to be named only elsewhere.
struct Interface {
  std::string netns;  // empty: the one that we are in
  std::string name;

  bool operator==(const Interface&) const = default;
};

// A file or a UNIX socket: anything that unlink() removes.
struct File {
  std::string path;  // absolute

  bool operator==(const File&) const = default;
};

// A folder. It is removed if it is empty; what others have put there is theirs and stays, and then so does the folder.
struct Directory {
  std::string path;  // absolute

  bool operator==(const Directory&) const = default;
};

// A process. Its number may be somebody else's later: start and boot tell.
struct Process {
  pid_t pid = 0;
  std::uint64_t start = 0;  // field 22 of /proc/PID/stat: clock ticks since boot
  std::string boot;         // /proc/sys/kernel/random/boot_id

  bool operator==(const Process&) const = default;

  // The process that has this number now; nothing if there is none.
  static std::optional<Process> with(pid_t pid);
};

using Thing = std::variant<Namespace, Interface, File, Directory, Process>;

// "the network namespace ry-x-h1", "the process 123".
std::string to_string(const Thing& thing);

// With symbolic links in the path of a file or folder resolved, the last component's excepted. Throws HostsError if the
// path is not absolute or has no last component.
Thing canonical(const Thing& thing);

// Removes it; nothing happens if it is gone. Paths are taken as canonical() gave them: one that now leads over a
// symbolic link is refused. Processes are killed (SIGKILL) and their end is awaited. Programs that are run for it hold
// the descriptor `keep_open` (-1: none). Throws HostsError.
void remove(const Thing& thing, int keep_open);

}  // namespace railyard::hosts
