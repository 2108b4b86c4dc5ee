// An address and a UDP port, as people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dataplane/wire/address.h"

namespace railyard::wire {

struct UdpEndpoint {
  IpAddress address;
  std::uint16_t port = 0;

  auto operator<=>(const UdpEndpoint&) const = default;

  // "192.0.2.1:4800" or "[2001:db8::1]:4800", the port in 1..65535; nothing before or after it.
  static std::optional<UdpEndpoint> parse(std::string_view text);
};

// The same form.
std::string to_string(const UdpEndpoint& endpoint);

}  // namespace railyard::wire
