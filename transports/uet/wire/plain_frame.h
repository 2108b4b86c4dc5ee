// Frames as nearly all of them are, taken apart in one go: without VLAN tag, IPv4 without options, UDP, not cut, and
// not all there or without CRC. What is any different, or wrong, is for wire::parse_frame() and decapsulate(), which
// say of these frames the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "dataplane/wire/address.h"
#include "transports/uet/wire/encapsulation.h"

namespace railyard::uet {

struct PlainFrame {
  wire::IpAddress source;
  wire::IpAddress destination;
  std::uint8_t traffic_class_octet = 0;
  Inner inner{};
};

// A frame of `frame_octets` octets without FCS, of which at least the headers lie in `octets`, its first ones. nullopt:
// it is of another kind.
[[nodiscard]] std::optional<PlainFrame> take_plain(std::span<const std::byte> octets, std::size_t frame_octets,
                                                   const EncapsulationConfig& config) noexcept;

}  // namespace railyard::uet
