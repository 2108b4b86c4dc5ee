// Network namespaces, network_namespaces(7): entered by one thread for a while.
#pragma once

#include <string>

#include "dataplane/base/file_descriptor.h"

namespace railyard {

// The calling thread is in the namespace while this lives, and back in its own afterwards. What it opens there
// (sockets, TAP devices) stays there. Lives on the stack of one thread.
class NetworkNamespace {
 public:
  // `name`: of `ip netns` (a file in /run/netns), or a path (with a slash in it, as /proc/PID/ns/net); empty: the one
  // that the thread is in. Throws std::runtime_error with the namespace and what would help.
  explicit NetworkNamespace(const std::string& name);
  // The one that `fd` refers to; nothing has to be permitted to enter the one that the thread is in.
  explicit NetworkNamespace(const FileDescriptor& fd);
  ~NetworkNamespace();
  NetworkNamespace(const NetworkNamespace&) = delete;
  NetworkNamespace& operator=(const NetworkNamespace&) = delete;

 private:
  void enter(const FileDescriptor& fd, const std::string& name);

  FileDescriptor home_;  // where the thread was; invalid if it is there still
};

}  // namespace railyard
