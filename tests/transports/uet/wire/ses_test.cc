#include "transports/uet/wire/ses.h"

#include <gtest/gtest.h>

#include "tests/transports/uet/wire/vectors.h"

namespace railyard::uet {
namespace {

using wire::hex;
using wire::Octets;
using wire::to_hex;

Octets encoded(const Ses& ses, const Dialect& dialect = kStandard) {
  Octets out(octets(ses));
  EXPECT_EQ(encode_ses(out, ses, dialect), out.size());
  return out;
}
SesRequestValues request(NextHdr form, const Octets& octets, const Dialect& dialect = kStandard) {
  return std::get<SesRequestValues>(decode_ses(form, octets, dialect).value());
}

// UET page §2: next_hdr, SES header octets.
TEST(UetSes, HeadersAreAsLongAsTheTableSays) {
  EXPECT_EQ(octets(Ses{}), 0u);
  EXPECT_EQ(octets(SesRequestValues{.form = NextHdr::kRequestSmall}), 20u);
  EXPECT_EQ(octets(SesRequestValues{.form = NextHdr::kRequestMedium}), 32u);
  EXPECT_EQ(octets(SesRequestValues{}), 44u);
  EXPECT_EQ(octets(SesResponseValues{}), 12u);
  EXPECT_EQ(octets(SesResponseValues{.form = NextHdr::kResponseData}), 20u);
  EXPECT_EQ(octets(SesResponseValues{.form = NextHdr::kResponseDataSmall}), 12u);
  EXPECT_EQ(octets(SesRequestValues{.opcode = SesOpcode::kAtomic}), 48u);
  EXPECT_EQ(octets(SesRequestValues{.opcode = SesOpcode::kAtomic, .atomic = {.opcode = AtomicOpcode::kCswap}}), 80u);
  EXPECT_EQ(octets(SesRequestValues{.opcode = SesOpcode::kRendezvousSend}), 68u);
}

// UET page §4.1, §4.5.
TEST(UetSes, ASmallRequest) {
  const Octets octets = hex("01 0b 0123 07 abcdef 0fed 0321 1122334455667788");
  const SesRequestValues v = request(NextHdr::kRequestSmall, octets);
  EXPECT_EQ(v, (SesRequestValues{.form = NextHdr::kRequestSmall,
                                 .opcode = SesOpcode::kWrite,
                                 .rel = true,
                                 .ri_generation = 7,
                                 .job_id = 0xABCDEF,
                                 .pid_on_fep = 0xFED,
                                 .resource_index = 0x321,
                                 .buffer_offset = 0x1122334455667788,
                                 .request_length = 0x123}));
  EXPECT_EQ(to_hex(encoded(v)), to_hex(octets));
}

// UET page §4.6: a send has header_data where RMA has a buffer_offset.
TEST(UetSes, AMediumRequest) {
  const std::string_view rest = "3fff 00 000001 0000 000f 00000000cafef00d 00000010 0000000000abcdef";
  const Octets write = hex("01 0b" + std::string(rest)), send = hex("09 0f" + std::string(rest));
  const SesRequestValues rma = request(NextHdr::kRequestMedium, write);
  EXPECT_EQ(rma.buffer_offset, 0xCAFEF00Du);
  EXPECT_EQ(rma.header_data, 0u);
  EXPECT_EQ(rma.request_length, 0x3FFFu);
  EXPECT_EQ(rma.initiator, 0x10u);
  EXPECT_EQ(rma.memory_key(), 0xABCDEFu);
  const SesRequestValues tagged = request(NextHdr::kRequestMedium, send);
  EXPECT_EQ(tagged.header_data, 0xCAFEF00Du);
  EXPECT_TRUE(tagged.hd);
  EXPECT_EQ(tagged.buffer_offset, 0u);
  EXPECT_EQ(tagged.match_bits, 0xABCDEFu);
  EXPECT_EQ(to_hex(encoded(rma)), to_hex(write));
  EXPECT_EQ(to_hex(encoded(tagged)), to_hex(send));
}

// UET page §4.3.
TEST(UetSes, ADeferrableSendHasTokensInPlaceOfABufferOffset) {
  const SesRequestValues first{.opcode = SesOpcode::kDeferrableTsend,
                               .message_id = 5,
                               .initiator_restart_token = 0x11111111,
                               .target_restart_token = 0x22222222,
                               .match_bits = 7,
                               .header_data = 9,
                               .request_length = 100};
  EXPECT_EQ(to_hex(encoded(first)),
            "0b03000500000000000000001111111122222222000000000000000000000007000000000000000900000064");
  EXPECT_EQ(request(NextHdr::kRequestStd, encoded(first)), first);
  SesRequestValues later = first;
  later.som = false;
  later.header_data = 0;
  later.payload_length = 36;
  later.message_offset = 64;
  EXPECT_EQ(to_hex(encoded(later)),
            "0b02000500000000000000001111111122222222000000000000000000000007000000240000004000000064");
  EXPECT_EQ(request(NextHdr::kRequestStd, encoded(later)), later);
}

// UET page §4.4 and §13 item 12.
TEST(UetSes, ReadyToRestartHasTheTokensInOneOrderOrTheOther) {
  const SesRequestValues rtr{.opcode = SesOpcode::kDeferrableRtr,
                             .message_id = 5,
                             .buffer_offset = 4,
                             .initiator_restart_token = 0x11111111,
                             .target_restart_token = 0x22222222,
                             .initiator = 3,
                             .request_length = 100};
  const std::string_view front = "0c030005000000000000000000000000000000040000000", back = "000000000000000000000064";
  EXPECT_EQ(to_hex(encoded(rtr)), std::string(front) + "31111111122222222" + std::string(back));
  EXPECT_EQ(to_hex(encoded(rtr, kRefProv)), std::string(front) + "32222222211111111" + std::string(back));
  EXPECT_EQ(request(NextHdr::kRequestStd, encoded(rtr)), rtr);
  EXPECT_EQ(request(NextHdr::kRequestStd, encoded(rtr, kRefProv), kRefProv), rtr);
}

// UET page §4.7.
TEST(UetSes, ARendezvousSendSaysWhereTheRestIsRead) {
  SesRequestValues send{.opcode = SesOpcode::kRendezvousSend, .message_id = 1, .request_length = 0x100000};
  send.rendezvous = {.eager_length = 0x400,
                     .ri_generation = 0xAB,
                     .pid_on_fep = 0x123,
                     .resource_index = 0x456,
                     .read_offset = 0x1000,
                     .read_memory_key = 0xABCDEF};
  const Octets octets = encoded(send);
  EXPECT_EQ(to_hex(std::span(octets).subspan(44)), "00000400ab12345600000000000010000000000000abcdef");
  EXPECT_EQ(request(NextHdr::kRequestStd, octets), send);
  SesRequestValues later = send;
  later.som = false;
  later.rendezvous = {};
  EXPECT_EQ(encoded(later).size(), 44u);
  EXPECT_EQ(request(NextHdr::kRequestStd, encoded(later)), later);
}

TEST(UetSes, AnAtomicHasItsOperandBehindTheExtension) {
  SesRequestValues atomic{.opcode = SesOpcode::kAtomic, .message_id = 1, .request_length = 8};
  atomic.atomic = {.opcode = AtomicOpcode::kSum,
                   .datatype = AtomicDatatype::kUint64,
                   .semantic_control = kAtomicCacheable | kAtomicCpuCoherent};
  const Octets octets = encoded(atomic);
  EXPECT_EQ(to_hex(std::span(octets).subspan(44)), "02070300");
  EXPECT_EQ(request(NextHdr::kRequestStd, octets), atomic);
  EXPECT_EQ(expected_payload(atomic, 1024), 8u);
}

// UET page §4.8.
TEST(UetSes, Responses) {
  const SesResponseValues error{.list = SesList::kOverflow,
                                .opcode = SesResponseOpcode::kResponse,
                                .return_code = ReturnCode::kBadGeneration,
                                .message_id = 0x1234,
                                .ri_generation = 0x56,
                                .job_id = 0x789ABC,
                                .modified_length = 0xDEF0};
  EXPECT_EQ(to_hex(encoded(error)), "4102123456789abc0000def0");
  const SesResponseValues small{.form = NextHdr::kResponseDataSmall,
                                .opcode = SesResponseOpcode::kResponseWData,
                                .job_id = 1,
                                .payload_length = 8,
                                .original_request_psn = 0x12345};
  EXPECT_EQ(to_hex(encoded(small)), "020100080000000100012345");
  EXPECT_EQ(expected_payload(small, 1024), 8u);
  for (const SesResponseValues& response : {error, small, no_response(7, 1)}) {
    const auto back = decode_ses(response.form, encoded(response));
    ASSERT_TRUE(back);
    EXPECT_EQ(std::get<SesResponseValues>(*back), response);
  }
}

// What is reserved is for the target to answer, and reaches it.
TEST(UetSes, ReservedNumbersComeThrough) {
  for (unsigned number = 0; number < 64; ++number) {
    const SesRequestValues v{.opcode = static_cast<SesOpcode>(number), .version = 3};
    EXPECT_EQ(request(NextHdr::kRequestStd, encoded(v)), v) << number;
    const SesResponseValues response{
        .opcode = static_cast<SesResponseOpcode>(number), .version = 1, .return_code = static_cast<ReturnCode>(number)};
    EXPECT_EQ(std::get<SesResponseValues>(decode_ses(NextHdr::kResponse, encoded(response)).value()), response);
  }
  EXPECT_EQ(decode_ses(static_cast<NextHdr>(7), Octets(64)).error(), Malformed::kBadNextHdr);
}

}  // namespace
}  // namespace railyard::uet
