// What a program needs in its environment to find the NICs of a host with `attach: application`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace railyard::tools {

// How libibverbs comes to a device node (/dev/infiniband/NAME).
enum class DeviceNodes {
  kMade,     // it is there, or is made; if it cannot be, as below
  kPreload,  // a preloaded library stands in for it (transports/verbs/interposer.cc): needs no root, and hides the
             // kernel's RDMA devices from the program
};

// Names and values. `tree`: of the host, from the daemon. Throws std::runtime_error, with what to do: a library is missing,
// or the kernel has RDMA devices and they are not hidden.
std::vector<std::pair<std::string, std::string>> application_environment(const std::filesystem::path& tree,
                                                                         DeviceNodes nodes);

// For people: why `command`, as execvp(3) would find it, will not see the devices; nullopt: nothing is known against it. A
// program with rights of its own (setuid, setgid, capabilities) ignores the environment.
std::optional<std::string> why_not_for(const std::string& command);

}  // namespace railyard::tools
