// QEMU's monitor of a guest: from outside, a NIC loses its link and gets it back, as when a cable is pulled.
//
// The protocol is QMP ("QEMU Machine Protocol Specification", docs/interop/qmp-spec of QEMU 7.2): JSON objects, one a
// line, over a UNIX socket.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "dataplane/base/file_descriptor.h"

namespace railyard::guest {

// One client at a time. Blocking, for `limit` at most.
class Monitor {
 public:
  static constexpr std::chrono::milliseconds kLimit{2000};

  // Connects to the monitor of the guest in `directory` and greets it. Nothing: nobody listens there, or it does not
  // answer in time.
  static std::optional<Monitor> open(const std::filesystem::path& directory, std::chrono::milliseconds limit = kLimit);

  // The link of NIC `nic`, from 0, goes down or comes up in the guest. False: QEMU is gone, does not answer, or has no
  // such NIC; `error()` says which, and the connection is of no use any more unless it was the last.
  bool set_link(std::size_t nic, bool up, std::chrono::milliseconds limit = kLimit);
  // Whether QEMU still holds the other end.
  bool is_open();
  // Why the last command was refused; empty: QEMU did not answer.
  const std::string& error() const noexcept { return error_; }

 private:
  explicit Monitor(FileDescriptor socket) : socket_(std::move(socket)) {}
  bool command(const std::string& text, std::chrono::milliseconds limit);
  std::optional<std::string> line(std::chrono::steady_clock::time_point deadline);

  FileDescriptor socket_;
  std::string read_;  // and not yet looked at
  std::string error_;
};

}  // namespace railyard::guest
