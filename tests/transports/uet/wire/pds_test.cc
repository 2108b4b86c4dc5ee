#include "transports/uet/wire/pds.h"

#include <gtest/gtest.h>

#include "tests/transports/uet/wire/random_packet.h"
#include "tests/transports/uet/wire/vectors.h"

namespace railyard::uet {
namespace {

using wire::Octets;
using wire::to_hex;

Octets encoded(const Pds& pds) {
  Octets out(octets(pds));
  EXPECT_EQ(encode_pds(out, pds), out.size());
  return out;
}

// UET page §2: type, header octets.
TEST(UetPds, HeadersAreAsLongAsTheTableSays) {
  const auto length = [](PdsType type) {
    using enum PdsType;
    switch (type) {
      case kRudReq:
      case kRodReq:
      case kRudCcReq:
      case kRodCcReq:
        return octets(PdsRequestValues{.type = type});
      case kRudiReq:
      case kRudiResp:
        return octets(PdsRudiValues{.type = type});
      case kAck:
      case kAckCc:
      case kAckCcx:
        return octets(PdsAckValues{.type = type});
      case kNack:
      case kNackCcx:
        return octets(PdsNackValues{.type = type});
      case kUudReq:
        return octets(PdsUudValues{});
      default:
        return octets(PdsCpValues{});
    }
  };
  using enum PdsType;
  for (const auto& [type, expected] : {std::pair{kRudReq, 12u},
                                       {kRodReq, 12u},
                                       {kRudiReq, 8u},
                                       {kRudiResp, 8u},
                                       {kUudReq, 4u},
                                       {kAck, 12u},
                                       {kAckCc, 32u},
                                       {kAckCcx, 40u},
                                       {kNack, 16u},
                                       {kCp, 16u},
                                       {kNackCcx, 32u},
                                       {kRudCcReq, 16u},
                                       {kRodCcReq, 16u}})
    EXPECT_EQ(length(type), expected) << name(type);
}

// word = type<<11 | next_hdr<<7 | flags, UET page §2.
TEST(UetPds, FlagsLieWhereTheTableSays) {
  const auto word = [](const Pds& pds) {
    const Octets octets = encoded(pds);
    return to_hex(std::span(octets).first(2));
  };
  EXPECT_EQ(word(PdsRequestValues{}), "1180");
  EXPECT_EQ(word(PdsRequestValues{.retx = true}), "1190");
  EXPECT_EQ(word(PdsRequestValues{.ar = true}), "1188");
  EXPECT_EQ(word(PdsRequestValues{.syn = true}), "1184");
  EXPECT_EQ(word(PdsAckValues{}), "3a00");
  EXPECT_EQ(word(PdsAckValues{.m = true}), "3a20");
  EXPECT_EQ(word(PdsAckValues{.retx = true}), "3a10");
  EXPECT_EQ(word(PdsAckValues{.p = true}), "3a08");
  EXPECT_EQ(word(PdsAckValues{.req = AckRequest::kReqClear}), "3a02");
  EXPECT_EQ(word(PdsAckValues{.req = AckRequest::kReqClose}), "3a04");
  EXPECT_EQ(word(PdsNackValues{.m = true}), "5020");
  EXPECT_EQ(word(PdsNackValues{.retx = true}), "5010");
  EXPECT_EQ(word(PdsNackValues{.nt = true}), "5008");
  EXPECT_EQ(word(PdsCpValues{.isrod = true}), "5820");
  EXPECT_EQ(word(PdsCpValues{.retx = true}), "5810");
  EXPECT_EQ(word(PdsCpValues{.ar = true}), "5808");
  EXPECT_EQ(word(PdsCpValues{.syn = true}), "5804");
  EXPECT_EQ(word(PdsRudiValues{.retx = true}), "2190");
  EXPECT_EQ(word(PdsRudiValues{.type = PdsType::kRudiResp, .next_hdr = NextHdr::kResponse, .m = true}), "2a20");
}

TEST(UetPds, EveryControlTypeComesBack) {
  for (std::uint8_t number = 0; number < 10; ++number) {
    const PdsCpValues cp{.ctl_type = static_cast<CtlType>(number), .psn = 7, .payload = 9};
    EXPECT_EQ(decode_pds(encoded(cp)), Pds{cp});
  }
}

TEST(UetPds, OffsetsAreSigned) {
  const PdsAckValues ack{.type = PdsType::kAckCc, .ack_psn_offset = -3, .cack_psn = 1, .sack_psn_offset = -2};
  EXPECT_EQ(ack.ack_psn(), 0xFFFFFFFEu) << "over the end of the numbers";
  EXPECT_EQ(ack.sack_base(), 0xFFFFFFFFu);
  EXPECT_EQ(std::get<PdsAckValues>(decode_pds(encoded(ack)).value()), ack);
  EXPECT_EQ(psn_at(0, -32768), 0xFFFF8000u);
  EXPECT_EQ(psn_at(0xFFFFFFFF, 32767), 0x7FFEu);
}

TEST(UetPds, TheReservedPoolIsBit15OfTheWordAndAnyBitCounts) {
  const PdsRequestValues request{.syn = true, .pdc_info = kUseRsvPdc, .psn_offset = 0xABC};
  const Octets octets = encoded(request);
  EXPECT_EQ(to_hex(std::span(octets).subspan(10, 2)), "8abc");
  EXPECT_NE(std::get<PdsRequestValues>(decode_pds(wire::hex("1184 0000 00000000 0000 1abc")).value()).pdc_info, 0);
}

// UET page §3.3.
TEST(UetPds, AnAckWithAnExpectedPsnIsOneInADialectOnly) {
  const PdsAckValues ack{.next_hdr = NextHdr::kNone, .cack_psn = 1, .spdcid = 2, .dpdcid = 3, .expected_psn = 0x12346};
  const Octets octets = encoded(ack);
  EXPECT_EQ(to_hex(octets), "38400000000000010002000300012346");
  EXPECT_EQ(std::get<PdsAckValues>(decode_pds(octets, kRefProv).value()), ack);
  const auto plain = std::get<PdsAckValues>(decode_pds(octets).value());
  EXPECT_EQ(plain.expected_psn, std::nullopt);
  EXPECT_EQ(plain.octets(), 12u);
  for (std::size_t n = 12; n < 16; ++n)
    EXPECT_EQ(decode_pds(std::span(octets).first(n), kRefProv).error(), Malformed::kHeadersCut);
}

TEST(UetPds, StateForCongestionControlComesBack) {
  Draw draw(9);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t bits = draw();
    EXPECT_EQ(to_cc_state(nscc_state(bits)), bits);
    EXPECT_EQ(credit_state(to_cc_state(credit_state(bits))), credit_state(bits));
  }
  EXPECT_EQ(to_cc_state(NsccStateValues{.restore_cwnd = true}), std::uint64_t{1} << 47);
  EXPECT_EQ(to_cc_state(NsccStateValues{.rcv_cwnd_pend = 0x7F}), std::uint64_t{0x7F} << 40);
  EXPECT_EQ(to_cc_state(CreditStateValues{.credit = 1, .ooo_count = 2}), std::uint64_t{1} << 40 | 2);
}

TEST(UetPds, NacksHaveTheClassesOfTheTable) {
  using enum NackCode;
  EXPECT_EQ(nack_class(kTrimmed), NackClass::kNormal);
  EXPECT_EQ(nack_class(kRcvrInferLoss), NackClass::kNormal);
  EXPECT_EQ(nack_class(kInvDpdcid), NackClass::kPdcFatal);
  EXPECT_EQ(nack_class(kClosingInErr), NackClass::kError);
  EXPECT_EQ(nack_class(kPdcModeMismatch), NackClass::kFatal);
  EXPECT_EQ(nack_class(kRcvdSesProcg), NackClass::kInfo);
  EXPECT_EQ(nack_class(kExpNackFatal), NackClass::kVendor);
  int named = 0;
  for (unsigned number = 0; number < 256; ++number) {
    const auto code = static_cast<NackCode>(number);
    EXPECT_EQ(nack_class(code) == NackClass::kReserved, name(code).empty()) << number;
    named += name(code).empty() ? 0 : 1;
  }
  EXPECT_EQ(named, 28);
}

}  // namespace
}  // namespace railyard::uet
