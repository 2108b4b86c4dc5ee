#include "tests/support/frames.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "dataplane/base/payload_pattern.h"
#include "dataplane/packet/edge.h"
#include "dataplane/wire/bth.h"
#include "dataplane/wire/checksum.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/ipv6.h"
#include "dataplane/wire/link_header.h"
#include "dataplane/wire/udp.h"

namespace railyard::test {
namespace {

std::size_t link_octets(const FrameSpec& spec) {
  return wire::Ethernet::kOctets + (spec.tag ? std::size_t{wire::Vlan::kOctets} : 0);
}
std::size_t ip_octets(const FrameSpec& spec) {
  return spec.source.is_v4() ? std::size_t{wire::Ipv4::kOctets} : std::size_t{wire::Ipv6::kOctets};
}
std::size_t header_octets(const FrameSpec& spec) {
  return link_octets(spec) + ip_octets(spec) + wire::Udp::kOctets + wire::Bth::kOctets;
}

// All headers, for `payload` octets behind them.
std::size_t write_headers(std::byte* out, const FrameSpec& spec, std::size_t payload) {
  using namespace wire;
  const bool v4 = spec.source.is_v4();
  const LinkHeader link{.destination = spec.to,
                        .source = spec.from,
                        .tagged = spec.tag.has_value(),
                        .pcp = spec.tag ? spec.tag->pcp : std::uint8_t{0},
                        .vid = spec.tag ? spec.tag->vid : std::uint16_t{0}};
  const std::size_t datagram = Udp::kOctets + Bth::kOctets + payload + kIcrcOctets;
  const auto traffic_class = static_cast<std::uint8_t>(unsigned{spec.dscp} << 2 | static_cast<unsigned>(spec.ecn));
  std::byte* at = write_link_header(out, link, v4 ? ether_type::kIpv4 : ether_type::kIpv6);
  std::fill_n(at, ip_octets(spec) + Udp::kOctets + Bth::kOctets, std::byte{0});
  if (v4) {
    write<Ipv4::Version>(at, 4);
    write<Ipv4::IHL>(at, 5);
    write<Ipv4::TrafficClass>(at, traffic_class);
    write<Ipv4::TotalLength>(at, static_cast<std::uint16_t>(Ipv4::kOctets + datagram));
    write<Ipv4::DF>(at, 1);
    write<Ipv4::TTL>(at, spec.ttl);
    write<Ipv4::Protocol>(at, ip_protocol::kUdp);
    write<Ipv4::Source>(at, spec.source.v4());
    write<Ipv4::Destination>(at, spec.destination.v4());
    write<Ipv4::HeaderChecksum>(at, internet_checksum({at, Ipv4::kOctets}));
  } else {
    write<Ipv6::Version>(at, 6);
    write<Ipv6::TrafficClass>(at, traffic_class);
    write<Ipv6::PayloadLength>(at, static_cast<std::uint16_t>(datagram));
    write<Ipv6::NextHeader>(at, ip_protocol::kUdp);
    write<Ipv6::HopLimit>(at, spec.ttl);
    write<Ipv6::Source>(at, spec.source);
    write<Ipv6::Destination>(at, spec.destination);
  }
  at += ip_octets(spec);
  write<Udp::SourcePort>(at, spec.source_port);
  write<Udp::DestinationPort>(at, kRoceV2Port);
  write<Udp::Length>(at, static_cast<std::uint16_t>(datagram));
  at += Udp::kOctets;
  write<Bth::OpCode>(at, roce_opcode::kUcSendOnly);
  write<Bth::MigReq>(at, 1);
  write<Bth::PKey>(at, 0xFFFF);
  write<Bth::DestQP>(at, spec.destination_qp);
  write<Bth::PSN>(at, spec.psn & 0xFFFFFF);
  return header_octets(spec);
}

}  // namespace

wire::IpAddress ip(std::string_view text) {
  if (const auto address = wire::IpAddress::parse(text)) return *address;
  throw std::invalid_argument("no IP address: " + std::string(text));
}

wire::IpPrefix prefix(std::string_view text) {
  if (const auto p = wire::IpPrefix::parse(text)) return *p;
  throw std::invalid_argument("no IP prefix: " + std::string(text));
}

std::uint32_t least_octets(const FrameSpec& spec) {
  return std::max(static_cast<std::uint32_t>(header_octets(spec) + wire::kIcrcOctets + wire::kFcsOctets),
                  kLeastFrameOctets);
}

Packet* make_frame(PacketPool& pool, const FecTable& fecs, const FrameSpec& spec) {
  if (spec.frame_octets < least_octets(spec)) throw std::invalid_argument("no frame can be that short");
  const std::size_t with_headers = header_octets(spec) + wire::kIcrcOctets + wire::kFcsOctets;
  const std::size_t payload = spec.frame_octets > with_headers ? spec.frame_octets - with_headers : 0;
  Packet* p = spec.real ? pool.allocate_real() : pool.allocate_elided();
  if (p == nullptr) throw std::runtime_error("the test's pool is empty");
  const std::size_t headers = write_headers(p->header(), spec, payload);
  p->stream = spec.stream;
  p->offset = spec.offset;
  p->sent = {};
  p->payload_octets = static_cast<std::uint32_t>(payload);
  p->frame_octets = spec.frame_octets;
  const auto view = wire::parse_frame({p->header(), headers}, spec.frame_octets - wire::kFcsOctets);
  if (!view) throw std::logic_error("the frame factory made a frame that does not parse");
  describe(*p, *view, fecs);
  p->flags |= Packet::kIcrcPending;
  if (spec.real)
    fill_payload(p->stream, p->offset, {p->header() + headers, payload});
  else
    p->flags |= Packet::kElided;
  return p;
}

Packet* make_frame(PacketPool& pool, const FecTable& fecs, std::span<const std::byte> octets) {
  Packet* p = pool.allocate_real();
  if (p == nullptr) throw std::runtime_error("the test's pool is empty");
  std::copy(octets.begin(), octets.end(), p->header());
  p->stream = 0;
  p->offset = 0;
  p->sent = {};
  p->frame_octets = std::max(static_cast<std::uint32_t>(octets.size() + wire::kFcsOctets), kLeastFrameOctets);
  const auto view = wire::parse_frame({p->header(), octets.size()});
  if (!view) throw std::invalid_argument("the octets are no frame: " + std::string(name(view.error())));
  describe(*p, *view, fecs);
  if (p->kind == FrameKind::kMacControl) p->header_octets = static_cast<std::uint16_t>(octets.size());  // as PFC has it
  p->payload_octets = static_cast<std::uint32_t>(octets.size() - p->header_octets);
  return p;
}

std::vector<std::byte> octets_of(const Packet& packet) {
  const std::size_t n = packet.header_octets + (packet.has(Packet::kElided) ? std::size_t{0} : packet.payload_octets);
  return {packet.header(), packet.header() + n};
}

}  // namespace railyard::test
