// The inverse of parse_frame(): a frame that says what a view says. No options or extension headers that the view does
// not speak of, payload of zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/wire/arp.h"
#include "dataplane/wire/bth.h"
#include "dataplane/wire/checksum.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/icmp.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/ipv6.h"
#include "dataplane/wire/link_header.h"
#include "dataplane/wire/parse.h"
#include "dataplane/wire/tcp.h"
#include "dataplane/wire/udp.h"
#include "dataplane/wire/uet_entropy.h"

namespace railyard::wire {

// Octets of the IP packet behind the last header that the view knows.
inline std::size_t payload_octets(const FrameView& view) {
  return view.ip_octets == 0 ? 0 : view.l3_offset + view.ip_octets - view.header_octets;
}

// The view without what depends on options and extension headers.
inline FrameView meaning(FrameView view) {
  view.ip_octets = static_cast<std::uint32_t>(payload_octets(view));
  view.l3_offset = view.l4_offset = view.header_octets = 0;
  return view;
}

inline std::vector<std::byte> emit(const FrameView& view) {
  const LinkHeader link{.destination = {{0x02, 0, 0, 0, 0, 0x02}},
                        .source = {{0x02, 0, 0, 0, 0, 0x01}},
                        .tagged = view.tagged,
                        .pcp = view.pcp,
                        .vid = view.vid};
  const bool v4 = view.kind == FrameKind::kIpv4;
  const bool udp = view.l4_offset != 0 && view.protocol == ip_protocol::kUdp;
  const bool tcp = view.l4_offset != 0 && view.protocol == ip_protocol::kTcp;
  const bool icmp = view.l4_offset != 0 && !udp && !tcp;  // ICMPv6 alike
  const bool uet_native = view.uet_entropy && !udp;
  const bool ipv6_fragment = view.is_fragment && !v4;

  const std::size_t datagram = (udp ? Udp::kOctets : 0) + (view.has_bth ? Bth::kOctets : 0) + payload_octets(view);
  const std::size_t behind_ip =
      (ipv6_fragment ? Ipv6Fragment::kOctets : 0) + (tcp ? Tcp::kOctets : 0) + (icmp ? Icmp::kOctets : 0) +
      (uet_native ? UetEntropy::kOctets : 0) + datagram;
  const std::size_t ip_octets = (v4 ? Ipv4::kOctets : Ipv6::kOctets) + behind_ip;

  if (view.kind == FrameKind::kMacControl) {
    std::vector<std::byte> frame(link.octets());
    write_link_header(frame.data(), link, ether_type::kMacControl);
    return frame;
  }
  if (view.kind == FrameKind::kArp) {
    std::vector<std::byte> frame(link.octets() + Arp::kOctets);
    write_arp_request(frame, link, view.source, view.destination);
    return frame;
  }

  std::vector<std::byte> frame(link.octets() + ip_octets);
  std::byte* at = write_link_header(frame.data(), link, v4 ? ether_type::kIpv4 : ether_type::kIpv6);
  if (v4) {
    write<Ipv4::Version>(at, 4);
    write<Ipv4::IHL>(at, Ipv4::kOctets / 4);
    write<Ipv4::TrafficClass>(at, view.traffic_class_octet);
    write<Ipv4::TotalLength>(at, static_cast<std::uint16_t>(ip_octets));
    write<Ipv4::FragmentOffset>(at, view.is_fragment);
    write<Ipv4::TTL>(at, view.ttl);
    write<Ipv4::Protocol>(at, view.protocol);
    write<Ipv4::Source>(at, view.source.v4());
    write<Ipv4::Destination>(at, view.destination.v4());
    write<Ipv4::HeaderChecksum>(at, internet_checksum({at, Ipv4::kOctets}));
    at += Ipv4::kOctets;
  } else {
    write<Ipv6::Version>(at, 6);
    write<Ipv6::TrafficClass>(at, view.traffic_class_octet);
    write<Ipv6::PayloadLength>(at, static_cast<std::uint16_t>(behind_ip));
    write<Ipv6::NextHeader>(at, ipv6_fragment ? ip_protocol::kFragment : view.protocol);
    write<Ipv6::HopLimit>(at, view.ttl);
    write<Ipv6::Source>(at, view.source);
    write<Ipv6::Destination>(at, view.destination);
    at += Ipv6::kOctets;
  }
  if (ipv6_fragment) {
    write<Ipv6Fragment::NextHeader>(at, view.protocol);
    write<Ipv6Fragment::FragmentOffset>(at, 1);
  }
  if (tcp) {
    write<Tcp::SourcePort>(at, view.source_port);
    write<Tcp::DestinationPort>(at, view.destination_port);
    write<Tcp::DataOffset>(at, Tcp::kOctets / 4);
  }
  if (udp) {
    write<Udp::SourcePort>(at, view.source_port);
    write<Udp::DestinationPort>(at, view.destination_port);
    write<Udp::Length>(at, static_cast<std::uint16_t>(datagram + (view.trimmed ? 1 : 0)));
    at += Udp::kOctets;
  }
  if (uet_native) write<UetEntropy::Entropy>(at, *view.uet_entropy);
  if (view.has_bth) {
    write<Bth::OpCode>(at, view.opcode);
    write<Bth::DestQP>(at, view.destination_qp);
    write<Bth::PSN>(at, view.psn);
  }
  return frame;
}

}  // namespace railyard::wire
