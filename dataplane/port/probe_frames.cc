#include "dataplane/port/probe_frames.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "dataplane/wire/bth.h"
#include "dataplane/wire/checksum.h"
#include "dataplane/wire/crc32.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/icrc.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/link_header.h"
#include "dataplane/wire/pfc.h"
#include "dataplane/wire/udp.h"

namespace railyard::probe {

using namespace wire;

namespace {

constexpr std::uint16_t kLocalExperimental = 0x88B5;
constexpr MacAddress kTo{{0x02, 0x52, 0x59, 0, 0, 0x02}};
constexpr MacAddress kFrom{{0x02, 0x52, 0x59, 0, 0, 0x01}};
constexpr std::uint32_t kMagic = 0x52594152;
using Number = Field<0, 32>;

// Magic, number, and a pattern that differs with the number.
void fill(std::span<std::byte> out, std::uint32_t number) {
  if (out.size() < 2 * Number::kOctets) return;
  write<Number>(out.data(), kMagic);
  write<Number>(out.data() + Number::kOctets, number);
  for (std::size_t i = 2 * Number::kOctets; i < out.size(); ++i)
    out[i] = static_cast<std::byte>((i * 7 + number * 13) & 0xFF);
}

Octets frame(const LinkHeader& link, std::uint32_t number, std::size_t octets) {
  Octets out(octets);
  std::byte* const at = write_link_header(out.data(), link, kLocalExperimental);
  fill(std::span(out).subspan(static_cast<std::size_t>(at - out.data())), number);
  return out;
}

MacAddress numbered(std::uint32_t number) {
  MacAddress mac = kFrom;
  mac.octets[3] = static_cast<std::uint8_t>(number >> 8 & 0xFF);
  mac.octets[4] = static_cast<std::uint8_t>(number & 0xFF);
  return mac;
}

}  // namespace

Octets plain(std::uint32_t number, std::size_t octets) {
  return frame({.destination = kTo, .source = kFrom}, number, octets);
}

Octets tagged(std::uint32_t number) {
  return frame({.destination = kTo, .source = kFrom, .tagged = true, .pcp = 3, .vid = 100}, number, 128);
}

Octets pfc(std::uint32_t number) {
  Octets out(kMinFrameOctets);
  write_pfc(std::span<std::byte, kMinFrameOctets>(out.data(), kMinFrameOctets), numbered(number),
            {.enable = 0xFF, .quanta = {}});
  return out;
}

Octets pause(std::uint32_t number) {
  Octets out = pfc(number);
  std::byte* const control = out.data() + Ethernet::kOctets;
  write<MacControl::Opcode>(control, mac_control_opcode::kPause);
  write<MacControl::PriorityEnable>(control, 0);  // here: the time, of which this is a part
  return out;
}

Octets roce(std::uint32_t number) { return roce(number, {}); }

Octets roce(std::uint32_t number, const RoceVariant& variant) {
  constexpr std::size_t kPayload = 256;
  constexpr std::uint32_t kSource = 0xC0'00'02'01;  // 192.0.2.1
  constexpr std::uint8_t kDscp = 26;
  const std::size_t datagram = Udp::kOctets + Bth::kOctets + kPayload + kIcrcOctets;
  Octets out(Ethernet::kOctets + Ipv4::kOctets + datagram);
  std::byte* const ip = write_link_header(out.data(), {.destination = kTo, .source = kFrom}, ether_type::kIpv4);
  write<Ipv4::Version>(ip, 4);
  write<Ipv4::IHL>(ip, 5);
  write<Ipv4::DSCP>(ip, kDscp);
  write<Ipv4::ECN>(ip, variant.ecn);
  write<Ipv4::TotalLength>(ip, static_cast<std::uint16_t>(Ipv4::kOctets + datagram));
  write<Ipv4::DF>(ip, 1);
  write<Ipv4::TTL>(ip, 64);
  write<Ipv4::Protocol>(ip, ip_protocol::kUdp);
  write<Ipv4::Source>(ip, kSource);
  write<Ipv4::Destination>(ip, kSource + 1);
  write<Ipv4::HeaderChecksum>(ip, internet_checksum({ip, Ipv4::kOctets}));
  std::byte* const udp = ip + Ipv4::kOctets;
  write<Udp::SourcePort>(udp, 0xC000);
  write<Udp::DestinationPort>(udp, kRoceV2Port);
  write<Udp::Length>(udp, static_cast<std::uint16_t>(datagram));
  std::byte* const bth = udp + Udp::kOctets;
  write<Bth::OpCode>(bth, roce_opcode::kUcSendOnly);
  write<Bth::PKey>(bth, 0xFFFF);
  write<Bth::DestQP>(bth, 2);
  write<Bth::PSN>(bth, number & 0xFFFFFF);
  fill({bth + Bth::kOctets, kPayload}, number);
  write_crc32(out.data() + out.size() - kIcrcOctets, icrc({ip, out.size() - Ethernet::kOctets - kIcrcOctets}));
  if (variant.bad_ip_checksum) ip[Ipv4::HeaderChecksum::kFirstOctet] ^= std::byte{0xFF};
  if (variant.bad_udp_checksum) write<Udp::Checksum>(udp, 0xDEAD);
  return out;
}

bool same(const Octets& sent, const std::byte* received, std::size_t octets) noexcept {
  if (octets < sent.size() || std::memcmp(sent.data(), received, sent.size()) != 0) return false;
  return octets <= std::max(sent.size(), kMinFrameOctets);
}

std::uint32_t number_of(const std::byte* frame, std::size_t octets) noexcept {
  if (octets < kMinFrameOctets || read<Ethernet::EtherType>(frame) != kLocalExperimental) return 0;
  const std::byte* const at = frame + Ethernet::kOctets;
  return read<Number>(at) == kMagic ? read<Number>(at + Number::kOctets) : 0;
}

}  // namespace railyard::probe
