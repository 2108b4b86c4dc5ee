#include "dataplane/wire/parse.h"

#include <algorithm>

#include "dataplane/wire/arp.h"
#include "dataplane/wire/bth.h"
#include "dataplane/wire/checksum.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/icmp.h"
#include "dataplane/wire/icmpv6.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/ipv6.h"
#include "dataplane/wire/tcp.h"
#include "dataplane/wire/udp.h"
#include "dataplane/wire/uet_entropy.h"
#include "dataplane/wire/vlan.h"

namespace railyard::wire {
namespace {

// One pass over a frame from the outside in. `at` is the next octet to be looked at; each step checks that its header
// is there, notes what it says, and moves on.
class Parser {
 public:
  using Error = std::optional<DropReason>;  // nullopt: all is well

  // Fills `view`, which must be as constructed.
  Parser(std::span<const std::byte> octets, std::size_t frame_octets, FrameView& view) noexcept
      // The view's offsets have 16 bits.
      : octets_(octets.first(std::min({octets.size(), frame_octets, std::size_t{0xFFFF}}))),
        end_(frame_octets),
        view_(view) {}

  Error parse() noexcept {
    const Error bad = link();
    view_.header_octets = static_cast<std::uint16_t>(at_);
    return bad;
  }

 private:
  // Whether `n` octets from at_ on are there, both within the packet and to be looked at.
  bool has(std::size_t n) const noexcept { return n <= std::min(octets_.size(), end_) - at_; }
  const std::byte* header() const noexcept { return octets_.data() + at_; }
  void skip(std::size_t n) noexcept { at_ += n; }

  // The IP packet that begins at at_ has `n` octets: nothing behind it is looked at.
  Error cut_to(std::size_t n) noexcept {
    if (n > end_ - at_) return DropReason::kBadLength;
    end_ = at_ + n;
    view_.ip_octets = static_cast<std::uint32_t>(n);
    return {};
  }

  Error link() noexcept {
    if (!has(Ethernet::kOctets)) return DropReason::kTooShort;
    std::uint16_t type = read<Ethernet::EtherType>(header());
    skip(Ethernet::kOctets);
    if (type == ether_type::kVlan) {
      if (!has(Vlan::kOctets)) return DropReason::kTooShort;
      view_.tagged = true;
      view_.pcp = read<Vlan::PCP>(header());
      view_.vid = read<Vlan::VID>(header());
      type = read<Vlan::EtherType>(header());
      skip(Vlan::kOctets);
    }
    view_.l3_offset = static_cast<std::uint16_t>(at_);
    switch (type) {
      case ether_type::kIpv4:
        return ipv4();
      case ether_type::kIpv6:
        return ipv6();
      case ether_type::kArp:
        return arp();
      case ether_type::kMacControl:
        return mac_control();
      default:
        return DropReason::kUnknownEtherType;
    }
  }

  Error mac_control() noexcept {
    view_.kind = FrameKind::kMacControl;
    if (view_.tagged) return DropReason::kBadMacControl;  // IEEE 802.3 §31.4: never tagged
    return {};
  }

  Error arp() noexcept {
    view_.kind = FrameKind::kArp;
    if (!has(Arp::kOctets)) return DropReason::kTooShort;
    const std::byte* const h = header();
    if (read<Arp::HardwareType>(h) != kArpEthernet || read<Arp::ProtocolType>(h) != ether_type::kIpv4 ||
        read<Arp::HardwareLength>(h) != 6 || read<Arp::ProtocolLength>(h) != 4) {
      return DropReason::kNotUnderstood;
    }
    view_.source = IpAddress(read<Arp::SenderIp>(h));
    view_.destination = IpAddress(read<Arp::TargetIp>(h));
    skip(Arp::kOctets);
    return {};
  }

  Error ipv4() noexcept {
    view_.kind = FrameKind::kIpv4;
    if (!has(Ipv4::kOctets)) return DropReason::kTooShort;
    const std::byte* const h = header();
    if (read<Ipv4::Version>(h) != 4) return DropReason::kBadVersion;
    const std::size_t header_octets = std::size_t{4} * read<Ipv4::IHL>(h);
    const std::size_t packet_octets = read<Ipv4::TotalLength>(h);
    if (header_octets < Ipv4::kOctets || header_octets > packet_octets) return DropReason::kBadHeaderLength;
    if (const auto bad = cut_to(packet_octets)) return bad;
    if (!has(header_octets)) return DropReason::kTooShort;
    if (internet_checksum({h, header_octets}) != 0) return DropReason::kBadChecksum;

    view_.traffic_class_octet = read<Ipv4::TrafficClass>(h);
    view_.ttl = read<Ipv4::TTL>(h);
    view_.protocol = read<Ipv4::Protocol>(h);
    view_.source = IpAddress(read<Ipv4::Source>(h));
    view_.destination = IpAddress(read<Ipv4::Destination>(h));
    view_.is_fragment = read<Ipv4::MF>(h) != 0 || read<Ipv4::FragmentOffset>(h) != 0;
    skip(header_octets);
    if (view_.is_fragment) return {};
    switch (view_.protocol) {
      case ip_protocol::kUdp:
        return udp();
      case ip_protocol::kTcp:
        return tcp();
      case ip_protocol::kIcmp:
        return l4(Icmp::kOctets);
      case ip_protocol::kUetNative:
        return uet_native();
      default:
        return {};
    }
  }

