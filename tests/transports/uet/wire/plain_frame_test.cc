#include "transports/uet/wire/plain_frame.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/wire/checksum.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/parse.h"

namespace railyard::uet {
namespace {

using FrameOctets = std::vector<std::byte>;
constexpr std::size_t kIpAt = wire::Ethernet::kOctets;

// With `inner_octets` octets behind UDP, the trailer among them.
FrameOctets plain_frame(const EncapsulationConfig& config, bool v6, std::size_t inner_octets) {
  const OuterHeaders headers{.source_mac = wire::MacAddress{{2, 0, 0, 0, 0, 1}},
                             .next_hop_mac = wire::MacAddress{{2, 0, 0, 0, 0, 2}},
                             .source = wire::IpAddress::parse(v6 ? "2001:db8::1" : "10.0.0.1").value(),
                             .destination = wire::IpAddress::parse(v6 ? "2001:db8::2" : "10.0.0.2").value(),
                             .entropy = 0x4242};
  FrameOctets frame(outer_octets(config, headers) + inner_octets, std::byte{0x19});
  EXPECT_GT(encode_outer(frame, config, headers, inner_octets), 0u);
  return frame;
}

// Whether it was taken, and then said what is said the long way round.
bool agrees(const FrameOctets& octets, std::size_t frame_octets, const EncapsulationConfig& config) {
  const auto plain = take_plain(octets, frame_octets, config);
  if (!plain) return false;
  const auto view = wire::parse_frame(octets, frame_octets);
  EXPECT_TRUE(view);
  if (!view) return true;
  EXPECT_EQ(plain->source, view->source);
  EXPECT_EQ(plain->destination, view->destination);
  EXPECT_EQ(plain->traffic_class_octet, view->traffic_class_octet);
  const auto inner = decapsulate(octets, *view, config);
  EXPECT_TRUE(inner);
  if (!inner) return true;
  EXPECT_EQ(plain->inner.octets.data(), inner->octets.data());
  EXPECT_EQ(plain->inner.octets.size(), inner->octets.size());
  EXPECT_EQ(plain->inner.packet_octets, inner->packet_octets);
  EXPECT_EQ(plain->inner.entropy, inner->entropy);
  EXPECT_EQ(plain->inner.trimmed, inner->trimmed);
  EXPECT_EQ(plain->inner.secured, inner->secured);
  EXPECT_EQ(plain->inner.crc_checked, inner->crc_checked);
  return true;
}

TEST(PlainFrame, IsWhatBuiltInNicsSendEachOther) {
  const EncapsulationConfig config;
  const FrameOctets frame = plain_frame(config, false, 60 + 4096 + kCrcOctets);
  const FrameOctets headers(frame.begin(), frame.begin() + 42 + 60);
  EXPECT_TRUE(agrees(headers, frame.size(), config)) << "payload that is a promise";
  const FrameOctets pending(frame.begin(), frame.end() - kCrcOctets);
  EXPECT_TRUE(agrees(pending, frame.size(), config)) << "a CRC that nobody has made yet";
  EXPECT_FALSE(agrees(frame, frame.size(), config)) << "a CRC to be looked at";
  EXPECT_FALSE(agrees(plain_frame(config, true, 100), 200, config)) << "IPv6";
  EXPECT_FALSE(agrees(plain_frame({.udp = false}, false, 100), 200, {.udp = false}));
}

// Whatever an octet of the headers becomes, however much is there: what is taken is taken for what it is.
TEST(PlainFrame, SaysWhatTheParsersSayOrNothing) {
  std::mt19937_64 draw(1);
  std::size_t taken = 0;
  for (int i = 0; i < 100'000; ++i) {
    EncapsulationConfig config{.udp_port = draw() % 4 == 0 ? wire::kRoceV2Port : wire::kUetPort,
                               .crc = draw() % 2 == 0};
    if (draw() % 2 == 0) config.dscp.trimmed = static_cast<std::uint8_t>(draw() % 4);
    if (draw() % 2 == 0) config.dscp.trimmed_lasthop = static_cast<std::uint8_t>(4 + draw() % 4);
    FrameOctets frame = plain_frame(config, draw() % 16 == 0, draw() % 80);
    const std::size_t frame_octets = frame.size() + draw() % 3;
    for (std::size_t n = draw() % 3; n > 0; --n)
      frame[kIpAt - 2 + draw() % std::min<std::size_t>(32, frame.size() - kIpAt + 2)] ^=
          static_cast<std::byte>(draw() % 4 == 0 ? draw() : 1u << draw() % 8);
    if (draw() % 4 != 0) {
      std::byte* const ip = frame.data() + kIpAt;
      wire::write<wire::Ipv4::HeaderChecksum>(ip, 0);
      wire::write<wire::Ipv4::HeaderChecksum>(ip, wire::internet_checksum({ip, wire::Ipv4::kOctets}));
    }
    frame.resize(draw() % 2 == 0 ? frame.size() : draw() % (frame.size() + 4));
    // Its own block: one octet too far is an error of the sanitizer.
    if (agrees(FrameOctets(frame), frame_octets, config)) ++taken;
    if (testing::Test::HasFailure()) FAIL() << i;
  }
  EXPECT_GT(taken, 5'000u);
}

}  // namespace
}  // namespace railyard::uet
