// What is in the directory of a guest. The sockets' paths are limited to 107 characters.
#pragma once

#include <filesystem>

#include <fmt/format.h>

namespace railyard::guest {

inline constexpr int kAgentPorts = 8;  // sessions at a time

struct GuestFiles {
  std::filesystem::path directory;

  // A session's socket, port 0..kAgentPorts - 1, and the file that whoever uses it has locked (flock).
  std::filesystem::path agent_socket(int port) const { return directory / fmt::format("agent.{}.sock", port); }
  std::filesystem::path agent_lock(int port) const { return directory / fmt::format("agent.{}.lock", port); }
  std::filesystem::path control_socket() const { return directory / "control.sock"; }
  std::filesystem::path control_lock() const { return directory / "control.lock"; }
  // QEMU's own: one client at a time (monitor.h).
  std::filesystem::path monitor_socket() const { return directory / "monitor.sock"; }
  std::filesystem::path console() const { return directory / "console.log"; }  // what the guest's kernel and init say
  std::filesystem::path qemu_log() const { return directory / "qemu.log"; }    // what QEMU says
  std::filesystem::path pid_file() const { return directory / "qemu.pid"; }
  std::filesystem::path hosts() const { return directory / "hosts"; }  // for the guest's /etc/hosts
  // For its NICs, as batches of ip(8).
  std::filesystem::path network_v4() const { return directory / "network-v4"; }
  std::filesystem::path network_v6() const { return directory / "network-v6"; }
};

}  // namespace railyard::guest
