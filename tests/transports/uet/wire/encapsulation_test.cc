#include "transports/uet/wire/encapsulation.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "dataplane/wire/checksum.h"
#include "dataplane/wire/ipv4.h"
#include "tests/transports/uet/wire/vectors.h"
#include "transports/uet/wire/profile.h"
#include "transports/uet/wire/tss.h"

namespace railyard::uet {
namespace {

using wire::Octets;
using wire::to_hex;

constexpr std::size_t kIp = wire::Ethernet::kOctets;
constexpr EncapsulationConfig kUdp{};
constexpr EncapsulationConfig kNative{.udp = false};

OuterHeaders outer(bool v6 = false) {
  const wire::MacAddress initiator{{2, 0, 0, 0, 0, 1}};
  const wire::MacAddress target{{2, 0, 0, 0, 0, 2}};
  return {.source_mac = initiator,
          .next_hop_mac = target,
          .source = wire::IpAddress::parse(v6 ? "2001:db8::1" : "10.0.0.1").value(),
          .destination = wire::IpAddress::parse(v6 ? "2001:db8::2" : "10.0.0.2").value(),
          .entropy = 0x4242};
}

// A whole frame around `inner`.
Octets framed(const EncapsulationConfig& config, const OuterHeaders& headers, const Octets& inner) {
  Octets frame(outer_octets(config, headers));
  EXPECT_EQ(encode_outer(frame, config, headers, inner.size() + config.trailer_octets()), frame.size());
  frame.insert(frame.end(), inner.begin(), inner.end());
  if (config.crc) {
    const std::uint32_t crc = crc_of(std::span(frame).subspan(kIp));
    frame.resize(frame.size() + kCrcOctets);
    write_crc(frame.data() + frame.size() - kCrcOctets, crc, config.crc_msb_first);
  }
  return frame;
}

std::expected<Inner, NotUet> taken_out(const Octets& frame, const EncapsulationConfig& config) {
  return decapsulate(frame, wire::parse_frame(frame).value(), config);
}

// UET page §15: E1, E2 and E7 are whole frames.
TEST(Encapsulation, TheWorkedExamples) {
  OuterHeaders answer = outer();
  std::swap(answer.source_mac, answer.next_hop_mac);
  std::swap(answer.source, answer.destination);
  answer.dscp = kUdp.dscp.control;
  answer.ecn = wire::Ecn::kNotEct;
  EXPECT_EQ(to_hex(framed(kUdp, outer(), vector_packet("e1_write_syn"))), to_hex(vector_octets("e1_write_syn")));
  EXPECT_EQ(to_hex(framed(kUdp, answer, vector_packet("e2_ack"))), to_hex(vector_octets("e2_ack")));
  EXPECT_EQ(to_hex(framed(kNative, outer(), vector_packet("e7_tagged_send_ipv4"))),
            to_hex(vector_octets("e7_tagged_send_ipv4")));
  EXPECT_EQ(to_hex(framed(kNative, outer(true), vector_packet("e7_tagged_send_ipv6"))),
            to_hex(vector_octets("e7_tagged_send_ipv6")));
}

TEST(Encapsulation, AnyOfThemIsTakenOutAgain) {
  const Octets packet = vector_packet("e1_write_syn");
  for (const bool udp : {true, false})
    for (const bool v6 : {true, false})
      for (const bool crc : {true, false})
        for (const bool msb : {true, false})
          for (const std::uint16_t port : {std::uint16_t{4793}, std::uint16_t{49150}})
            for (const std::uint8_t protocol : {std::uint8_t{253}, std::uint8_t{254}}) {
              const EncapsulationConfig config{
                  .udp = udp, .udp_port = port, .ip_protocol = protocol, .crc = crc, .crc_msb_first = msb};
              const Octets frame = framed(config, outer(v6), packet);
              const auto inner = taken_out(frame, config);
              ASSERT_TRUE(inner) << name(inner.error());
              EXPECT_EQ(to_hex(inner->octets), to_hex(packet));
              EXPECT_EQ(inner->packet_octets, packet.size());
              EXPECT_EQ(inner->entropy, 0x4242);
              EXPECT_EQ(inner->crc_checked, crc);
              EXPECT_EQ(inner->trimmed, Trimmed::kNo);
              EXPECT_FALSE(inner->secured);

              // And by nobody who expects another.
              EncapsulationConfig other = config;
              other.udp = !udp;
              EXPECT_EQ(taken_out(frame, other).error(), NotUet::kOther);
              other = config;
              ++other.udp_port;
              ++other.ip_protocol;
              EXPECT_EQ(taken_out(frame, other).error(), NotUet::kOther);
            }
}

TEST(Encapsulation, TheCrcCoversAddressesEntropyAndPayloadAndNothingThatRoutersChange) {
  const Octets packet = vector_packet("e1_write_syn");
  for (const bool v6 : {false, true}) {
    const Octets frame = framed(kUdp, outer(v6), packet);
    const wire::FrameView view = wire::parse_frame(frame).value();
    const std::size_t source = kIp + (v6 ? 8 : 12);
    for (std::size_t at = kIp; at < frame.size(); ++at) {
      Octets damaged = frame;
      damaged[at] ^= std::byte{1};
      // As the frame was taken for before the octet changed: lengths and ports are another matter.
      const auto udp_length = std::size_t{view.l4_offset} + 4;
      if (at == udp_length || at == udp_length + 1) continue;
      const auto inner = decapsulate(damaged, view, kUdp);
      EXPECT_EQ(inner.has_value(), at < source) << at;
      if (!inner) {
        EXPECT_EQ(inner.error(), NotUet::kBadCrc);
      }
    }
  }
}

TEST(Encapsulation, TheOrderOfTheCrcsOctetsIsAMatterOfAgreement) {
  Octets octets(4);
  write_crc(octets.data(), 0xE3069283, true);
  EXPECT_EQ(to_hex(octets), "e3069283");
  EXPECT_EQ(read_crc(octets.data(), true), 0xE3069283u);
  write_crc(octets.data(), 0xE3069283, false);
  EXPECT_EQ(to_hex(octets), "839206e3");
  EXPECT_EQ(read_crc(octets.data(), false), 0xE3069283u);
  const Octets frame = framed(kUdp, outer(), vector_packet("e1_write_syn"));
  EXPECT_EQ(taken_out(frame, {.crc_msb_first = false}).error(), NotUet::kBadCrc);
}

// Of a payload that is a promise there is nothing to check.
TEST(Encapsulation, WithoutAllOctetsTheCrcIsNotChecked) {
  const Octets frame = vector_octets("e1_write_syn");
  const wire::FrameView view = wire::parse_frame(frame).value();
  const Octets headers(frame.begin(), frame.begin() + 42 + 56);
  const auto inner = decapsulate(headers, view, kUdp);
  ASSERT_TRUE(inner);
  EXPECT_FALSE(inner->crc_checked);
  EXPECT_EQ(inner->octets.size(), 56u);
  EXPECT_EQ(inner->packet_octets, 72u);
  EXPECT_EQ(decode(inner->octets, inner->packet_octets)->payload_octets, 16u);
}

// UET page §10.4: cut behind the longest PDS header of a request; the IP length is that of what is left, the UDP length
// that of the whole.
Octets trimmed(std::uint8_t dscp) {
  Octets frame = vector_octets("e1_write_syn");
  frame.resize(kIp + 20 + 24);
  std::byte* const ip = frame.data() + kIp;
  wire::write<wire::Ipv4::DSCP>(ip, dscp);
  wire::write<wire::Ipv4::TotalLength>(ip, static_cast<std::uint16_t>(frame.size() - kIp));
  wire::write<wire::Ipv4::HeaderChecksum>(ip, 0);
  wire::write<wire::Ipv4::HeaderChecksum>(ip, wire::internet_checksum({ip, 20}));
  return frame;
}

TEST(Encapsulation, ATrimmedPacketIsSeenBeforeItsCrcAndLengths) {
  const EncapsulationConfig config{.dscp = {.trimmed = 12, .trimmed_lasthop = 14}};
  for (const auto& [dscp, expected] : {std::pair<std::uint8_t, Trimmed>{12, Trimmed::kTrimmed},
                                       {14, Trimmed::kTrimmedLasthop},
                                       {0, Trimmed::kTrimmed}}) {
    const Octets frame = trimmed(dscp);
    const auto inner = taken_out(frame, config);
    ASSERT_TRUE(inner) << name(inner.error());
    EXPECT_EQ(inner->trimmed, expected);
    EXPECT_EQ(inner->octets.size(), 16u);
    EXPECT_EQ(std::get<PdsRequestValues>(decode_pds(inner->octets).value()).psn, 0x12345u);
    EXPECT_FALSE(inner->crc_checked);
  }
}

TEST(Encapsulation, ASecuredPacketHasAnIcvAndNoCrc) {
  Octets secured = vector_octets("e13_tss");
  secured.resize(secured.size() + 100 + kIcvOctets);
  EncapsulationConfig config = kUdp;
  config.crc = false;
  const Octets frame = framed(config, outer(), secured);
  const auto inner = taken_out(frame, kUdp);
  ASSERT_TRUE(inner) << name(inner.error());
  EXPECT_TRUE(inner->secured);
  EXPECT_FALSE(inner->crc_checked);
  EXPECT_EQ(inner->packet_octets, 112u);
  EXPECT_EQ(decode_tss(inner->octets)->counter, 42u);
}

TEST(Encapsulation, WhatIsNotForThisSideSaysWhy) {
  Octets longer = vector_octets("e1_write_syn");
  longer.resize(longer.size() + 4);  // the MAC's padding is none of IP
  EXPECT_TRUE(taken_out(longer, kUdp));

  Octets short_udp = framed({.crc = false}, outer(), vector_packet("e2_ack"));
  wire::write<wire::Udp::Length>(short_udp.data() + kIp + 20, 20);
  EXPECT_EQ(taken_out(short_udp, {.crc = false}).error(), NotUet::kBadLength);

  EXPECT_EQ(taken_out(framed({.crc = false}, outer(), Octets(3)), kUdp).error(), NotUet::kTooShort);
  EXPECT_EQ(taken_out(framed({.udp = false, .crc = false}, outer(), Octets(3)), kNative).error(), NotUet::kTooShort);
  for (const std::uint8_t protocol : {std::uint8_t{253}, std::uint8_t{254}}) {
    EncapsulationConfig config{.udp = false, .ip_protocol = protocol, .crc = false};
    Octets no_entropy = framed(config, outer(), {});
    wire::write<wire::Ipv4::TotalLength>(no_entropy.data() + kIp, 23);
    wire::write<wire::Ipv4::HeaderChecksum>(no_entropy.data() + kIp, 0);
    wire::write<wire::Ipv4::HeaderChecksum>(no_entropy.data() + kIp,
                                            wire::internet_checksum({no_entropy.data() + kIp, 20}));
    EXPECT_EQ(taken_out(no_entropy, config).error(), NotUet::kTooShort) << int{protocol};
  }
}

TEST(Encapsulation, AnyCutHasAnAnswer) {
  for (const char* name : {"e1_write_syn", "e2_ack", "e7_tagged_send_ipv4", "e7_tagged_send_ipv6"}) {
    const Octets frame = vector_octets(name);
    for (std::size_t n = 0; n <= frame.size(); ++n) {
      const Octets cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(n));
      for (const std::size_t said : {n, frame.size()}) {
        const auto view = wire::parse_frame(cut, said);
        if (!view) continue;
        for (const EncapsulationConfig& config : {kUdp, kNative, EncapsulationConfig{.crc = false},
                                                  EncapsulationConfig{.udp = false, .ip_protocol = 17, .crc = false}}) {
          const auto inner = decapsulate(cut, *view, config);
          if (inner) (void)decode(inner->octets, inner->packet_octets);
        }
      }
    }
  }
}

TEST(Encapsulation, WhatDoesNotFitIsNotWritten) {
  Octets out(outer_octets(kUdp, outer()) - 1);
  EXPECT_EQ(encode_outer(out, kUdp, outer(), 100), 0u);
  out.resize(100);
  EXPECT_NE(encode_outer(out, kUdp, outer(), 65535 - 28), 0u);
  EXPECT_EQ(encode_outer(out, kUdp, outer(), 65536 - 28), 0u);
  EXPECT_NE(encode_outer(out, kUdp, outer(true), 65535 - 8), 0u);
  EXPECT_EQ(encode_outer(out, kUdp, outer(true), 65536 - 8), 0u);
}

// UET page §12.
TEST(Profiles, TheReferenceProviders) {
  const Profile& p = kRefProvProfile;
  EXPECT_FALSE(p.encapsulation.udp);
  EXPECT_EQ(p.encapsulation.ip_protocol, 253);
  EXPECT_TRUE(p.encapsulation.crc);
  EXPECT_EQ(p.encapsulation.dscp.control, 46);
  EXPECT_EQ(p.payload_mtu, 1024u);
  EXPECT_EQ(p.first_resource_index, 15);
  EXPECT_EQ(p.window, 128u);
  EXPECT_TRUE(p.dialect.rtr_own_token_first);
  EXPECT_FALSE(p.ack_cc);
  EXPECT_FALSE(p.keep_alive) << "it does not know NOOPs";
  EXPECT_TRUE(kStandardProfile.encapsulation.udp);
}

}  // namespace
}  // namespace railyard::uet
