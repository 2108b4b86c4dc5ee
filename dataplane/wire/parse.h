// The edge parser: looks once at each frame that enters the fabric. Past it no accessor can fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>

#include "dataplane/base/drop_reason.h"
#include "dataplane/wire/address.h"

namespace railyard::wire {

enum class FrameKind : std::uint8_t { kIpv4, kIpv6, kArp, kMacControl };

// Where a frame's headers are and what a switch needs to know of them. Offsets count from the frame's first octet; what
// a frame does not have is 0.
struct FrameView {
  IpAddress source;       // of an ARP packet: the sender's
  IpAddress destination;  // of an ARP packet: the target's

  std::uint32_t ip_octets = 0;      // the whole IP packet; Ethernet padding may follow it
  std::uint16_t l3_offset = 0;      // IP or ARP header, MAC control opcode
  std::uint16_t l4_offset = 0;      // UDP, TCP, ICMP or ICMPv6 header; 0 for other protocols and for fragments
  std::uint16_t header_octets = 0;  // all headers up to the last one parsed: BTH, L4, L3, ARP or link header
  FrameKind kind = FrameKind::kIpv4;

  bool tagged = false;
  std::uint8_t pcp = 0;
  std::uint16_t vid = 0;

  std::uint8_t traffic_class_octet = 0;  // DSCP and ECN
  std::uint8_t ttl = 0;                  // TTL or hop limit
  std::uint8_t protocol = 0;             // behind any IPv6 extension headers
  bool is_fragment = false;              // of a larger IP packet, be it the first or another
  std::uint16_t source_port = 0;         // UDP or TCP
  std::uint16_t destination_port = 0;

  bool trimmed = false;  // UDP: cut on the way, the length is still that of the whole datagram
  bool has_bth = false;  // RoCEv2
  std::uint8_t opcode = 0;
  std::uint32_t destination_qp = 0;
  std::uint32_t psn = 0;

  std::optional<std::uint16_t> uet_entropy{};  // of an Ultra Ethernet packet: its entropy value

  bool operator==(const FrameView&) const = default;
};

// Parses a frame of `frame_octets` octets without FCS, of which at least the headers lie in `octets`, its first ones.
//
// An error says that the frame is malformed or that nothing in a fabric handles it:
//   kTooShort          ends, or `octets` do, within a header that was announced
//   kUnknownEtherType  neither IPv4, IPv6, ARP nor MAC control, behind at most one 802.1Q tag
//   kBadVersion        IP version; BTH TVer; an IPv4 address (::ffff:a.b.c.d) in an IPv6 header
//   kBadHeaderLength   IPv4 IHL or TCP data offset below 5 or beyond the packet
//   kBadLength         IP length beyond the frame, UDP length below 8
//   kBadChecksum       IPv4 header
//   kNotUnderstood     ARP for another pair of protocols than Ethernet and IPv4
//   kBadMacControl     MAC control with a VLAN tag
// The payload is not looked at: UDP, TCP and ICMP checksums and the ICRC are checked by those who receive the packet.
// Fragments are no error and have no L4 header, the first no more than the others, so that one path takes all of them.
[[nodiscard]] std::expected<FrameView, DropReason> parse_frame(std::span<const std::byte> octets,
                                                               std::size_t frame_octets) noexcept;

// The same for a frame in one piece.
[[nodiscard]] inline std::expected<FrameView, DropReason> parse_frame(std::span<const std::byte> frame) noexcept {
  return parse_frame(frame, frame.size());
}

}  // namespace railyard::wire
