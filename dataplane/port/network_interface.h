// Network interfaces of the kernel: their names, and what the kernel tells of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace railyard {

// The longest name of an interface: IFNAMSIZ of netdevice(7), without the 0 at its end.
inline constexpr std::size_t kMostInterfaceName = 15;

// What is wrong with the name of an interface, as the end of a message; empty if nothing is.
std::string bad_interface_name(const std::string& name);

struct InterfaceState {
  int index = 0;
  bool up = false;               // switched on, and with a carrier
  std::uint32_t mtu = 0;         // octets of an IP packet
  std::uint64_t tx_dropped = 0;  // packets that the kernel had to send through it and dropped
};

// The state of an interface in the calling thread's network namespace, from rtnetlink(7); nothing if there is none of
// this name.
std::optional<InterfaceState> read_interface(const std::string& name);

}  // namespace railyard
