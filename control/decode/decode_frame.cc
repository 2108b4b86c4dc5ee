#include "control/decode/decode_frame.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "control/decode/roce_json.h"
#include "control/decode/uet_json.h"
#include "dataplane/wire/arp.h"
#include "dataplane/wire/bth.h"
#include "dataplane/wire/checksum.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/hpcc_int.h"
#include "dataplane/wire/icmp.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/ipv6.h"
#include "dataplane/wire/parse.h"
#include "dataplane/wire/pfc.h"
#include "dataplane/wire/tcp.h"
#include "dataplane/wire/udp.h"
#include "dataplane/wire/uet_entropy.h"
#include "dataplane/wire/vlan.h"

namespace railyard::decode {
namespace {

using wire::FrameView;
using wire::read;

std::string ipv4_text(std::uint32_t address) { return to_string(wire::IpAddress(address)); }

// A frame and what has been said of it so far. Each header is shown if its octets are there; how the frame as a whole
// is to be read, parse_frame() decides.
class Frame {
 public:
  Frame(std::span<const std::byte> octets, std::size_t frame_octets, const DecodeOptions& options)
      : octets_(octets.first(std::min(octets.size(), frame_octets))), frame_octets_(frame_octets), options_(options) {}

  Json decode() {
    out_["proto"] = "eth";
    const auto view = wire::parse_frame(octets_, frame_octets_);
    show_link_and_ip();
    // What nobody in a fabric handles is not malformed.
    if (!view && view.error() == DropReason::kUnknownEtherType) return std::move(out_);
    if (!view) {
      fail(std::string(name(view.error())), view.error() == DropReason::kTooShort);
      return std::move(out_);
    }
    view_ = *view;
    show_rest();
    return std::move(out_);
  }

 private:
  bool has(std::size_t at, std::size_t n) const noexcept { return at <= octets_.size() && n <= octets_.size() - at; }
  const std::byte* at(std::size_t offset) const noexcept { return octets_.data() + offset; }

  // What was not captured is not malformed, and cannot be told from what is not there by who looks at octets only.
  void fail(std::string error, bool too_short) {
    if (too_short && octets_.size() < frame_octets_) error = "cut";
    out_["error"] = std::move(error);
  }

  void show_link_and_ip() {
    if (!has(0, wire::Ethernet::kOctets)) return;
    using E = wire::Ethernet;
    std::uint16_t type = read<E::EtherType>(at(0));
    std::size_t next = E::kOctets;
    out_["eth"] = {
        {"dst", to_string(read<E::Destination>(at(0)))}, {"src", to_string(read<E::Source>(at(0)))}, {"type", type}};
    if (type == wire::ether_type::kVlan && has(next, wire::Vlan::kOctets)) {
      using V = wire::Vlan;
      type = read<V::EtherType>(at(next));
      out_["vlan"] = {{"id", read<V::VID>(at(next))},
                      {"pcp", read<V::PCP>(at(next))},
                      {"dei", read<V::DEI>(at(next))},
                      {"type", type}};
      next += V::kOctets;
    }
    if (type == wire::ether_type::kIpv4) show_ipv4(next);
    if (type == wire::ether_type::kIpv6) show_ipv6(next);
    if (type == wire::ether_type::kArp) out_["proto"] = "arp";
    if (type == wire::ether_type::kMacControl) out_["proto"] = "mac_control";
  }

  void show_ipv4(std::size_t ip) {
    out_["proto"] = "ip";
    if (!has(ip, wire::Ipv4::kOctets)) return;
    using I = wire::Ipv4;
    const std::byte* const h = at(ip);
    out_["ip"] = {{"version", read<I::Version>(h)},
                  {"ihl", read<I::IHL>(h)},
                  {"dscp", read<I::DSCP>(h)},
                  {"ecn", read<I::ECN>(h)},
                  {"length", read<I::TotalLength>(h)},
                  {"id", read<I::Identification>(h)},
                  {"df", read<I::DF>(h)},
                  {"mf", read<I::MF>(h)},
                  {"fragment_offset", read<I::FragmentOffset>(h)},
                  {"ttl", read<I::TTL>(h)},
                  {"proto", read<I::Protocol>(h)},
                  {"checksum", read<I::HeaderChecksum>(h)},
                  {"src", ipv4_text(read<I::Source>(h))},
                  {"dst", ipv4_text(read<I::Destination>(h))}};
  }

  void show_ipv6(std::size_t ip) {
    out_["proto"] = "ip";
    if (!has(ip, wire::Ipv6::kOctets)) return;
    using I = wire::Ipv6;
    const std::byte* const h = at(ip);
    out_["ip"] = {{"version", read<I::Version>(h)},
                  {"dscp", read<I::DSCP>(h)},
                  {"ecn", read<I::ECN>(h)},
                  {"flow_label", read<I::FlowLabel>(h)},
                  {"length", read<I::PayloadLength>(h)},
                  {"proto", read<I::NextHeader>(h)},
                  {"ttl", read<I::HopLimit>(h)},
                  {"src", to_string(read<I::Source>(h))},
                  {"dst", to_string(read<I::Destination>(h))}};
  }

