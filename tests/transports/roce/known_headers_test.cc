#include "transports/roce/known_headers.h"

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/wire/icrc.h"
#include "transports/roce/path.h"
#include "transports/roce/roce_endpoint.h"

namespace railyard::roce {
namespace {

constexpr std::size_t kDatagram = 16;  // BTH and ICRC

AddressVector between(std::uint32_t source, std::uint32_t destination) {
  return {.source_mac = {{2, 0, 0, 0, 0, 1}},
          .next_hop_mac = {{2, 0, 0, 0, 0, 2}},
          .source = wire::IpAddress(source),
          .destination = wire::IpAddress(destination),
          .source_port = 0xC123};
}

// A frame with an ICRC that is right, for a QP that nobody has.
std::vector<std::byte> frame_of(const AddressVector& av) {
  std::vector<std::byte> frame(Path::kMostOctets + kDatagram);
  const std::size_t front = Path(av, 0).write(frame.data(), kDatagram);
  frame.resize(front + kDatagram);
  Packet packet;
  packet.bth.opcode = opcode::kRcSendOnly;
  packet.bth.dest_qp = 77;
  encode_headers(std::span(frame).subspan(front), packet);
  const std::uint32_t crc = wire::icrc(std::span(frame).subspan(wire::Ethernet::kOctets).first(front + 12 - wire::Ethernet::kOctets));
  std::memcpy(frame.data() + front + 12, &crc, sizeof crc);
  return frame;
}

RxFrame received(const std::vector<std::byte>& frame) {
  return {.at = {}, .sent = {}, .header = frame, .payload = {}, .icrc_pending = false};
}

TEST(KnownHeaders, OnlyTheSameOctetsOfTheSameLengthAreKnown) {
  KnownHeaders known;
  const auto frame = frame_of(between(0x0A000001, 0x0A000002));
  EXPECT_FALSE(known.has(frame, frame.size()));
  known.note(frame, frame.size());
  EXPECT_TRUE(known.has(frame, frame.size()));
  EXPECT_FALSE(known.has(frame, frame.size() + 4)) << "of a longer frame";
  EXPECT_FALSE(known.has(std::span(frame).first(frame.size() - 1), frame.size())) << "of which less is there";
  EXPECT_FALSE(known.has(std::span(frame).first(KnownHeaders::kOctets - 1), frame.size()));
  for (std::size_t i = 0; i < KnownHeaders::kOctets; ++i) {
    auto other = frame;
    other[i] ^= std::byte{0x10};
    EXPECT_FALSE(known.has(other, other.size())) << "octet " << i << " differs";
  }
  auto other = frame;
  other[KnownHeaders::kOctets] ^= std::byte{1};
  EXPECT_TRUE(known.has(other, other.size())) << "the BTH is not among them";
}

TEST(KnownHeaders, WhatIsWrongInAHeaderIsSeenAfterOneThatWasRight) {
  RoceEndpoint endpoint({}, true);
  const auto frame = frame_of(between(0x0A000001, 0x0A000002));
  for (int i = 0; i < 2; ++i) {
    InPacket in;
    EXPECT_EQ(endpoint.receive_one(received(frame), in), Drop::kUnknownQp) << "all is right but the QP";
    EXPECT_EQ(in.source, wire::IpAddress(0x0A000001));
    EXPECT_EQ(in.destination, wire::IpAddress(0x0A000002));
    EXPECT_EQ(in.packet.bth.dest_qp, 77u);
    EXPECT_EQ(in.ip.size(), 20u);
    EXPECT_FALSE(in.ce);
  }
  for (std::size_t i = wire::Ethernet::kOctets; i < KnownHeaders::kUdpAt; ++i) {
    auto other = frame;
    other[i] ^= std::byte{0x10};
    InPacket in;
    EXPECT_EQ(endpoint.receive_one(received(other), in), Drop::kNotRoce) << "octet " << i << ": the checksum is wrong";
  }
  auto other = frame;
  other[KnownHeaders::kUdpAt] ^= std::byte{0x10};
  InPacket in;
  EXPECT_EQ(endpoint.receive_one(received(other), in), Drop::kIcrc) << "another source port";
  auto longer = frame;
  longer.resize(frame.size() + 4);
  InPacket again;
  EXPECT_EQ(endpoint.receive_one(received(longer), again), Drop::kUnknownQp) << "padding of the link behind the packet";
}

TEST(KnownHeaders, AMarkIsSeenAndGoneWithTheNextFrame) {
  RoceEndpoint endpoint({}, true);
  const auto frame = frame_of(between(0x0A000001, 0x0A000002));
  auto marked = frame;
  marked[wire::Ethernet::kOctets + 1] |= std::byte{3};
  // The checksum follows the mark, ECT(0) to CE.
  const auto at = wire::Ethernet::kOctets + 10;
  const auto sum = static_cast<std::uint16_t>((std::to_integer<unsigned>(frame[at]) << 8 | std::to_integer<unsigned>(frame[at + 1])) - 1);
  marked[at] = static_cast<std::byte>(sum >> 8);
  marked[at + 1] = static_cast<std::byte>(sum & 0xFF);
  for (int i = 0; i < 3; ++i) {
    InPacket in;
    EXPECT_EQ(endpoint.receive_one(received(marked), in), Drop::kUnknownQp);
    EXPECT_TRUE(in.ce);
    InPacket next;
    EXPECT_EQ(endpoint.receive_one(received(frame), next), Drop::kUnknownQp);
    EXPECT_FALSE(next.ce);
  }
}

}  // namespace
}  // namespace railyard::roce