  Error ipv6() noexcept {
    view_.kind = FrameKind::kIpv6;
    if (!has(Ipv6::kOctets)) return DropReason::kTooShort;
    const std::byte* const h = header();
    if (read<Ipv6::Version>(h) != 6) return DropReason::kBadVersion;
    if (const auto bad = cut_to(Ipv6::kOctets + read<Ipv6::PayloadLength>(h))) return bad;

    view_.traffic_class_octet = read<Ipv6::TrafficClass>(h);
    view_.ttl = read<Ipv6::HopLimit>(h);
    view_.protocol = read<Ipv6::NextHeader>(h);
    view_.source = read<Ipv6::Source>(h);
    view_.destination = read<Ipv6::Destination>(h);
    // Inside the fabric an IPv4 address says that the packet is IPv4.
    if (view_.source.is_v4() || view_.destination.is_v4()) return DropReason::kBadVersion;
    skip(Ipv6::kOctets);
    if (const auto bad = ipv6_extensions()) return bad;
    if (view_.is_fragment) return {};
    switch (view_.protocol) {
      case ip_protocol::kUdp:
        return udp();
      case ip_protocol::kTcp:
        return tcp();
      case ip_protocol::kIcmpv6:
        return l4(Icmpv6::kOctets);
      case ip_protocol::kUetNative:
        return uet_native();
      default:
        return {};
    }
  }

  // Walks the extension headers that RFC 8200 §4 defines; each is at least 8 octets long, so this ends.
  Error ipv6_extensions() noexcept {
    for (;;) {
      std::size_t octets = Ipv6Fragment::kOctets;
      switch (view_.protocol) {
        case ip_protocol::kHopByHop:
        case ip_protocol::kRouting:
        case ip_protocol::kDestinationOptions:
          if (!has(Ipv6Extension::kOctets)) return DropReason::kTooShort;
          octets = 8 * (std::size_t{read<Ipv6Extension::HdrExtLen>(header())} + 1);
          break;
        case ip_protocol::kFragment:
          if (!has(Ipv6Fragment::kOctets)) return DropReason::kTooShort;
          // One that is its own whole packet ("atomic", RFC 6946) counts as none.
          view_.is_fragment = read<Ipv6Fragment::FragmentOffset>(header()) != 0 || read<Ipv6Fragment::M>(header()) != 0;
          break;
        default:
          return {};
      }
      if (!has(octets)) return DropReason::kTooShort;
      view_.protocol = read<Ipv6Extension::NextHeader>(header());
      skip(octets);
      if (view_.is_fragment) return {};  // what follows may be the middle of anything
    }
  }

  // An L4 header of `octets` octets.
  Error l4(std::size_t octets) noexcept {
    if (!has(octets)) return DropReason::kTooShort;
    view_.l4_offset = static_cast<std::uint16_t>(at_);
    skip(octets);
    return {};
  }

  Error tcp() noexcept {
    if (!has(Tcp::kOctets)) return DropReason::kTooShort;
    const std::byte* const h = header();
    const std::size_t header_octets = std::size_t{4} * read<Tcp::DataOffset>(h);
    if (header_octets < Tcp::kOctets || header_octets > end_ - at_) return DropReason::kBadHeaderLength;
    view_.source_port = read<Tcp::SourcePort>(h);
    view_.destination_port = read<Tcp::DestinationPort>(h);
    return l4(header_octets);
  }

  Error udp() noexcept {
    if (!has(Udp::kOctets)) return DropReason::kTooShort;
    const std::byte* const h = header();
    const std::size_t datagram_octets = read<Udp::Length>(h);
    if (datagram_octets < Udp::kOctets) return DropReason::kBadLength;
    view_.trimmed = datagram_octets > end_ - at_;
    view_.source_port = read<Udp::SourcePort>(h);
    view_.destination_port = read<Udp::DestinationPort>(h);
    if (const auto bad = l4(Udp::kOctets)) return bad;
    if (view_.destination_port == kUetPort) view_.uet_entropy = view_.source_port;
    if (view_.destination_port != kRoceV2Port) return {};
    if (datagram_octets < Udp::kOctets + Bth::kOctets) return DropReason::kTooShort;
    return bth();
  }

  // The number is anybody's: what is too short for an entropy header is somebody else's experiment.
  Error uet_native() noexcept {
    if (end_ - at_ < UetEntropy::kOctets) return {};
    if (!has(UetEntropy::kOctets)) return DropReason::kTooShort;
    view_.uet_entropy = read<UetEntropy::Entropy>(header());
    skip(UetEntropy::kOctets);
    return {};
  }

  Error bth() noexcept {
    if (!has(Bth::kOctets)) return DropReason::kTooShort;
    const std::byte* const h = header();
    if (read<Bth::TVer>(h) != 0) return DropReason::kBadVersion;  // IBTA Vol 1 §9.2
    view_.has_bth = true;
    view_.opcode = read<Bth::OpCode>(h);
    view_.destination_qp = read<Bth::DestQP>(h);
    view_.psn = read<Bth::PSN>(h);
    skip(Bth::kOctets);
    return {};
  }

  std::span<const std::byte> octets_;  // what may be looked at
  std::size_t end_;                    // of the frame, then of the IP packet
  std::size_t at_ = 0;                 // never beyond either
  FrameView& view_;
};

}  // namespace

std::expected<FrameView, DropReason> parse_frame(std::span<const std::byte> octets, std::size_t frame_octets) noexcept {
  // Filled where the caller wants it: a view is as long as a cache line, and copying what was just written in small
  // pieces waits for the stores.
  std::expected<FrameView, DropReason> view;
  if (const auto bad = Parser(octets, frame_octets, *view).parse()) view = std::unexpected(*bad);
  return view;
}

}  // namespace railyard::wire
