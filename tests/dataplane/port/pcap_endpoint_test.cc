#include "dataplane/port/pcap_endpoint.h"

#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataplane/packet/assemble.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/pfc.h"
#include "tests/support/frames.h"
#include "tests/support/instant.h"
#include "tests/support/temporary_file.h"

namespace railyard {
namespace {

using namespace literals;
using test::FrameSpec;
using test::mac;
using test::TemporaryFile;
using test::VlanTag;
using testing::HasSubstr;
using testing::ThrowsMessage;

using Octets = std::vector<std::byte>;

class PcapEndpointTest : public ::testing::Test {
 protected:
  PcapEndpointTest() {
    for (std::uint8_t i = 0; i < 64; ++i) config.dscp_to_class[i] = i >> 3;
    for (std::uint8_t i = 0; i < 8; ++i) config.pcp_to_class[i] = i;
    config.next_hop_mac = mac(0x42);
  }
  Octets frame(const FrameSpec& spec) {
    Packet* p = test::make_frame(pools[WorkerId{0}], FecTable{}, spec);
    Octets octets;
    assemble(*p, octets);
    pools[WorkerId{0}].release(p);
    return octets;
  }
  void capture_octets(Duration when, const Octets& octets) {
    const std::span<const std::byte> piece(octets);
    writer.write(at(when), {&piece, 1});
  }
  void capture(Duration when, const FrameSpec& spec) { capture_octets(when, frame(spec)); }
  PcapEndpoint endpoint() {
    EXPECT_TRUE(writer.close().has_value());
    config.in = in.name();
    return PcapEndpoint(config);
  }
  // All that it sends in a class at an instant.
  std::vector<Octets> send(PcapEndpoint& e, Instant now, std::uint8_t c) {
    std::array<std::array<std::byte, kMaxHeaderOctets>, 4> room;
    std::array<TxFrame, 4> frames;
    for (std::size_t i = 0; i < 4; ++i) frames[i].header = room[i].data();
    std::vector<Octets> sent;
    for (std::size_t n = 4; n == 4;) {
      n = e.send(now, Priority{c}, frames);
      for (const TxFrame& f : std::span(frames).first(n)) {
        EXPECT_EQ(f.trailer_octets, 0) << "its ICRC is in the capture";
        Octets& o = sent.emplace_back(f.header, f.header + f.header_octets);
        o.insert(o.end(), f.payload.real().begin(), f.payload.real().end());
      }
    }
    return sent;
  }