  // Behind what show_link_and_ip() has shown, of a frame that is as it should be up to there.
  void show_rest() {
    switch (view_.kind) {
      case wire::FrameKind::kArp:
        return show_arp();
      case wire::FrameKind::kMacControl:
        return show_mac_control();
      case wire::FrameKind::kIpv4:
      case wire::FrameKind::kIpv6:
        break;
    }
    if (!view_.is_fragment)
      if (const auto uet = carried_by(false, view_.protocol)) return show_uet_native(*uet);
    if (view_.l4_offset == 0) return;
    switch (view_.protocol) {
      case wire::ip_protocol::kUdp:
        return show_udp();
      case wire::ip_protocol::kTcp:
        return show_tcp();
      case wire::ip_protocol::kIcmp:
        return show_icmp("icmp");
      case wire::ip_protocol::kIcmpv6:
        return show_icmp("icmpv6");
      default:
        return;
    }
  }

  void show_arp() {
    const wire::ArpMessage m = wire::read_arp(at(view_.l3_offset));
    out_["arp"] = {{"operation", m.operation},
                   {"sender_mac", to_string(m.sender_mac)},
                   {"sender_ip", to_string(m.sender_ip)},
                   {"target_mac", to_string(m.target_mac)},
                   {"target_ip", to_string(m.target_ip)}};
  }

  void show_mac_control() {
    using M = wire::MacControl;
    if (!has(view_.l3_offset, M::kOctets)) return fail("too_short", true);
    const std::byte* const h = at(view_.l3_offset);
    const std::uint16_t opcode = read<M::Opcode>(h);
    out_["mac_control"]["opcode"] = opcode;
    if (opcode == wire::mac_control_opcode::kPause) {
      out_["proto"] = "pause";
      out_["mac_control"]["time"] = read<wire::Field<16, 16>>(h);  // IEEE 802.3 annex 31B, in quanta
      return;
    }
    if (opcode != wire::mac_control_opcode::kPfc) return;
    out_["proto"] = "pfc";
    const auto pfc = wire::parse_pfc(octets_);
    if (!pfc) return fail(std::string(name(pfc.error())), false);
    Json enabled = Json::array();
    for (std::size_t n = 0; n < kPriorities; ++n)
      if ((pfc->enable >> n & 1) != 0) enabled.push_back(n);
    out_["mac_control"]["enable"] = std::move(enabled);
    out_["mac_control"]["time"] = pfc->quanta;
  }

  void show_tcp() {
    out_["proto"] = "tcp";
    using T = wire::Tcp;
    const std::byte* const h = at(view_.l4_offset);
    out_["tcp"] = {{"sport", read<T::SourcePort>(h)},   {"dport", read<T::DestinationPort>(h)},
                   {"seq", read<T::SequenceNumber>(h)}, {"ack", read<T::AcknowledgmentNumber>(h)},
                   {"flags", read<T::Flags>(h)},        {"window", read<T::Window>(h)}};
  }

  // Both families begin alike.
  void show_icmp(const char* proto) {
    out_["proto"] = proto;
    using I = wire::Icmp;
    const std::byte* const h = at(view_.l4_offset);
    out_[proto] = {{"type", read<I::Type>(h)}, {"code", read<I::Code>(h)}, {"rest", read<I::Rest>(h)}};
  }

  void show_udp() {
    out_["proto"] = "udp";
    using U = wire::Udp;
    const std::byte* const h = at(view_.l4_offset);
    const std::size_t datagram = read<U::Length>(h);
    out_["udp"] = {{"sport", view_.source_port},
                   {"dport", view_.destination_port},
                   {"length", datagram},
                   {"checksum", read<U::Checksum>(h)}};
    if (read<U::Checksum>(h) != 0 && !view_.trimmed && has(view_.l4_offset, datagram)) {
      out_["udp"]["checksum_ok"] = wire::transport_checksum(view_.source, view_.destination, wire::ip_protocol::kUdp,
                                                            octets_.subspan(view_.l4_offset, datagram)) == 0;
    }
    if (view_.trimmed) out_["trimmed"] = true;
    if (view_.has_bth) return show_roce(datagram);
    if (const auto uet = carried_by(true, view_.destination_port))
      show_uet(*uet, view_.l4_offset, view_.l4_offset + U::kOctets, view_.l4_offset + datagram, view_.source_port);
  }

  // How UET is to be read that has this UDP port, or IP protocol.
  std::optional<UetOptions> carried_by(bool udp, unsigned number) const {
    const UetOptions& said = options_.uet;
    for (const uet::Carrier& c : said.carriers) {
      if (c.udp != udp || c.number != number) continue;
      UetOptions as_said = said;
      as_said.crc = c.crc ? UetCrc::kMsbFirst : UetCrc::kNone;
      as_said.dialect = c.ref_prov ? uet::kRefProv : uet::kStandard;
      return as_said;
    }
    return number == (udp ? unsigned{said.udp_port} : unsigned{said.ip_protocol}) ? std::optional(said) : std::nullopt;
  }

