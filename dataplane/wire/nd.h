// Neighbour discovery for IPv6, RFC 4861: address resolution (§7.2), no router discovery.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>

#include "dataplane/base/drop_reason.h"
#include "dataplane/wire/address.h"
#include "dataplane/wire/field.h"
#include "dataplane/wire/link_header.h"
#include "dataplane/wire/mac_address.h"

namespace railyard::wire {

// Neighbour solicitation and advertisement, RFC 4861 §4.3, §4.4. The flags are those of an advertisement.
//
//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +---------------+---------------+-------------------------------+
//  |     Type      |     Code      |           Checksum            |
//  +-+-+-+---------+---------------+-------------------------------+
//  |R|S|O|                       Reserved                          |
//  +-+-+-+---------------------------------------------------------+
//  |                   Target address, 16 octets                   |
//  +---------------------------------------------------------------+
//  |                            Options                            |
struct Neighbour {
  static constexpr std::size_t kOctets = 24;  // without options
  using Type = Field<0, 8>;
  using Code = Field<8, 8>;
  using Checksum = Field<16, 16>;
  using Router = Field<32, 1>;
  using Solicited = Field<33, 1>;
  using Override = Field<34, 1>;
  using Reserved = Field<35, 29>;
  using Target = OctetField<64, IpAddress>;
};
static_assert(tiles<Neighbour::kOctets, Neighbour::Type, Neighbour::Code, Neighbour::Checksum, Neighbour::Router,
                    Neighbour::Solicited, Neighbour::Override, Neighbour::Reserved, Neighbour::Target>());

// Source or target link-layer address option for Ethernet, RFC 4861 §4.6.1, RFC 2464 §6.
//
//  +---------------+---------------+-------------------------------+
//  |     Type      |    Length     |      Link-layer address       |
//  +---------------+---------------+                               +
//  |                                                               |
//  +---------------------------------------------------------------+
struct LinkLayerOption {
  static constexpr std::size_t kOctets = 8;
  using Type = Field<0, 8>;
  using Length = Field<8, 8>;  // in units of 8 octets; the same in every option
  using Address = OctetField<16, MacAddress>;
};
static_assert(
    tiles<LinkLayerOption::kOctets, LinkLayerOption::Type, LinkLayerOption::Length, LinkLayerOption::Address>());

namespace nd_option {
inline constexpr std::uint8_t kSourceLinkLayer = 1;
inline constexpr std::uint8_t kTargetLinkLayer = 2;
}  // namespace nd_option

// The group in which a node with address `target` listens for solicitations (RFC 4291 §2.7.1), and the MAC address of
// an IPv6 multicast group (RFC 2464 §7).
IpAddress solicited_node(const IpAddress& target) noexcept;
MacAddress multicast_mac(const IpAddress& group) noexcept;

// What a neighbour solicitation or advertisement says.
struct NeighbourMessage {
  bool advertisement = false;  // else a solicitation
  bool router = false;         // flags of an advertisement
  bool solicited = false;
  bool override_cache = false;
  IpAddress target;
  std::optional<MacAddress> link_layer;  // of the source in a solicitation, of the target in an advertisement

  bool operator==(const NeighbourMessage&) const = default;
};

// Reads one from `frame`, which holds all of an ICMPv6 packet that parse_frame() has accepted as `view`, and makes the
// checks of RFC 4861 §7.1. kNotUnderstood: another ICMPv6 type, or against those rules.
std::expected<NeighbourMessage, DropReason> parse_neighbour(std::span<const std::byte> frame,
                                                            const FrameView& view) noexcept;

// "Who has `target`? Tell `source` at link.source." The destination address of `link` is set to the group's MAC
// address. Returns the octets of the frame, 0 if it does not fit `out`.
std::size_t write_neighbour_solicitation(std::span<std::byte> out, LinkHeader link, const IpAddress& source,
                                         const IpAddress& target) noexcept;

// The answer to `solicitation` (a frame that parse_neighbour() has accepted): its target, a router, is at `own_mac`. A
// solicitation without a source, which looks for duplicates of its own address, is answered to all nodes (RFC 4861
// §7.2.4).
std::size_t write_neighbour_advertisement(std::span<std::byte> out, std::span<const std::byte> solicitation,
                                          const FrameView& view, MacAddress own_mac) noexcept;

}  // namespace railyard::wire
