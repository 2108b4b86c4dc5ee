// The link-layer header of a frame that a router makes itself: Ethernet, with a VLAN tag or without.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/vlan.h"

namespace railyard::wire {

struct FrameView;

struct LinkHeader {
  MacAddress destination;
  MacAddress source;
  bool tagged = false;
  std::uint8_t pcp = 0;   // 0..7
  std::uint16_t vid = 0;  // 0..4095

  bool operator==(const LinkHeader&) const = default;
  constexpr std::size_t octets() const noexcept { return Ethernet::kOctets + (tagged ? Vlan::kOctets : 0); }
};

// Writes link.octets() octets and returns the place behind them.
std::byte* write_link_header(std::byte* out, const LinkHeader& link, std::uint16_t ether_type) noexcept;

// Back to where `frame`, which parse_frame() has accepted as `view`, came from: to its source, from `source`, with its
// tag.
LinkHeader reply_link(std::span<const std::byte> frame, const FrameView& view, MacAddress source) noexcept;

}  // namespace railyard::wire