  // The number is anybody's: what is too short for an entropy header is somebody else's experiment.
  void show_uet_native(const UetOptions& options) {
    using E = wire::UetEntropy;
    // wire::parse_frame() has skipped the entropy header behind the number that it knows.
    const std::size_t begin = view_.header_octets - (view_.uet_entropy ? E::kOctets : 0);
    if (!has(begin, E::kOctets) || begin + E::kOctets > std::size_t{view_.l3_offset} + view_.ip_octets) return;
    show_uet(options, begin, begin + E::kOctets, std::size_t{view_.l3_offset} + view_.ip_octets,
             read<E::Entropy>(at(begin)));
  }

  // `l4`: UDP or the entropy header; `end`: of the packet, as UDP or IP says.
  void show_uet(const UetOptions& options, std::size_t l4, std::size_t begin, std::size_t end, std::uint16_t entropy) {
    const std::size_t ip_end = std::size_t{view_.l3_offset} + view_.ip_octets;
    const bool trimmed =
        view_.trimmed || (options.trimmed_dscp && view_.traffic_class_octet >> 2 == *options.trimmed_dscp);
    const bool whole = !trimmed && has(view_.l3_offset, view_.ip_octets);
    const std::size_t there = std::min({end, ip_end, octets_.size()});
    UetOctets uet{.octets = octets_.subspan(begin, there - begin),
                  .packet_octets = (trimmed ? std::min(end, ip_end) : end) - begin,
                  .entropy = entropy,
                  .trimmed = trimmed,
                  .ip_header = at(view_.l3_offset),
                  .l4 = at(l4),
                  .source = view_.source,
                  .destination = view_.destination};
    if (whole) uet.ip = octets_.subspan(view_.l3_offset, view_.ip_octets);
    if (trimmed) out_["trimmed"] = true;
    add_uet(out_, uet, options);
    if (!out_.contains("error") && !trimmed && end != ip_end) fail("bad_length", false);
    if (!whole && out_.contains("error") && (out_["error"] == "headers_cut" || out_["error"] == "too_short"))
      out_["error"] = trimmed ? "trimmed" : "cut";
  }

  // `datagram`: the UDP length.
  void show_roce(std::size_t datagram) {
    const std::size_t begin = view_.l4_offset + wire::Udp::kOctets;
    const std::size_t ip_end = std::size_t{view_.l3_offset} + view_.ip_octets;
    const std::size_t end = std::min({view_.l4_offset + datagram, ip_end, octets_.size()});
    const bool whole = !view_.trimmed && has(view_.l3_offset, view_.ip_octets);
    RoceOctets roce{.octets = octets_.subspan(begin, end - begin), .datagram_octets = datagram - wire::Udp::kOctets};
    if (whole) roce.ip = octets_.subspan(view_.l3_offset, view_.ip_octets);
    add_roce(out_, roce);
    // A datagram that ends before its IP packet does.
    if (!out_.contains("error") && !view_.trimmed && view_.l4_offset + datagram != ip_end) fail("bad_length", false);
    if (out_.contains("error") && (view_.trimmed || !whole) && out_["error"] == "headers_cut")
      out_["error"] = view_.trimmed ? "trimmed" : "cut";
    if (whole && octets_.size() == frame_octets_) show_hpcc_int(octets_.subspan(ip_end));
  }

  // What is behind the IP packet, if it can be in-band telemetry.
  void show_hpcc_int(std::span<const std::byte> rest) {
    using I = wire::HpccInt;
    using H = wire::HpccHop;
    if (rest.size() < I::kOctets || rest.size() != I::kOctets + read<I::NHop>(rest.data()) * H::kOctets) return;
    Json hops = Json::array();
    for (std::size_t hop = I::kOctets; hop < rest.size(); hop += H::kOctets) {
      const std::byte* const h = rest.data() + hop;
      Json j{{"ts_ns", read<H::Ts>(h)},
             {"tx_bytes", std::uint64_t{read<H::TxBytes>(h)} * HopTelemetry::kSentOctets},
             {"queue_bytes", std::uint64_t{read<H::QLen>(h)} * HopTelemetry::kQueueOctets}};
      if (const std::uint32_t rate = wire::kHpccRates[read<H::B>(h)]; rate > 0) j["rate_gbps"] = rate;
      hops.push_back(std::move(j));
    }
    out_["hpcc_int"] = {{"path", read<I::PathId>(rest.data())}, {"hops", std::move(hops)}};
  }

  std::span<const std::byte> octets_;
  std::size_t frame_octets_;
  const DecodeOptions& options_;
  FrameView view_;
  Json out_;
};

}  // namespace

Json decode_frame(std::span<const std::byte> octets, std::size_t frame_octets, const DecodeOptions& options) {
  return Frame(octets, frame_octets, options).decode();
}

}  // namespace railyard::decode
