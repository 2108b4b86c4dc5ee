#include "transports/uet/wire/packet.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include <gtest/gtest.h>

#include "tests/support/octets_of.h"
#include "tests/transports/uet/wire/random_packet.h"
#include "tests/transports/uet/wire/uet_vectors.h"
#include "tests/transports/uet/wire/vectors.h"

namespace railyard::uet {
namespace {

using wire::Octets;
using wire::to_hex;

constexpr Dialect kDialects[] = {kStandard, kRefProv};

Octets encoded(const Packet& packet, const Dialect& dialect) {
  Octets out(packet.octets(), std::byte{0xEE});
  EXPECT_EQ(encode_headers(out, packet, dialect), packet.header_octets());
  return out;
}

TEST(UetPacket, AnyValuesComeBack) {
  Draw draw(1);
  for (int i = 0; i < 20'000; ++i) {
    const Packet packet = random_packet(draw);
    for (const Dialect& dialect : kDialects) {
      const auto back = decode(encoded(packet, dialect), dialect);
      ASSERT_TRUE(back) << name(back.error()) << " " << i;
      ASSERT_EQ(*back, packet) << i << " " << to_hex(encoded(packet, dialect));
    }
  }
}

// Whatever was decoded there before.
TEST(UetPacket, AreDecodedWhereAnotherOneIs) {
  Draw draw(7);
  Packet used;
  for (int i = 0; i < 20'000; ++i) {
    const Packet packet = random_packet(draw);
    const Octets octets = encoded(packet, kStandard);
    ASSERT_EQ(decode_into(octets, octets.size(), used), std::nullopt) << i;
    ASSERT_EQ(used, packet) << i;
    const Octets cut(octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(draw() % packet.header_octets()));
    ASSERT_EQ(decode_into(cut, cut.size(), used), decode(cut).error()) << i;
  }
}

// Each cut is a block of its own: one octet read too far is an error of the sanitizer.
TEST(UetPacket, CutWithinTheirHeadersAreRefusedAndWithinThePayloadShorter) {
  Draw draw(2);
  for (int i = 0; i < 500; ++i) {
    const Packet packet = random_packet(draw);
    const Octets whole = encoded(packet, kStandard);
    for (std::size_t n = 0; n <= whole.size(); ++n) {
      const Octets cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
      const auto back = decode(cut);
      if (n >= packet.header_octets()) {
        ASSERT_TRUE(back);
        EXPECT_EQ(back->payload_octets, n - packet.header_octets());
        EXPECT_EQ(back->pds, packet.pds);
        EXPECT_EQ(back->ses, packet.ses);
      } else {
        ASSERT_FALSE(back) << n;
        EXPECT_EQ(back.error(), n < 2 ? Malformed::kTooShort : Malformed::kHeadersCut);
      }
    }
  }
}

// What is left of a trimmed packet: its PDS header, and as much of the rest as there happens to be.
TEST(UetPacket, ThePdsHeaderOfATrimmedPacketIsAllThatIsLookedAt) {
  Draw draw(3);
  for (int i = 0; i < 2000; ++i) {
    const Packet packet = random_packet(draw);
    const Octets whole = encoded(packet, kStandard);
    const Octets left(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(octets(packet.pds)));
    const auto pds = decode_pds(left);
    ASSERT_TRUE(pds);
    EXPECT_EQ(*pds, packet.pds);
  }
}

// The payload of a built-in endpoint is a promise: only the headers are there.
TEST(UetPacket, PayloadNeedNotBeThere) {
  Draw draw(4);
  for (int i = 0; i < 2000; ++i) {
    const Packet packet = random_packet(draw);
    const Octets whole = encoded(packet, kStandard);
    const auto end = whole.begin() + static_cast<std::ptrdiff_t>(packet.header_octets());
    const Octets headers(whole.begin(), end), less(whole.begin(), end - 1);
    EXPECT_EQ(decode(headers, whole.size()), packet);
    EXPECT_EQ(decode(less, whole.size()).error(), Malformed::kHeadersCut);
    EXPECT_EQ(decode(whole, headers.size())->payload_octets, 0u);
  }
}

// Whatever octets come, there is an answer; and what a packet says is what is written of it.
TEST(UetPacket, AnyOctetsHaveAnAnswer) {
  Draw draw(5);
  std::array<int, kMalformedReasons> refused{};
  int taken = 0;
  for (int i = 0; i < 50'000; ++i) {
    Octets octets(draw() % 100);
    std::ranges::generate(octets, [&] { return static_cast<std::byte>(draw()); });
    for (const Dialect& dialect : kDialects) {
      const auto packet = decode(octets, dialect);
      if (!packet) {
        ++refused[static_cast<std::size_t>(packet.error())];
        continue;
      }
      ++taken;
      ASSERT_EQ(packet->octets(), octets.size());
      const Octets again = encoded(*packet, dialect);
      const auto back = decode(again, dialect);
      ASSERT_TRUE(back);
      EXPECT_EQ(*back, *packet) << to_hex(octets);
      for (const std::size_t mtu : {std::size_t{0}, std::size_t{1024}}) (void)has_right_length(*packet, mtu);
    }
  }
  EXPECT_GT(taken, 5000);
  for (std::size_t reason = 0; reason < refused.size(); ++reason) {
    if (static_cast<Malformed>(reason) == Malformed::kBadPayloadLength) continue;  // the engine's to say: runs_on()
    EXPECT_GT(refused[reason], 0) << name(static_cast<Malformed>(reason));
  }
}

TEST(UetPacket, WhatDoesNotFitIsNotWritten) {
  Draw draw(6);
  for (int i = 0; i < 500; ++i) {
    const Packet packet = random_packet(draw);
    for (std::size_t n = 0; n < packet.header_octets(); ++n) {
      Octets out(n, std::byte{0xA5});
      ASSERT_EQ(encode_headers(out, packet), 0u);
      ASSERT_EQ(out, Octets(n, std::byte{0xA5}));
    }
    ASSERT_LE(packet.header_octets(), kMostPacketHeaderOctets);
  }
}

// One packet of every kind, made by tests/fuzz/uet_packets.py from the tables of the UET page, without this code.
TEST(UetPacket, OfEveryKindDecodesAndEncodesToTheSameOctets) {
  int packets = 0, secured = 0;
  for (const auto& file : std::filesystem::directory_iterator(RAILYARD_SOURCE_DIR "/tests/fuzz/corpus/uet_packet")) {
    const std::string text = test::octets_of(file.path());
    const auto octets = std::as_bytes(std::span(text));
    const std::string stem = file.path().stem().string();
    SCOPED_TRACE(stem);
    const Dialect& dialect = stem == "ack_expected_psn" ? kRefProv : kStandard;
    const auto packet = decode(octets, dialect);
    if (!packet) {
      EXPECT_EQ(packet.error(), Malformed::kSecured);
      ++secured;
      continue;
    }
    ++packets;
    EXPECT_EQ(packet->octets(), octets.size());
    EXPECT_TRUE(has_right_length(*packet, 1024));
    Octets out(packet->header_octets());
    ASSERT_EQ(encode_headers(out, *packet, dialect), out.size());
    EXPECT_EQ(to_hex(out), to_hex(octets.first(out.size())));
  }
  EXPECT_EQ(packets, 59);
  EXPECT_EQ(secured, 2);
}

TEST(UetPacket, ReservedBitsAreSentAsZeroAndIgnored) {
  Octets octets = vector_packet("e3_write_last");
  const Packet packet = decoded_vector("e3_write_last");
  for (const auto& [at, bits] : {std::pair{1, 0x63},   // flags of a request
                                std::pair{12, 0xC0},  // before the opcode
                                std::pair{20, 0xF0},  // before pid_on_fep
                                std::pair{22, 0xF0},  // before resource_index
                                std::pair{44, 0xFF}, std::pair{45, 0xFF}, std::pair{46, 0xC0}}) {
    octets[static_cast<std::size_t>(at)] |= static_cast<std::byte>(bits);
  }
  EXPECT_EQ(decode(octets), packet);
  Octets out(packet.header_octets(), std::byte{0xFF});
  EXPECT_EQ(encode_headers(out, packet), out.size());
  const Octets example = vector_packet("e3_write_last");
  EXPECT_EQ(to_hex(out), to_hex(std::span(example).first(out.size())));
}

TEST(UetPacket, ThePayloadIsAsLongAsTheHeadersSay) {
  const auto fits = [](std::string_view name, std::size_t payload, std::size_t mtu) {
    Packet packet = decoded_vector(name);
    packet.payload_octets = static_cast<std::uint32_t>(payload);
    return has_right_length(packet, mtu);
  };
  EXPECT_FALSE(fits("e1_write_syn", 15, 1024));
  EXPECT_TRUE(fits("e1_write_syn", 8, 8)) << "the first packet of a longer message is full";
  EXPECT_FALSE(fits("e1_write_syn", 16, 8));
  EXPECT_TRUE(fits("e3_write_last", 16, 1024));
  EXPECT_FALSE(fits("e3_write_last", 17, 1024));
  EXPECT_FALSE(fits("e6_probe", 1, 1024)) << "nothing follows a control packet";
  EXPECT_FALSE(fits("e2_ack", 1, 1024));
  EXPECT_FALSE(fits("e10_read_data", 63, 1024));

  Packet read = decoded_vector("e1_write_syn");
  std::get<SesRequestValues>(read.ses).opcode = SesOpcode::kRead;
  EXPECT_FALSE(has_right_length(read, 1024)) << "a READ asks for octets and brings none";
  read.payload_octets = 0;
  EXPECT_TRUE(has_right_length(read, 1024));

  Packet rendezvous = decoded_vector("e1_write_syn");
  auto& ses = std::get<SesRequestValues>(rendezvous.ses);
  ses.opcode = SesOpcode::kRendezvousSend;
  ses.request_length = 4096;
  ses.rendezvous.eager_length = 16;
  EXPECT_TRUE(has_right_length(rendezvous, 1024)) << "the rest is read";
}

TEST(UetPacket, WhatAnswersOrControlsEndsBehindItsHeaders) {
  const auto too_long = [](std::string_view name, std::uint32_t payload) {
    Packet packet = decoded_vector(name);
    packet.payload_octets = payload;
    return runs_on(packet);
  };
  for (const std::string_view name : {"e2_ack", "e6_probe", "e5_nack_trimmed"}) {
    EXPECT_FALSE(too_long(name, 0)) << name;
    EXPECT_TRUE(too_long(name, 1)) << name;
  }
  EXPECT_FALSE(too_long("e1_write_syn", 17)) << "a request is answered by a return code";
  EXPECT_FALSE(too_long("e10_read_data", 63)) << "data are held against what was asked for";
}

TEST(UetPacket, OneThatIsNoneSaysWhy) {
  const auto error = [](std::string_view octets) {
    const auto packet = decode(wire::hex(octets));
    return packet ? "none" : std::string(name(packet.error()));
  };
  EXPECT_EQ(error(""), "too_short");
  EXPECT_EQ(error("11"), "too_short");
  EXPECT_EQ(error("0000"), "reserved_type");
  EXPECT_EQ(error("7800"), "reserved_type") << "15";
  EXPECT_EQ(error("f800"), "reserved_type") << "31";
  EXPECT_EQ(error("0900"), "secured");
  EXPECT_EQ(error("5d00"), "reserved_ctl_type") << "10";
  EXPECT_EQ(error("1380"), "bad_next_hdr") << "7, reserved";
  EXPECT_EQ(error("1000"), "bad_next_hdr") << "a request has an SES header";
  EXPECT_EQ(error("3980"), "bad_next_hdr") << "an ACK brings no request";
  EXPECT_EQ(error("5200"), "bad_next_hdr") << "nothing follows a NACK";
  EXPECT_EQ(error("2200"), "bad_next_hdr") << "a RUDI_REQ brings no response";
  EXPECT_EQ(error("3180"), "headers_cut");
}

}  // namespace
}  // namespace railyard::uet
