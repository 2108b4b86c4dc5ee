// A host behind a port: a network namespace of the test's own, and a plain packet socket in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dataplane/base/file_descriptor.h"
#include "dataplane/port/offload_header.h"

namespace railyard::test {

// Whether namespaces can be made; if not, why (for GTEST_SKIP).
std::optional<std::string> why_no_namespaces();

// A namespace that is empty but for its loopback, and gone with this, together with all interfaces in it. Those of
// tests that have died are removed, too.
class HostNamespace {
 public:
  HostNamespace();
  ~HostNamespace();
  HostNamespace(const HostNamespace&) = delete;
  HostNamespace& operator=(const HostNamespace&) = delete;

  const std::string& name() const { return name_; }
  // Runs `ip -n NAME ARGUMENTS`, or another command inside; false if it fails, with what it said in the test's output.
  bool ip(const std::string& arguments) const;
  bool run(const std::string& command) const;
  // Its kernel sends nothing of its own accord on interfaces that are made from now on.
  void keep_quiet() const;

 private:
  std::string name_;
};

// Sends and receives whole frames at an interface in a namespace, as the host there would.
class HostSocket {
 public:
  HostSocket(const HostNamespace& host, const std::string& interface);

  // False if the kernel says that it was dropped.
  bool send(std::span<const std::byte> frame) const;
  // The same for a frame of which something is left to the NIC.
  void send(std::span<const std::byte> frame, const OffloadHeader& offload) const;
  // The next frame that comes in, its tag put back; nothing if none has come for seconds.
  std::optional<std::vector<std::byte>> receive() const;
  // Whether a frame has come in by now.
  bool has_frame() const;

 private:
  FileDescriptor socket_;
};

}  // namespace railyard::test
