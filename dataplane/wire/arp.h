// ARP for IPv4 over Ethernet, RFC 826.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dataplane/wire/address.h"
#include "dataplane/wire/field.h"
#include "dataplane/wire/link_header.h"
#include "dataplane/wire/mac_address.h"

namespace railyard::wire {

//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +-------------------------------+-------------------------------+
//  |         Hardware type         |         Protocol type         |
//  +---------------+---------------+-------------------------------+
//  |  HW addr len  | Proto addr len|           Operation           |
//  +---------------+---------------+-------------------------------+
//  |                        Sender MAC                             |
//  +                               +-------------------------------+
//  |                               |           Sender IP           |
//  +-------------------------------+-------------------------------+
//  |           Sender IP           |          Target MAC           |
//  +-------------------------------+                               +
//  |                                                               |
//  +---------------------------------------------------------------+
//  |                           Target IP                           |
//  +---------------------------------------------------------------+
struct Arp {
  static constexpr std::size_t kOctets = 28;
  using HardwareType = Field<0, 16>;
  using ProtocolType = Field<16, 16>;
  using HardwareLength = Field<32, 8>;
  using ProtocolLength = Field<40, 8>;
  using Operation = Field<48, 16>;
  using SenderMac = OctetField<64, MacAddress>;
  using SenderIp = Field<112, 32>;
  using TargetMac = OctetField<144, MacAddress>;
  using TargetIp = Field<192, 32>;
};
static_assert(tiles<Arp::kOctets, Arp::HardwareType, Arp::ProtocolType, Arp::HardwareLength, Arp::ProtocolLength,
                    Arp::Operation, Arp::SenderMac, Arp::SenderIp, Arp::TargetMac, Arp::TargetIp>());

inline constexpr std::uint16_t kArpEthernet = 1;  // the hardware type
namespace arp_operation {
inline constexpr std::uint16_t kRequest = 1;
inline constexpr std::uint16_t kReply = 2;
}  // namespace arp_operation

// What an ARP packet says. The IP addresses are IPv4.
struct ArpMessage {
  std::uint16_t operation = 0;
  MacAddress sender_mac;
  IpAddress sender_ip;
  MacAddress target_mac;
  IpAddress target_ip;

  bool operator==(const ArpMessage&) const = default;
};

// The ARP packet at `arp`, as parse_frame() has checked it.
ArpMessage read_arp(const std::byte* arp) noexcept;

// Writes a frame; returns its octets, 0 if `out` is too small.
std::size_t write_arp(std::span<std::byte> out, const LinkHeader& link, const ArpMessage& message) noexcept;

// "Who has `target_ip`? Tell `sender_ip` at link.source", usually to link.destination = kBroadcastMac.
std::size_t write_arp_request(std::span<std::byte> out, const LinkHeader& link, const IpAddress& sender_ip,
                              const IpAddress& target_ip) noexcept;

// The answer to `request` (a frame that parse_frame() has accepted as `view`): its target IP is at `own_mac`.
std::size_t write_arp_reply(std::span<std::byte> out, std::span<const std::byte> request, const FrameView& view,
                            MacAddress own_mac) noexcept;

}  // namespace railyard::wire
