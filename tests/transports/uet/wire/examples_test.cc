// The worked examples of the UET page, §15: what each says is what the page says it says, and is written again as it
// stands.
#include <gtest/gtest.h>

#include "tests/transports/uet/wire/uet_vectors.h"
#include "tests/transports/uet/wire/vectors.h"

namespace railyard::uet {
namespace {

using wire::Octets;
using wire::to_hex;

Octets payload_of(std::string_view name) {
  const Octets packet = vector_packet(name);
  return {packet.begin() + static_cast<std::ptrdiff_t>(decoded_vector(name).header_octets()), packet.end()};
}
const SesRequestValues& request_of(const Packet& packet) { return std::get<SesRequestValues>(packet.ses); }

// What requests of the examples have in common.
SesRequestValues request(SesOpcode opcode, std::uint16_t message_id) {
  return {
      .opcode = opcode, .rel = true, .message_id = message_id, .job_id = 1, .resource_index = 15, .initiator = 0x10};
}
PdsRequestValues established(std::uint32_t psn) {
  return {.ar = true, .clear_psn_offset = -1, .psn = psn, .spdcid = 0x0101, .dpdcid = 0x0202};
}

TEST(UetExamples, E1FirstPacketOfAPdc) {
  const Packet packet = decoded_vector("e1_write_syn");
  const PdsRequestValues pds{.ar = true, .syn = true, .clear_psn_offset = -1, .psn = 0x12345, .spdcid = 0x0101};
  EXPECT_EQ(std::get<PdsRequestValues>(packet.pds), pds);
  EXPECT_EQ(pds.clear_psn(), 0x12344u);
  EXPECT_EQ(pds.start_psn(), 0x12345u);
  SesRequestValues ses = request(SesOpcode::kWrite, 1);
  ses.buffer_offset = 0x1000;
  ses.match_bits = 0xABCDEF;
  ses.request_length = 16;
  EXPECT_EQ(request_of(packet), ses);
  EXPECT_EQ(request_of(packet).memory_key(), 0xABCDEFu);
  EXPECT_EQ(to_hex(payload_of("e1_write_syn")), "000102030405060708090a0b0c0d0e0f");
  EXPECT_TRUE(has_right_length(packet, 1024));
}

TEST(UetExamples, E2AckWithTheDefaultResponse) {
  const Packet packet = decoded_vector("e2_ack");
  EXPECT_EQ(std::get<PdsAckValues>(packet.pds), (PdsAckValues{.cack_psn = 0x12345, .spdcid = 0x202, .dpdcid = 0x101}));
  EXPECT_EQ(std::get<SesResponseValues>(packet.ses), default_response(1, 1));
  EXPECT_EQ(packet.octets(), 24u);
}

TEST(UetExamples, E3LastFragment) {
  const Packet packet = decoded_vector("e3_write_last");
  const auto pds = std::get<PdsRequestValues>(packet.pds);
  EXPECT_EQ(pds,
            (PdsRequestValues{
                .ar = true, .syn = true, .clear_psn_offset = -2, .psn = 0x12346, .spdcid = 0x101, .psn_offset = 1}));
  EXPECT_EQ(pds.clear_psn(), 0x12344u);
  EXPECT_EQ(pds.start_psn(), 0x12345u);
  SesRequestValues ses = request(SesOpcode::kWrite, 2);
  ses.som = false;
  ses.buffer_offset = 0x2000;
  ses.match_bits = 0xABCDEF;
  ses.payload_length = 16;
  ses.message_offset = 1024;
  ses.request_length = 1040;
  EXPECT_EQ(request_of(packet), ses);
  EXPECT_TRUE(has_right_length(packet, 1024));
}

TEST(UetExamples, E4AcksForCongestionControl) {
  const Packet nscc = decoded_vector("e4_ack_cc_nscc");
  const auto& ack = std::get<PdsAckValues>(nscc.pds);
  EXPECT_EQ(ack.type, PdsType::kAckCc);
  EXPECT_TRUE(ack.m);
  EXPECT_EQ(ack.cack_psn, 0x12350u);
  EXPECT_EQ(ack.ack_psn(), 0x12355u);
  EXPECT_EQ(ack.cc_type, static_cast<std::uint8_t>(CcType::kNscc));
  EXPECT_EQ(ack.mpr, 1);
  EXPECT_EQ(ack.sack_base(), 0x12352u);
  EXPECT_EQ(ack.sack_bitmap, 0x0Bu);
  const NsccStateValues state{.service_time = 0x10, .rcvd_bytes = 0x40, .ooo_count = 3};
  EXPECT_EQ(nscc_state(ack.cc_state), state);
  EXPECT_EQ(std::get<SesResponseValues>(nscc.ses).message_id, 5);

  const Packet credit = decoded_vector("e4_ack_cc_credit");
  const auto& granting = std::get<PdsAckValues>(credit.pds);
  EXPECT_EQ(granting.req, AckRequest::kReqClear);
  EXPECT_EQ(granting.ack_psn_offset, 0);
  EXPECT_EQ(granting.cc_type, static_cast<std::uint8_t>(CcType::kCredit));
  EXPECT_EQ(granting.sack_psn_offset, 1);
  EXPECT_EQ(granting.sack_bitmap, 0u);
  EXPECT_EQ(credit_state(granting.cc_state), (CreditStateValues{.credit = 0x140}));
  EXPECT_EQ(credit_state(granting.cc_state).credit * kCreditOctets, 81920);
}

TEST(UetExamples, E5Nacks) {
  const auto nack = [](std::string_view name) { return std::get<PdsNackValues>(decoded_vector(name).pds); };
  EXPECT_EQ(
      nack("e5_nack_trimmed"),
      (PdsNackValues{.m = true, .code = NackCode::kTrimmed, .nack_psn = 0x12354, .spdcid = 0x202, .dpdcid = 0x101}));
  EXPECT_EQ(nack("e5_nack_rod_ooo"),
            (PdsNackValues{.code = NackCode::kRodOoo, .nack_psn = 0x12360, .spdcid = 0x202, .dpdcid = 0x101}));
  EXPECT_EQ(
      nack("e5_nack_new_start_psn"),
      (PdsNackValues{
          .code = NackCode::kNewStartPsn, .nack_psn = 0x12345, .spdcid = 0x202, .dpdcid = 0x101, .payload = 0x22222}));
  EXPECT_EQ(nack("e5_nack_inv_dpdcid"),
            (PdsNackValues{.code = NackCode::kInvDpdcid, .nack_psn = 0x12360, .spdcid = 0, .dpdcid = 0x101}));
}

TEST(UetExamples, E6ControlPackets) {
  const auto cp = [](std::string_view name) { return std::get<PdsCpValues>(decoded_vector(name).pds); };
  EXPECT_EQ(cp("e6_clear_cmd"),
            (PdsCpValues{.ctl_type = CtlType::kClearCmd, .spdcid = 0x101, .dpdcid = 0x202, .payload = 0x12355}));
  EXPECT_EQ(
      cp("e6_close_cmd"),
      (PdsCpValues{.ctl_type = CtlType::kCloseCmd, .ar = true, .psn = 0x12361, .spdcid = 0x101, .dpdcid = 0x202}));
  EXPECT_EQ(
      cp("e6_ack_req"),
      (PdsCpValues{
          .ctl_type = CtlType::kAckReq, .ar = true, .psn = 0x12354, .spdcid = 0x101, .dpdcid = 0x202, .payload = 5}));
  EXPECT_EQ(cp("e6_probe"), (PdsCpValues{.ctl_type = CtlType::kProbe,
                                         .ar = true,
                                         .probe_opaque = 0xBEEF,
                                         .spdcid = 0x101,
                                         .dpdcid = 0x202,
                                         .payload = 0x12351}));
  const PdsCpValues credit_req = cp("e6_credit_req");
  EXPECT_EQ(credit_req.ctl_type, CtlType::kCreditReq);
  EXPECT_EQ(credit_req.ccc_id(), 5);
  EXPECT_EQ(credit_req.credit_target(), 0x400u);
  EXPECT_EQ(credit_req.payload, credit_req_payload(5, 0x400));
  const PdsCpValues credit = cp("e6_credit");
  EXPECT_EQ(credit.ctl_type, CtlType::kCredit);
  EXPECT_EQ(credit.spdcid, 0x202);
  EXPECT_EQ(credit.credit(), 0x140u);
  EXPECT_EQ(credit.payload, credit_payload(0x140));
}

TEST(UetExamples, E7TaggedSend) {
  for (const std::string_view name : {"e7_tagged_send_ipv4", "e7_tagged_send_ipv6"}) {
    const Packet packet = decoded_vector(name);
    const auto& pds = std::get<PdsRequestValues>(packet.pds);
    EXPECT_EQ(pds.type, PdsType::kRodReq);
    EXPECT_EQ(pds.mode(), DeliveryMode::kRod);
    EXPECT_EQ(pds.psn, 0x12358u);
    EXPECT_EQ(pds.clear_psn(), 0x12355u);
    SesRequestValues ses = request(SesOpcode::kTaggedSend, 7);
    ses.dc = true;
    ses.hd = true;
    ses.match_bits = 0x1122334455667788;
    ses.header_data = 0xCAFEF00D;
    ses.request_length = 9;
    EXPECT_EQ(request_of(packet), ses);
    EXPECT_EQ(to_hex(payload_of(name)), "68656c6c6f20554554");  // "hello UET"
  }
}

TEST(UetExamples, E8RudiWriteAndItsResponse) {
  const Packet write = decoded_vector("e8_rudi_write");
  EXPECT_EQ(std::get<PdsRudiValues>(write.pds), (PdsRudiValues{.pkt_id = 0x80000001}));
  EXPECT_EQ(request_of(write).memory_key(), 0x8000000000ABCDEFu);
  EXPECT_EQ(request_of(write).buffer_offset, 0x40u);
  EXPECT_EQ(write.payload_octets, 8u);
  const Packet response = decoded_vector("e8_rudi_response");
  EXPECT_EQ(std::get<PdsRudiValues>(response.pds),
            (PdsRudiValues{.type = PdsType::kRudiResp, .next_hdr = NextHdr::kResponse, .pkt_id = 0x80000001}));
  EXPECT_EQ(std::get<SesResponseValues>(response.ses), default_response(9, 1));
}

TEST(UetExamples, E9Datagram) {
  const Packet packet = decoded_vector("e9_datagram");
  EXPECT_EQ(std::get<PdsUudValues>(packet.pds), PdsUudValues{});
  SesRequestValues ses = request(SesOpcode::kDatagramSend, 0);
  ses.request_length = 4;
  EXPECT_EQ(request_of(packet), ses);
  EXPECT_EQ(to_hex(payload_of("e9_datagram")), "70696e67");  // "ping"
}

TEST(UetExamples, E10ReadData) {
  const Packet packet = decoded_vector("e10_read_data");
  const auto& pds = std::get<PdsRequestValues>(packet.pds);
  EXPECT_EQ(pds.next_hdr, NextHdr::kResponseData);
  EXPECT_EQ(pds.spdcid, 0x202);
  EXPECT_EQ(std::get<SesResponseValues>(packet.ses), (SesResponseValues{.form = NextHdr::kResponseData,
                                                                        .opcode = SesResponseOpcode::kResponseWData,
                                                                        .message_id = 3,
                                                                        .job_id = 1,
                                                                        .modified_length = 2048,
                                                                        .read_request_message_id = 3,
                                                                        .payload_length = 64,
                                                                        .message_offset = 1024}));
  EXPECT_TRUE(has_right_length(packet, 1024));
}

TEST(UetExamples, E11CompareAndSwap) {
  const Packet packet = decoded_vector("e11_compare_and_swap");
  EXPECT_EQ(std::get<PdsRequestValues>(packet.pds), established(0x12359));
  SesRequestValues ses = request(SesOpcode::kFetchingAtomic, 11);
  ses.buffer_offset = 0x100;
  ses.match_bits = 0xABCDEF;
  ses.request_length = 32;
  ses.atomic = {.opcode = AtomicOpcode::kCswap,
                .datatype = AtomicDatatype::kUint64,
                .compare_value = {.low = 5},
                .swap_value = {.low = 9}};
  EXPECT_EQ(request_of(packet), ses);
  EXPECT_EQ(packet.payload_octets, 0u);
  EXPECT_TRUE(has_right_length(packet, 1024));
}

TEST(UetExamples, E12SendWithCreditTarget) {
  const Packet packet = decoded_vector("e12_send_cc");
  PdsRequestValues pds = established(0x1235A);
  pds.type = PdsType::kRudCcReq;
  pds.ccc_id = 5;
  pds.credit_target = 0x400;
  EXPECT_EQ(std::get<PdsRequestValues>(packet.pds), pds);
  EXPECT_EQ(request_of(packet), request(SesOpcode::kSend, 12));
  EXPECT_TRUE(has_right_length(packet, 1024));
}

class UetExample : public testing::TestWithParam<UetVector> {};
INSTANTIATE_TEST_SUITE_P(, UetExample, testing::ValuesIn(std::begin(kUetVectors), std::end(kUetVectors)),
                         [](const auto& vector) { return std::string(vector.param.name); });

TEST_P(UetExample, IsWrittenAgainAsItStands) {
  const Octets octets = vector_packet(GetParam().name);
  const Packet packet = decode(octets).value();
  EXPECT_EQ(packet.octets(), octets.size());
  EXPECT_TRUE(has_right_length(packet, 1024));
  Octets out(packet.header_octets(), std::byte{0xA5});
  ASSERT_EQ(encode_headers(out, packet), out.size());
  EXPECT_EQ(to_hex(out), to_hex(std::span(octets).first(out.size())));
}

}  // namespace
}  // namespace railyard::uet
