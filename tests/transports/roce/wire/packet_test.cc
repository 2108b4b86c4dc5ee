#include "transports/roce/wire/packet.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "dataplane/wire/parse.h"
#include "dataplane/wire/udp.h"
#include "tests/dataplane/wire/corpus.h"
#include "tests/dataplane/wire/roce_vectors.h"
#include "transports/roce/wire/syndrome.h"

namespace railyard::roce {
namespace {

using wire::corpus_frame;
using wire::hex;
using wire::Octets;
using wire::to_hex;

// A frame of the corpus, from the BTH to the ICRC.
std::span<const std::byte> datagram_of(const Octets& frame) {
  const wire::FrameView view = wire::parse_frame(frame).value();
  const std::size_t at = view.l4_offset + wire::Udp::kOctets;
  return std::span(frame).subspan(at, view.l3_offset + view.ip_octets - at);
}
Packet vector_of(std::string_view name) { return decode(datagram_of(corpus_frame(name))).value(); }
std::span<const std::byte> payload_of(std::span<const std::byte> datagram, const Packet& packet) {
  return datagram.subspan(packet.header_octets(), packet.payload_octets);
}

// roce-and-lossless.md §3.3.
TEST(RocePacket, Vector1IsACnp) {
  const Packet packet = vector_of("roce_cnp_connectx4");
  EXPECT_EQ(packet.bth, cnp_bth(0x118));
  EXPECT_EQ(packet.cnp_reserved, CnpReserved{});
  EXPECT_EQ(packet.payload_octets, 0u);
  EXPECT_EQ(packet.octets(), 32u);
}

TEST(RocePacket, Vector2IsAUcSendWithPadding) {
  const Octets frame = corpus_frame("roce_uc_send_only");
  const Packet packet = decode(datagram_of(frame)).value();
  EXPECT_EQ(packet.bth, (BthValues{.opcode = 0x24, .pad_cnt = 2, .dest_qp = 0xD3, .psn = 0xCF1710}));
  EXPECT_EQ(packet.payload_octets, 18u);
  EXPECT_EQ(to_hex(payload_of(datagram_of(frame), packet)), "4630818be28935d90e9a95505401be885e50");
}

TEST(RocePacket, Vector3IsAnRcWriteOfHello) {
  const Octets frame = corpus_frame("roce_write_only");
  const Packet packet = decode(datagram_of(frame)).value();
  EXPECT_EQ(packet.bth, (BthValues{.opcode = 0x0A, .pad_cnt = 3, .dest_qp = 0x12, .ack_req = true, .psn = 0x100}));
  EXPECT_EQ(packet.reth, (RethValues{.virtual_address = 0x7F0000001000, .r_key = 0x1234, .dma_length = 5}));
  EXPECT_EQ(to_hex(payload_of(datagram_of(frame), packet)), "68656c6c6f");
}

TEST(RocePacket, Vector4IsAnRcSendWithImmediateOverIpv6) {
  const Packet packet = vector_of("roce_send_only_imm_ipv6");
  EXPECT_EQ(packet.bth,
            (BthValues{.opcode = 0x05, .solicited = true, .dest_qp = 0x12, .ack_req = true, .psn = 0xFFFFFE}));
  EXPECT_EQ(packet.imm_dt.immediate, 0xDEADBEEFu);
  EXPECT_EQ(packet.payload_octets, 8u);
}

// roce-and-lossless.md §3.4.
TEST(RocePacket, AnAck) {
  const Packet packet = vector_of("roce_ack");
  EXPECT_EQ(packet.bth, (BthValues{.opcode = 0x11, .dest_qp = 0x11, .psn = 0x100}));
  EXPECT_EQ(packet.aeth.msn, 1u);
  EXPECT_EQ(parse_syndrome(packet.aeth.syndrome), Syndrome::ack(kNoCreditLimit));
  EXPECT_EQ(packet.octets(), 20u);
}

TEST(RocePacket, ANak) {
  const Packet packet = vector_of("roce_nak");
  EXPECT_EQ(packet.bth.psn, 0x102u);
  EXPECT_EQ(packet.aeth.msn, 2u);
  EXPECT_EQ(parse_syndrome(packet.aeth.syndrome), Syndrome::nak(NakCode::kPsnSequenceError));
}

TEST(RocePacket, ACompareSwap) {
  const Packet packet = vector_of("roce_compare_swap");
  EXPECT_EQ(packet.bth.psn, 0x101u);
  EXPECT_EQ(packet.atomic_eth, (AtomicEthValues{.virtual_address = 0x7F0000002000,
                                                .r_key = 0x1234,
                                                .swap_add = 0x1111111122222222,
                                                .compare = 0x3333333344444444}));
  EXPECT_EQ(packet.octets(), 44u);
}

TEST(RocePacket, AReadRequest) {
  const Packet packet = vector_of("roce_read_request");
  EXPECT_EQ(packet.reth, (RethValues{.virtual_address = 0x7F0000001000, .r_key = 0x1234, .dma_length = 10000}));
  EXPECT_EQ(packet.octets(), 32u);
}

TEST(RocePacket, AWriteMiddle) {
  const Packet packet = vector_of("roce_write_middle");
  EXPECT_EQ(packet.bth, (BthValues{.opcode = 0x07, .mig_req = false, .p_key = 1, .dest_qp = 3}));
  EXPECT_EQ(packet.payload_octets, 64u);
}

class RoceDatagrams : public testing::TestWithParam<wire::RoceVector> {};
INSTANTIATE_TEST_SUITE_P(, RoceDatagrams, testing::ValuesIn(wire::kRoceVectors),
                         [](const auto& vector) { return std::string(vector.param.name); });

// The datagram is put together again from the values, and the ICRC computed anew over the whole packet.
TEST_P(RoceDatagrams, EncodeToTheSameOctets) {
  Octets frame = corpus_frame(GetParam().name);
  const wire::FrameView view = wire::parse_frame(frame).value();
  const Octets datagram(datagram_of(frame).begin(), datagram_of(frame).end());
  const Packet packet = decode(datagram).value();
  EXPECT_EQ(packet.bth.opcode, GetParam().opcode);
  EXPECT_EQ(packet.bth.dest_qp, GetParam().destination_qp);
  EXPECT_EQ(packet.bth.psn, GetParam().psn);
  EXPECT_EQ(packet.octets(), datagram.size());

  const auto out = std::span(frame).last(datagram.size());
  std::ranges::fill(out, std::byte{0xA5});
  ASSERT_EQ(encode(out, packet, payload_of(datagram, packet)), datagram.size() - wire::kIcrcOctets);
  const auto ip = std::span(frame).subspan(view.l3_offset, view.ip_octets);
  wire::write_crc32(ip.last<wire::kIcrcOctets>().data(), wire::icrc(ip.first(ip.size() - wire::kIcrcOctets)));
  EXPECT_EQ(to_hex(out), to_hex(datagram));
  EXPECT_EQ(to_hex(out.last<wire::kIcrcOctets>()), GetParam().icrc);
  EXPECT_TRUE(wire::icrc_matches(ip));
}

// roce-and-lossless.md §18 item 5.
TEST_P(RoceDatagrams, CutWithinTheirHeadersAreRefused) {
  const Octets frame = corpus_frame(GetParam().name);
  const auto datagram = datagram_of(frame);
  const std::size_t least = kOpcodes[GetParam().opcode].header_octets + wire::kIcrcOctets;
  for (std::size_t n = 0; n < datagram.size(); ++n) {
    const Octets cut(datagram.begin(), datagram.begin() + static_cast<std::ptrdiff_t>(n));
    const auto packet = decode(cut);
    if (n >= least && packet) {
      EXPECT_EQ(packet->octets(), n);
      continue;
    }
    ASSERT_FALSE(packet) << n;
    EXPECT_EQ(packet.error(), n < 16      ? Malformed::kTooShort
                              : n < least ? Malformed::kHeadersCut
                                          : Malformed::kBadPadding)
        << n;
  }
}

// One datagram of every opcode, made by tests/fuzz/make_corpus.py with a table of its own: extension headers of the
// octets 1, 2, ..., payload behind them.
std::vector<std::pair<std::uint8_t, Octets>> datagrams_of_all_opcodes() {
  std::vector<std::pair<std::uint8_t, Octets>> all;
  for (const auto& file : std::filesystem::directory_iterator(RAILYARD_SOURCE_DIR "/tests/fuzz/corpus/roce_packet")) {
    const std::string name = file.path().stem().string();
    if (!name.starts_with("op_")) continue;
    std::ifstream in(file.path(), std::ios::binary);
    std::ostringstream read;
    read << in.rdbuf();
    const std::string text = read.str();
    const auto octets = std::as_bytes(std::span(text));
    all.emplace_back(static_cast<std::uint8_t>(std::stoul(name.substr(3), nullptr, 16)),
                     Octets(octets.begin(), octets.end()));
  }
  return all;
}

TEST(RocePacket, OfEveryOpcodeDecodesAndEncodesToTheSameOctets) {
  const auto datagrams = datagrams_of_all_opcodes();
  EXPECT_EQ(datagrams.size(), 86u);
  for (const auto& [code, datagram] : datagrams) {
    SCOPED_TRACE(int{code});
    const auto packet = decode(datagram);
    ASSERT_TRUE(packet) << name(packet.error());
    EXPECT_EQ(packet->bth.opcode, code);
    EXPECT_TRUE(has_right_lengths(*packet, packet->info().payload == PayloadRule::kFull ? 5 : 1024));
    const auto payload = payload_of(datagram, *packet);
    if (packet->payload_octets == 5) {
      EXPECT_EQ(to_hex(payload), "68656c6c6f");
    }
    Octets out(datagram.size() - wire::kIcrcOctets);
    EXPECT_EQ(encode(out, *packet, payload), out.size());
    EXPECT_EQ(to_hex(out), to_hex(std::span(datagram).first(out.size())));
  }
}

TEST(RocePacket, HeadersLieInTheOrderOfTheTable) {
  const auto header = [](std::string_view bth_opcode, std::string_view extensions) {
    const Octets datagram =
        hex(std::string(bth_opcode) + "40ffff000000128000 0100" + std::string(extensions) + "00000000");
    return decode(datagram).value();
  };
  const Packet write_imm = header("0b", "00007f0000001000 00001234 00000000 deadbeef");
  EXPECT_EQ(write_imm.reth.virtual_address, 0x7F0000001000u);
  EXPECT_EQ(write_imm.imm_dt.immediate, 0xDEADBEEFu);
  const Packet atomic_ack = header("12", "1f000007 0123456789abcdef");
  EXPECT_EQ(atomic_ack.aeth.msn, 7u);
  EXPECT_EQ(atomic_ack.atomic_ack_eth.original, 0x0123456789ABCDEFu);
  const Packet ud_imm = header("65", "80010000 00000001 deadbeef");
  EXPECT_EQ(ud_imm.deth.q_key, kGsiQKey);
  EXPECT_EQ(ud_imm.deth.source_qp, 1u);
  EXPECT_EQ(ud_imm.imm_dt.immediate, 0xDEADBEEFu);
  const Packet flush = header("1c", "00000013 00007f0000001000 00001234 00000040");
  EXPECT_EQ(flush.feth, (FethValues{.selectivity = 1, .placement_type = 3}));
  EXPECT_EQ(flush.reth.dma_length, 0x40u);
  const Packet xrc_send_inv = header("b7", "00abcdef 00001234");
  EXPECT_EQ(xrc_send_inv.xrc_eth.xrc_srq, 0xABCDEFu);
  EXPECT_EQ(xrc_send_inv.ieth.r_key, 0x1234u);
}

// A datagram without payload and with one extension header of zeros at most.
Octets octets_of_zero(std::uint8_t code, std::size_t n) {
  Octets datagram(n);
  datagram.at(0) = std::byte{code};
  return datagram;
}

TEST(RocePacket, UnknownOpcodesAreRefusedBeforeTheirHeadersAreLookedFor) {
  for (unsigned code = 0; code < 256; ++code) {
    const auto packet = decode(octets_of_zero(static_cast<std::uint8_t>(code), 64));
    ASSERT_EQ(packet.has_value(), kOpcodes[code].known()) << code;
    if (!packet) {
      EXPECT_EQ(packet.error(), Malformed::kUnknownOpcode) << code;
    }
  }
}

TEST(RocePacket, AnotherVersionIsRefused) {
  Octets datagram = octets_of_zero(opcode::kRcSendOnly, 16);
  EXPECT_TRUE(decode(datagram));
  wire::write<wire::Bth::TVer>(datagram.data(), 1);
  EXPECT_EQ(decode(datagram).error(), Malformed::kBadVersion);
}

TEST(RocePacket, MorePaddingThanThereIsIsRefused) {
  for (std::size_t behind = 0; behind < 4; ++behind)
    for (std::uint8_t pad = 0; pad < 4; ++pad) {
      Octets datagram = octets_of_zero(opcode::kRcSendOnly, 16 + behind);
      wire::write<wire::Bth::PadCnt>(datagram.data(), pad);
      const auto packet = decode(datagram);
      ASSERT_EQ(packet.has_value(), pad <= behind);
      if (!packet) {
        EXPECT_EQ(packet.error(), Malformed::kBadPadding);
      } else {
        EXPECT_EQ(packet->payload_octets, behind - pad);
        // ... and what a responder answers with NAK invalid request:
        EXPECT_EQ(has_right_lengths(*packet, 1024), pad == pad_octets(behind - pad));
      }
    }
}

TEST(RocePacket, AResponseWithoutPayloadEndsBehindItsHeaders) {
  for (unsigned code = 0; code < 256; ++code) {
    const OpcodeInfo& info = kOpcodes[code];
    if (!info.known()) continue;
    for (const std::size_t behind : {0u, 1u, 4u, 84u}) {
      const auto packet =
          decode(octets_of_zero(static_cast<std::uint8_t>(code), info.header_octets + behind + wire::kIcrcOctets));
      ASSERT_TRUE(packet) << code;
      const bool fixed = info.operation == Operation::kAcknowledge || info.operation == Operation::kAtomicAcknowledge ||
                         info.operation == Operation::kCnp;
      EXPECT_EQ(runs_on(*packet), fixed && behind > 0) << info.name << " with " << behind;
    }
  }
  Octets padded = octets_of_zero(opcode::kCnp, 32 + 4);
  wire::write<wire::Bth::PadCnt>(padded.data(), 3);
  padded.resize(padded.size() - 1);
  EXPECT_TRUE(runs_on(decode(padded).value())) << "padding only";
}

TEST(RocePacket, ReservedSyndromesAreRefused) {
  for (unsigned syndrome = 0; syndrome < 256; ++syndrome) {
    Octets datagram = octets_of_zero(opcode::kRcAcknowledge, 20);
    datagram[12] = std::byte{static_cast<std::uint8_t>(syndrome)};
    const bool reserved = syndrome >= 0x80 || (syndrome >= 0x40 && syndrome < 0x60);
    const auto packet = decode(datagram);
    ASSERT_EQ(packet.has_value(), !reserved) << syndrome;
    if (reserved) {
      EXPECT_EQ(packet.error(), Malformed::kReservedSyndrome);
    } else {
      EXPECT_EQ(packet->aeth.syndrome, syndrome);
    }
  }
}

TEST(RocePacket, ReservedBitsDoNotMatterAndAreKept) {
  Octets datagram = hex("64 40 ffff bf 000012 7f 000100  11111111 a5 000007  00000000");
  const Packet packet = decode(datagram).value();
  EXPECT_EQ(packet.bth.resv6, 0x3F);
  EXPECT_TRUE(packet.bth.fecn);
  EXPECT_EQ(packet.bth.resv7, 0x7F);
  EXPECT_FALSE(packet.bth.ack_req);
  EXPECT_EQ(packet.deth.reserved, 0xA5);
  Octets out(20);
  EXPECT_EQ(encode(out, packet, {}), 20u);
  EXPECT_EQ(to_hex(out), to_hex(std::span(datagram).first(20)));
}

// The payload of a built-in endpoint is a promise: only the headers are there.
TEST(RocePacket, PayloadNeedNotBeThere) {
  const Octets frame = corpus_frame("roce_write_only");
  const auto datagram = datagram_of(frame);
  const Packet whole = decode(datagram).value();
  const Octets headers(datagram.begin(), datagram.begin() + 28);
  EXPECT_EQ(decode(headers, datagram.size()), whole);
  EXPECT_EQ(decode(std::span(headers).first(27), datagram.size()).error(), Malformed::kHeadersCut);
  Octets out(28);
  EXPECT_EQ(encode_headers(out, whole), 28u);
  EXPECT_EQ(to_hex(out), to_hex(headers));
}

TEST(RocePacket, WhatDoesNotFitIsNotWritten) {
  const Packet packet{.bth = {.opcode = opcode::kRcWriteOnly, .pad_cnt = 3}, .payload_octets = 5};
  const Octets payload = hex("68656c6c6f");
  Octets out(36, std::byte{0xA5});
  EXPECT_EQ(encode_headers(std::span(out).first(27), packet), 0u);
  EXPECT_EQ(encode(std::span(out).first(35), packet, payload), 0u);
  EXPECT_EQ(out, Octets(36, std::byte{0xA5}));
  EXPECT_EQ(encode(out, packet, payload), 36u);
  EXPECT_EQ(encode(out, Packet{.bth = {.opcode = 0x15}}, {}), 0u) << "a reserved opcode";
}

TEST(RocePacket, ReasonsHaveNames) {
  EXPECT_EQ(name(Malformed::kTooShort), "too_short");
  EXPECT_EQ(name(Malformed::kReservedSyndrome), "reserved_syndrome");
}

}  // namespace
}  // namespace railyard::roce
