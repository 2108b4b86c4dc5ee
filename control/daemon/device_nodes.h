// Device files for libibverbs: it wants a character device /dev/infiniband/NAME for each device in sysfs (verbs_tree.h),
// and opens it. Ours are links to /dev/null: its driver refuses what libibverbs might ask of a kernel.
//
// They are the only thing that a lab makes outside of its folder, and they go with the last lab that uses them. Those
// that somebody else has made stay: ours are known by where they point to. A lock on a file beside them (flock(2)), which
// the kernel releases when a daemon ends, says that a lab uses them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "dataplane/base/file_descriptor.h"

namespace railyard::daemon {

inline constexpr unsigned kNodeMajor = 1, kNodeMinor = 3;  // of /dev/null
inline constexpr const char* kNodeFolder = "/dev/infiniband";

// Makes those that are missing. Returns the paths of those it made. Throws std::runtime_error: no permission; it says
// what to run as root.
std::vector<std::string> make_device_nodes(const std::vector<std::string>& names,
                                           const std::filesystem::path& folder = kNodeFolder);

// Removes what make_device_nodes() has made, and `folder` if it is empty then, unless a lab uses them. Without rights
// nothing happens.
void remove_unused_device_nodes(const std::filesystem::path& folder = kNodeFolder);

// A lab's use of them.
class DeviceNodes {
 public:
  // Makes those that are missing; throws as above.
  explicit DeviceNodes(const std::vector<std::string>& names, std::filesystem::path folder = kNodeFolder);
  // Removes them if no other lab uses them.
  ~DeviceNodes();
  DeviceNodes(const DeviceNodes&) = delete;
  DeviceNodes& operator=(const DeviceNodes&) = delete;

  const std::vector<std::string>& made() const noexcept { return made_; }

 private:
  std::filesystem::path folder_;
  FileDescriptor use_;
  std::vector<std::string> made_;
};

}  // namespace railyard::daemon
