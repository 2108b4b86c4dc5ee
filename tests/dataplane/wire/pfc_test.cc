#include "dataplane/wire/pfc.h"

#include <gtest/gtest.h>

#include "dataplane/wire/fcs.h"
#include "tests/dataplane/wire/corpus.h"

namespace railyard::wire {
namespace {

constexpr MacAddress kSource{{2, 0, 0, 0, 0, 1}};

struct PfcCase {
  PfcFrame pfc;
  const char* octets;  // as roce-and-lossless.md §10.1 has them
  const char* fcs;
};
const PfcCase kCases[] = {
    {{.enable = 0x08, .quanta = {0, 0, 0, 0xFFFF}},
     "0180c2000001 020000000001 8808 0101 0008 0000 0000 0000 ffff 0000 0000 0000 0000",
     "b0b229c3"},
    {{.enable = 0x08, .quanta = {}},
     "0180c2000001 020000000001 8808 0101 0008 0000 0000 0000 0000 0000 0000 0000 0000",
     "d13178ac"},
    {{.enable = 0x18, .quanta = {0, 0, 0, 0x0400}},
     "0180c2000001 020000000001 8808 0101 0018 0000 0000 0000 0400 0000 0000 0000 0000",
     "7013313e"},
};

TEST(Pfc, FramesAreOctetExactWithTheirFcs) {
  for (const PfcCase& c : kCases) {
    Octets out(kMinFrameOctets + kFcsOctets, std::byte{0xAA});
    write_pfc(std::span(out).first<kMinFrameOctets>(), kSource, c.pfc);
    write_crc32(out.data() + kMinFrameOctets, fcs(std::span(out).first(kMinFrameOctets)));
    Octets expected = hex(c.octets);
    expected.resize(kMinFrameOctets);
    EXPECT_EQ(to_hex(out), to_hex(expected) + c.fcs);
    EXPECT_EQ(parse_pfc(out), c.pfc);
  }
}

TEST(Pfc, SaysAnythingAboutEachPriority) {
  const PfcFrame all{.enable = 0xFF, .quanta = {1, 2, 3, 4, 5, 6, 7, 65535}};
  std::array<std::byte, kMinFrameOctets> frame{};
  write_pfc(frame, kSource, all);
  EXPECT_EQ(parse_pfc(frame), all);
}

// §18 item 22.
TEST(Pfc, IgnoresClassBitsBeyondTheEighthPriority) {
  Octets frame = corpus_frame("pfc_xoff");
  frame[16] = std::byte{0xFF};
  EXPECT_EQ(parse_pfc(frame), kCases[0].pfc);
}

TEST(Pfc, RefusesLinkPauseAndOtherOpcodes) {
  EXPECT_EQ(parse_pfc(corpus_frame("pause_802_3x")).error(), DropReason::kBadMacControl);
  Octets frame = corpus_frame("pfc_xoff");
  write<MacControl::Opcode>(frame.data() + Ethernet::kOctets, 0x0102);
  EXPECT_EQ(parse_pfc(frame).error(), DropReason::kBadMacControl);
}

TEST(Pfc, RefusesFramesThatAreNotMacControlToTheGroup) {
  Octets frame = corpus_frame("pfc_xoff");
  write<Ethernet::Destination>(frame.data(), kSource);
  EXPECT_EQ(parse_pfc(frame).error(), DropReason::kBadMacControl);
  EXPECT_EQ(parse_pfc(corpus_frame("ipv4_udp")).error(), DropReason::kBadMacControl);
}

TEST(Pfc, RefusesAFrameThatEndsBeforeTheLastTime) {
  const Octets frame = corpus_frame("pfc_xoff");
  for (std::size_t n = 0; n < frame.size(); ++n) {
    const auto pfc = parse_pfc(first(frame.data(), n));
    EXPECT_EQ(pfc.has_value(), n >= 34) << n;
    EXPECT_EQ(pfc.has_value() ? DropReason::kTooShort : pfc.error(), DropReason::kTooShort) << n;
  }
}

}  // namespace
}  // namespace railyard::wire
