#include "dataplane/port/joined_segments.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/packet/pool.h"
#include "dataplane/wire/parse.h"
#include "tests/dataplane/port/tcp_frame.h"

namespace railyard {
namespace {

using namespace wire;
using test::kAck;
using test::kFin;
using test::kPsh;
using test::kTcp;
using test::Octets;
using test::offload;
using test::tcp_frame;

constexpr std::uint16_t kMss = 1448;
constexpr std::size_t kEthernet = Ethernet::kOctets;
constexpr std::size_t kTcpAt = kEthernet + Ipv4::kOctets;

class JoinedSegmentsTest : public ::testing::Test {
 protected:
  ~JoinedSegmentsTest() override {
    for (Packet* p : packets) pool.release(p);
  }

  Packet* packet(const Octets& frame) { return test::make_frame(pool, fecs, frame); }
  // The segments of a super-frame, as they cross the fabric.
  void segments(const Octets& whole, bool v4) {
    SuperFrame super;
    ASSERT_TRUE(super.start(whole, offload(v4, kMss)));
    while (!super.done()) {
      Octets frame(super.longest());
      frame.resize(super.cut(frame.data()));
      packets.push_back(packet(frame));
    }
  }
  // Changes a segment, whose checksums stay right.
  static void change(Packet& p, const std::function<void(std::byte* frame)>& what) {
    what(p.header());
    std::byte* const ip = p.header() + kEthernet;
    const std::size_t octets = p.header_octets + p.payload_octets - kTcpAt;
    write<Ipv4::HeaderChecksum>(ip, 0);
    write<Ipv4::HeaderChecksum>(ip, internet_checksum({ip, Ipv4::kOctets}));
    write<Tcp::Checksum>(ip + Ipv4::kOctets, 0);
    write<Tcp::Checksum>(ip + Ipv4::kOctets,
                         transport_checksum(IpAddress(read<Ipv4::Source>(ip)), IpAddress(read<Ipv4::Destination>(ip)),
                                            ip_protocol::kTcp, {ip + Ipv4::kOctets, octets}));
  }
  std::size_t joined() {
    JoinedSegments out;
    join_segments(packets, out);
    return out.frames;
  }

