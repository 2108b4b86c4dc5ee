#include "dataplane/wire/icrc.h"

#include <set>

#include <gtest/gtest.h>

#include "dataplane/wire/bth.h"
#include "dataplane/wire/checksum.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/ipv6.h"
#include "dataplane/wire/parse.h"
#include "dataplane/wire/udp.h"
#include "tests/dataplane/wire/corpus.h"
#include "tests/dataplane/wire/roce_vectors.h"

namespace railyard::wire {
namespace {

// The packet from the IP header to the ICRC.
Octets packet(std::string_view name) {
  const Octets frame = corpus_frame(name);
  const FrameView view = parse_frame(frame).value();
  return first(frame.data() + view.l3_offset, view.ip_octets);
}

class RoceVectors : public testing::TestWithParam<RoceVector> {};
INSTANTIATE_TEST_SUITE_P(, RoceVectors, testing::ValuesIn(kRoceVectors),
                         [](const auto& vector) { return std::string(vector.param.name); });

TEST_P(RoceVectors, DecodesAndVerifies) {
  const Octets frame = corpus_frame(GetParam().name);
  const FrameView view = parse_frame(frame).value();
  EXPECT_TRUE(view.has_bth);
  EXPECT_EQ(view.opcode, GetParam().opcode);
  EXPECT_EQ(view.destination_qp, GetParam().destination_qp);
  EXPECT_EQ(view.psn, GetParam().psn);
  EXPECT_EQ(view.l3_offset + view.ip_octets, frame.size());
  EXPECT_TRUE(icrc_matches(packet(GetParam().name)));
}

// Every header is put together again from its fields, the ICRC computed anew.
TEST_P(RoceVectors, ReencodesToTheSameOctets) {
  const Octets whole = packet(GetParam().name);
  const FrameView view = parse_frame(corpus_frame(GetParam().name)).value();
  const std::byte* const ip = whole.data();
  const std::byte* const udp = ip + (view.l4_offset - view.l3_offset);
  const std::byte* const bth = udp + Udp::kOctets;

  Octets made =
      view.kind == FrameKind::kIpv4
          ? reencoded<Ipv4::kOctets, Ipv4::Version, Ipv4::IHL, Ipv4::DSCP, Ipv4::ECN, Ipv4::TotalLength,
                      Ipv4::Identification, Ipv4::Reserved, Ipv4::DF, Ipv4::MF, Ipv4::FragmentOffset, Ipv4::TTL,
                      Ipv4::Protocol, Ipv4::HeaderChecksum, Ipv4::Source, Ipv4::Destination>(ip)
          : reencoded<Ipv6::kOctets, Ipv6::Version, Ipv6::DSCP, Ipv6::ECN, Ipv6::FlowLabel, Ipv6::PayloadLength,
                      Ipv6::NextHeader, Ipv6::HopLimit, Ipv6::Source, Ipv6::Destination>(ip);
  const auto append = [&made](const Octets& octets) { made.insert(made.end(), octets.begin(), octets.end()); };
  append(reencoded<Udp::kOctets, Udp::SourcePort, Udp::DestinationPort, Udp::Length, Udp::Checksum>(udp));
  append(reencoded<Bth::kOctets, Bth::OpCode, Bth::SE, Bth::MigReq, Bth::PadCnt, Bth::TVer, Bth::PKey, Bth::FECN,
                   Bth::BECN, Bth::Resv6, Bth::DestQP, Bth::AckReq, Bth::Resv7, Bth::PSN>(bth));
  append(Octets(bth + Bth::kOctets, whole.data() + whole.size() - kIcrcOctets));
  Octets trailer(kIcrcOctets);
  write_crc32(trailer.data(), icrc(made));
  EXPECT_EQ(to_hex(trailer), GetParam().icrc);
  append(trailer);
  EXPECT_EQ(to_hex(made), to_hex(whole));
}

TEST_P(RoceVectors, CanBeHadInPieces) {
  const Octets whole = packet(GetParam().name);
  const FrameView view = parse_frame(corpus_frame(GetParam().name)).value();
  const std::size_t headers = view.header_octets - view.l3_offset;
  Icrc crc{std::span(whole).first(headers)};
  EXPECT_EQ(~crc.value(), GetParam().register_after_bth.value_or(~crc.value()));
  for (std::size_t i = headers; i < whole.size() - kIcrcOctets; ++i) crc.update(std::span(whole).subspan(i, 1));
  EXPECT_EQ(crc.value(), read_crc32(whole.data() + whole.size() - kIcrcOctets));
}

// roce-and-lossless.md §18 item 2.
TEST(Icrc, CoversEveryBitButThoseThatRoutersChange) {
  const std::set<std::size_t> uncovered = {1, 8, 10, 11, 26, 27, 32};
  const Octets original = packet("roce_write_only");
  for (std::size_t bit = 0; bit < 8 * original.size(); ++bit) {
    Octets changed = original;
    changed[bit / 8] ^= static_cast<std::byte>(0x80 >> bit % 8);
    EXPECT_EQ(icrc_matches(changed), uncovered.contains(bit / 8)) << "octet " << bit / 8 << ", bit " << bit % 8;
  }
}

TEST(Icrc, OverIpv6CoversEveryBitButThoseThatRoutersChange) {
  const Octets original = packet("roce_send_only_imm_ipv6");
  for (std::size_t bit = 0; bit < 8 * original.size(); ++bit) {
    Octets changed = original;
    changed[bit / 8] ^= static_cast<std::byte>(0x80 >> bit % 8);
    const std::size_t octet = bit / 8;
    const bool class_or_flow_label = bit >= 4 && bit < 32;
    const bool covered = !class_or_flow_label && octet != 7 && octet != 46 && octet != 47 && octet != 52;
    EXPECT_EQ(icrc_matches(changed), !covered) << "octet " << octet << ", bit " << bit % 8;
  }
}

// roce-and-lossless.md §18 item 3: 58 octets of frame, padded to 60; the ICRC is where the IP length says.
TEST(Icrc, IsFoundInFrontOfEthernetPadding) {
  Octets frame = corpus_frame("roce_ack");
  std::byte* const ip = frame.data() + 14;
  frame.erase(frame.begin() + 54, frame.begin() + 58);  // the AETH: a SEND Only without data is left
  write<Bth::OpCode>(ip + 28, roce_opcode::kRcSendOnly);
  write<Udp::Length>(ip + 20, 24);
  write<Ipv4::TotalLength>(ip, 44);
  write<Ipv4::HeaderChecksum>(ip, 0);
  write<Ipv4::HeaderChecksum>(ip, internet_checksum({ip, Ipv4::kOctets}));
  write_crc32(ip + 40, icrc({ip, 40}));
  ASSERT_EQ(frame.size(), 58u);
  frame.resize(60);

  const FrameView view = parse_frame(frame).value();
  EXPECT_TRUE(icrc_matches(std::span(frame).subspan(view.l3_offset, view.ip_octets)));
  EXPECT_FALSE(icrc_matches(std::span(frame).subspan(view.l3_offset)));
}

TEST(Icrc, OfATruncatedPacketDoesNotMatch) {
  for (const RoceVector& vector : kRoceVectors) {
    const Octets whole = packet(vector.name);
    for (std::size_t n = 0; n < whole.size(); ++n) EXPECT_FALSE(icrc_matches(first(whole.data(), n))) << n;
  }
}

TEST(Icrc, BehindIpOptionsMasksTheRightUdpAndBth) {
  Octets headers = packet("roce_write_only");
  headers.resize(40);
  headers.insert(headers.begin() + 20, 4, std::byte{1});  // four no-operations
  write<Ipv4::IHL>(headers.data(), 6);
  const std::uint32_t value = Icrc(headers).value();
  EXPECT_EQ(icrc(headers), value);
  std::byte* const udp = headers.data() + 24;
  write<Udp::Checksum>(udp, 0x1234);
  write<Bth::BECN>(udp + Udp::kOctets, 1);
  EXPECT_EQ(icrc(headers), value);
  headers[20] = std::byte{0};
  EXPECT_NE(icrc(headers), value);
}

}  // namespace
}  // namespace railyard::wire