  PacketPools pools{1, {.elided_limit = 64, .real_limit = 64, .real_octets = 9728}};
  TemporaryFile in{"in.pcap"};
  TemporaryFile out{"out.pcap"};
  PcapWriter writer = PcapWriter::open(in.path()).value();
  PcapEndpointConfig config;
};

TEST_F(PcapEndpointTest, SendsEachFrameAtItsTimeInTheCapture) {
  capture(5_us, {.psn = 0});  // the first one is at 0
  capture(6_us, {.psn = 1});
  capture(9_us, {.psn = 2});
  PcapEndpoint e = endpoint();
  EXPECT_TRUE(e.has_real_payload());
  Readiness r = e.ready(at(0_ns));
  EXPECT_EQ(r.classes, 1 << 3);
  EXPECT_EQ(send(e, at(0_ns), 3).size(), 1u);
  r = e.ready(at(0_ns));
  EXPECT_EQ(r.classes, 0);
  EXPECT_EQ(r.until, at(1_us));
  EXPECT_TRUE(send(e, at(1_us - 1_ps), 3).empty());
  EXPECT_EQ(send(e, at(10_us), 3).size(), 2u);
  r = e.ready(at(10_us));
  EXPECT_EQ(r.classes, 0);
  EXPECT_EQ(r.until, Instant::never());
  EXPECT_EQ(e.counters().sent, 3u);
}

TEST_F(PcapEndpointTest, AsFastAsPossibleAllAreDueAtOnce) {
  for (int i = 0; i < 9; ++i) capture(1_s * i, {.psn = static_cast<std::uint32_t>(i)});
  config.as_fast_as_possible = true;
  PcapEndpoint e = endpoint();
  EXPECT_EQ(e.ready(at(0_ns)).until, Instant::never());
  const auto sent = send(e, at(0_ns), 3);
  ASSERT_EQ(sent.size(), 9u);
  for (std::uint32_t i = 0; i < 9; ++i) EXPECT_EQ(wire::parse_frame(sent[i])->psn, i);
}

TEST_F(PcapEndpointTest, FramesThatAreOutOfOrderInTheFileAreSentInOrderOfTime) {
  capture(5_us, {.psn = 0});
  capture(9_us, {.psn = 2});
  capture(7_us, {.psn = 1});
  capture(3_us, {.psn = 3});  // before the first: as soon as possible
  PcapEndpoint e = endpoint();
  std::vector<std::uint32_t> psns;
  for (const Octets& o : send(e, at(10_us), 3)) psns.push_back(wire::parse_frame(o)->psn);
  EXPECT_EQ(psns, (std::vector<std::uint32_t>{0, 3, 1, 2}));
}

TEST_F(PcapEndpointTest, OnlyTheNextHopIsNew) {
  const Octets unicast = frame({.to = mac(7), .frame_octets = 500});
  const Octets multicast = frame({.to = {{1, 0, 0x5E, 0, 0, 1}}, .frame_octets = 500});
  capture_octets(0_ns, unicast);
  capture_octets(1_ns, multicast);
  PcapEndpoint e = endpoint();
  const auto sent = send(e, at(1_us), 3);
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(wire::read<wire::Ethernet::Destination>(sent[0].data()), mac(0x42));
  EXPECT_TRUE(std::equal(sent[0].begin() + 6, sent[0].end(), unicast.begin() + 6, unicast.end()));
  EXPECT_EQ(sent[1], multicast);
}

TEST_F(PcapEndpointTest, TheClassIsWhatTheNicTrusts) {
  config.default_class = 1;
  const FrameSpec tagged{.dscp = 26, .tag = VlanTag{.vid = 5, .pcp = 6}};
  capture(0_ns, tagged);
  capture(0_ns, {.dscp = 46});
  {
    PcapEndpoint e = endpoint();
    EXPECT_EQ(e.ready(at(0_ns)).classes, 1 << 3 | 1 << 5);
  }
  config.trust_pcp = true;
  PcapEndpoint e(config);
  EXPECT_EQ(e.ready(at(0_ns)).classes, 1 << 6 | 1 << 1);
}

TEST_F(PcapEndpointTest, WhatNoNicWouldSendIsCountedAndLeftOut) {
  Octets bad = frame({});
  bad[14] = std::byte{0x65};  // IPv6's version in an IPv4 packet
  std::array<std::byte, wire::kMinFrameOctets> pause{};
  wire::write_pfc(pause, mac(1), {.enable = 8, .quanta = {}});
  // Of the whole link (802.3x), which no port obeys.
  wire::write<wire::MacControl::Opcode>(pause.data() + wire::Ethernet::kOctets, wire::mac_control_opcode::kPause);
  capture_octets(0_ns, bad);
  capture_octets(1_ns, Octets(pause.begin(), pause.end()));
  capture_octets(2_ns, Octets(10, std::byte{0}));
  capture(3_ns, FrameSpec{});
  PcapEndpoint e = endpoint();
  EXPECT_EQ(e.counters().malformed, 2u);
  EXPECT_EQ(e.counters().not_pfc, 1u);
  EXPECT_EQ(e.not_yet_sent(), 1u);
  EXPECT_EQ(send(e, at(1_us), 3).size(), 1u);
  EXPECT_EQ(e.not_yet_sent(), 0u);
}

TEST_F(PcapEndpointTest, PfcFramesAreMacControlAtTheirTimes) {
  std::array<std::byte, wire::kMinFrameOctets> pause{};
  wire::write_pfc(pause, mac(1), {.enable = 8, .quanta = {0, 0, 0, 77}});
  capture(0_us, FrameSpec{});
  capture_octets(2_us, Octets(pause.begin(), pause.end()));
  capture_octets(1_us, Octets(pause.begin(), pause.begin() + 40));  // as far as the capture has it
  PcapEndpoint e = endpoint();
  std::array<std::byte, kControlOctets> out{};
  EXPECT_FALSE(e.ready(at(0_us)).control);
  EXPECT_FALSE(e.take_control(at(0_us), out));
  send(e, at(0_us), 3);
  EXPECT_EQ(e.ready(at(0_us)).until, at(1_us));
  EXPECT_TRUE(e.ready(at(1_us)).control);
  ASSERT_TRUE(e.take_control(at(1_us), out));
  EXPECT_EQ(out, pause) << "padded to the least frame";
  EXPECT_FALSE(e.take_control(at(1_us), out));
  EXPECT_EQ(e.ready(at(1_us)).until, at(2_us));
  EXPECT_TRUE(e.take_control(at(2_us), out));
  EXPECT_EQ(e.counters().control, 2u);
  EXPECT_EQ(e.counters().sent, 3u);
  EXPECT_EQ(e.ready(at(2_us)).until, Instant::never());
}

TEST_F(PcapEndpointTest, WhatArrivesIsWrittenWholeWithItsTime) {
  config.out = out.name();
  PcapEndpoint e = endpoint();
  Packet* elided = test::make_frame(pools[WorkerId{0}], FecTable{}, {.frame_octets = 900});
  Octets expected;
  assemble(*elided, expected);
  const RxFrame arrived{at(1234567_ns), at(1_us), elided->header_span(), elided->payload(), true};
  EXPECT_TRUE(e.takes_everything());
  EXPECT_FALSE(e.receive({&arrived, 1})) << "nothing is answered";
  pools[WorkerId{0}].release(elided);
  e.close();
  EXPECT_EQ(e.counters().received, 1u);
  const auto written = read_pcap(out.path());
  ASSERT_TRUE(written.has_value());
  ASSERT_EQ(written->size(), 1u);
  EXPECT_EQ(written->front().octets, expected);
  EXPECT_NE(out.octets().find(std::string("\x87\xd6\x12\x00", 4)), std::string::npos) << "1234567 ns";
}

TEST_F(PcapEndpointTest, FilesThatCannotBeAreNamed) {
  config.in = "/nowhere/at-all.pcap";
  EXPECT_THAT([&] { PcapEndpoint{config}; }, ThrowsMessage<std::runtime_error>(HasSubstr("/nowhere/at-all.pcap")));
  config.in.clear();
  config.out = "/nowhere/out.pcap";
  EXPECT_THAT([&] { PcapEndpoint{config}; }, ThrowsMessage<std::runtime_error>(HasSubstr("/nowhere/out.pcap")));
}

}  // namespace
}  // namespace railyard