  FecTable fecs;
  PacketPools pools{1, {.elided_limit = 64, .real_limit = 256, .real_octets = 9728}};
  PacketPool& pool = pools[WorkerId{0}];
  std::vector<Packet*> packets;
};

TEST_F(JoinedSegmentsTest, WhatWasCutIsTheSuperFrameOfItsSenderAgain) {
  for (const bool v4 : {true, false}) {
    const Octets whole = tcp_frame(v4, 10'000, kAck | kPsh | kFin);
    segments(whole, v4);
    JoinedSegments out;
    join_segments(packets, out);
    ASSERT_EQ(out.frames, 7u);
    const OffloadHeader said = OffloadHeader::read(out.front.data());
    const std::size_t l4 = kEthernet + (v4 ? Ipv4::kOctets : Ipv6::kOctets);
    EXPECT_EQ(said.flags, OffloadHeader::kNeedsChecksum);
    EXPECT_EQ(said.gso_type, v4 ? OffloadHeader::kGsoTcpV4 : OffloadHeader::kGsoTcpV6);
    EXPECT_EQ(said.gso_size, kMss);
    EXPECT_EQ(said.hdr_len, l4 + kTcp);
    EXPECT_EQ(said.csum_start, l4);
    Octets frame(out.front.begin() + sizeof said, out.front.begin() + static_cast<std::ptrdiff_t>(out.front_octets));
    for (std::size_t i = 0; i < out.frames; ++i) {
      const Packet& p = *packets[i];
      frame.insert(frame.end(), p.header() + out.left_out, p.header() + p.header_octets + p.payload_octets);
    }
    complete_checksum(said, frame);
    const auto view = parse_frame(frame);  // lengths, and the IPv4 checksum
    ASSERT_TRUE(view.has_value());
    EXPECT_EQ(transport_checksum(view->source, view->destination, ip_protocol::kTcp, std::span(frame).subspan(l4)), 0);
    Octets expected = whole;
    write<Tcp::Checksum>(expected.data() + l4, read<Tcp::Checksum>(frame.data() + l4));
    EXPECT_EQ(frame, expected);
    for (Packet* p : packets) pool.release(p);
    packets.clear();
  }
}

TEST_F(JoinedSegmentsTest, OneFrameGoesAsItIs) {
  segments(tcp_frame(true, 1000, kAck), true);
  JoinedSegments out;
  join_segments(packets, out);
  EXPECT_EQ(out.frames, 1u);
  EXPECT_EQ(out.left_out, 0u);
  ASSERT_EQ(out.front_octets, sizeof(OffloadHeader));
  const OffloadHeader said = OffloadHeader::read(out.front.data());
  EXPECT_EQ(said.flags, 0);
  EXPECT_EQ(said.gso_type, OffloadHeader::kNoGso);
}

// A receiver acts on these, so it must see them where they are.
TEST_F(JoinedSegmentsTest, AnyDifferenceThatAReceiverWouldSeeEndsIt) {
  const std::vector<std::function<void(std::byte*)>> differences{
      [](std::byte* f) { write<Ipv4::TrafficClass>(f + kEthernet, 3); },                      // CE
      [](std::byte* f) { write<Ipv4::TTL>(f + kEthernet, 7); },                               //
      [](std::byte* f) { write<Ipv4::Identification>(f + kEthernet, 99); },                   //
      [](std::byte* f) { write<Ipv4::Source>(f + kEthernet, 0x0A000009); },                   //
      [](std::byte* f) { write<Tcp::SourcePort>(f + kTcpAt, 9); },                      //
      [](std::byte* f) { write<Tcp::SequenceNumber>(f + kTcpAt, 9); },                  // a gap
      [](std::byte* f) { write<Tcp::AcknowledgmentNumber>(f + kTcpAt, 9); },            //
      [](std::byte* f) { write<Tcp::Window>(f + kTcpAt, 9); },                          //
      [](std::byte* f) { write<Tcp::Flags>(f + kTcpAt, 0x30); },                        // URG
      [](std::byte* f) { write<Tcp::Flags>(f + kTcpAt, 0x50); },                        // ECE
      [](std::byte* f) { write<Tcp::Flags>(f + kTcpAt, 0x90); },                        // CWR
      [](std::byte* f) { f[kTcpAt + Tcp::kOctets] = std::byte{9}; },                    // an option
      [](std::byte* f) { f[5] = std::byte{2}; },                                        // MAC address
  };
  for (std::size_t i = 0; i < differences.size(); ++i) {
    segments(tcp_frame(true, 10'000, kAck), true);
    ASSERT_EQ(joined(), 7u);
    change(*packets[3], differences[i]);
    EXPECT_EQ(joined(), 3u) << "difference " << i;
    for (Packet* p : packets) pool.release(p);
    packets.clear();
  }
}

TEST_F(JoinedSegmentsTest, ASegmentWithAWrongChecksumStaysSo) {
  segments(tcp_frame(true, 10'000, kAck), true);
  packets[3]->header()[1000] ^= std::byte{1};
  EXPECT_EQ(joined(), 3u);
  packets[0]->header()[1000] ^= std::byte{1};
  EXPECT_EQ(joined(), 1u);
}

// PSH and FIN are at the end of a super-frame, so they end it.
TEST_F(JoinedSegmentsTest, PshAndFinEndIt) {
  for (const unsigned flag : {kPsh, kFin}) {
    segments(tcp_frame(true, 10'000, kAck), true);
    change(*packets[2], [&](std::byte* f) { write<Tcp::Flags>(f + kTcpAt, static_cast<std::uint8_t>(kAck | flag)); });
    EXPECT_EQ(joined(), 3u);
    for (Packet* p : packets) pool.release(p);
    packets.clear();
  }
}

TEST_F(JoinedSegmentsTest, AShortSegmentIsTheLast) {
  segments(tcp_frame(true, kMss + 100, kAck), true);
  packets.push_back(packet(tcp_frame(true, kMss, kAck)));
  change(*packets.back(), [](std::byte* f) {
    write<Tcp::SequenceNumber>(f + kTcpAt, test::kSequenceNumber + kMss + 100);
    write<Ipv4::Identification>(f + kEthernet, 1);
  });
  EXPECT_EQ(joined(), 2u);
}

// 45 segments fill an IP packet; another 10 wait for the next.
TEST_F(JoinedSegmentsTest, NoSuperFrameIsLongerThanAnIpPacket) {
  constexpr std::size_t kFull = (65535 - Ipv4::kOctets - kTcp) / kMss;
  for (std::size_t i = 0; i < kFull + 10; ++i) {
    packets.push_back(packet(tcp_frame(true, kMss, kAck)));
    change(*packets.back(), [&](std::byte* f) {
      write<Ipv4::Identification>(f + kEthernet, static_cast<std::uint16_t>(i));
      write<Tcp::SequenceNumber>(f + kTcpAt, static_cast<std::uint32_t>(i * kMss));
    });
  }
  JoinedSegments out;
  join_segments(packets, out);
  EXPECT_EQ(out.frames, kFull);
  join_segments(std::span(packets).subspan(kFull), out);
  EXPECT_EQ(out.frames, 10u);
}

TEST_F(JoinedSegmentsTest, WhatIsNotTcpGoesAsItIs) {
  segments(tcp_frame(true, 10'000, kAck), true);
  for (Packet* p : packets) change(*p, [](std::byte* f) { write<Ipv4::Protocol>(f + kEthernet, ip_protocol::kUdp); });
  EXPECT_EQ(joined(), 1u);
}

}  // namespace
}  // namespace railyard
