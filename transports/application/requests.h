// What an application tells the daemon (handshake.h), as the daemon reads it. Nothing of it is trusted: any local user may
// connect.
#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <span>
#include <string_view>

#include "transports/application/handshake.h"

namespace railyard::application {

inline constexpr std::uint32_t kMostNics = 0xFFFF;  // of a host

// Why a message is refused: errno and a line for people.
struct Refusal {
  int error = 0;
  std::string_view why{};
};

// A first message. Its host ends by 0, its NIC is 1 .. kMostNics, its transport is one of those that there are. EPROTO:
// another version, or none of ours; EINVAL: no name or number that could be. `octets`: the whole message.
std::expected<Hello, Refusal> read_hello(std::span<const std::byte> octets) noexcept;

// A later one; nullopt: it is none. Whether the port space is one that there is, is not looked at.
std::optional<PortRequest> read_port_request(std::span<const std::byte> octets) noexcept;

}  // namespace railyard::application
