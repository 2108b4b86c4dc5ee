// What stands behind a NIC in the place of the built-in traffic generator: hosts.<name>.attach.
#pragma once

#include <string>
#include <variant>

namespace railyard::spec {

struct AttachPcap {
  std::string in;                    // frames of this file are sent; empty: none
  std::string out;                   // frames that arrive are written there; empty: nowhere
  bool as_fast_as_possible = false;  // else at the file's times

  bool operator==(const AttachPcap&) const = default;
};
struct AttachVhostUser {
  std::string socket;      // path
  bool is_client = false;  // of the socket, which somebody else makes (QEMU: server=on); else we make it

  bool operator==(const AttachVhostUser&) const = default;
};
// Shared memory with another process: VPP, DPDK, anything with libmemif.
struct AttachMemif {
  std::string socket;      // path
  bool is_client = false;  // of the socket, which somebody else makes; else we make it
  int id = 0;              // interface of that socket
  bool operator==(const AttachMemif&) const = default;
};
struct AttachDpdk {
  std::string device;  // e.g. "net_tap0,iface=tap0", "0000:03:00.0"
  bool operator==(const AttachDpdk&) const = default;
};
// A network namespace of this machine, with an interface for each NIC; `railyard up` makes it.
struct AttachNamespace {
  bool operator==(const AttachNamespace&) const = default;
};
// A small virtual machine with a SoftRoCE NIC for each NIC; `railyard up` boots it.
struct AttachVm {
  bool operator==(const AttachVm&) const = default;
};
// RDMA programs of this machine (transports/verbs), to which `railyard up` opens the NICs.
struct AttachApplication {
  bool operator==(const AttachApplication&) const = default;
};
struct AttachTap {
  std::string name;  // of the TAP interface, which is made
  bool operator==(const AttachTap&) const = default;
};
struct AttachNetdev {
  std::string name;  // of an interface that exists
  bool operator==(const AttachNetdev&) const = default;
};
using Attachment = std::variant<std::monostate, AttachPcap, AttachVhostUser, AttachDpdk, AttachNamespace, AttachVm,
                                AttachTap, AttachNetdev, AttachMemif, AttachApplication>;

// Whether `railyard up` makes the host, with all its NICs: a namespace, a virtual machine, a host of applications.
inline bool is_made_host(const Attachment& a) noexcept {
  return std::holds_alternative<AttachNamespace>(a) || std::holds_alternative<AttachVm>(a) ||
         std::holds_alternative<AttachApplication>(a);
}

// Whether the host is built in or made by us, and so has the address that we give it.
inline bool is_ours(const Attachment& a) noexcept {
  return std::holds_alternative<std::monostate>(a) || std::holds_alternative<AttachPcap>(a) || is_made_host(a);
}

}  // namespace railyard::spec
