#include "control/decode/roce_json.h"

#include <gtest/gtest.h>

#include "dataplane/wire/bth.h"
#include "dataplane/wire/checksum.h"
#include "dataplane/wire/icrc.h"
#include "dataplane/wire/ipv4.h"
#include "tests/dataplane/wire/corpus.h"
#include "tests/dataplane/wire/roce_vectors.h"

namespace railyard::decode {
namespace {

using wire::corpus_frame;
using wire::Octets;

constexpr std::size_t kIp = 14, kBth = 42;  // of an untagged IPv4 frame

Json roce_decoded(const Octets& frame) { return decode_frame(frame, frame.size()); }
Json roce_decoded(std::string_view name) { return roce_decoded(corpus_frame(name)); }

TEST(RoceJson, EveryVectorHasARightIcrc) {
  for (const wire::RoceVector& vector : wire::kRoceVectors) {
    const Json frame = roce_decoded(vector.name);
    EXPECT_EQ(frame["bth"]["opcode"], vector.opcode) << vector.name;
    EXPECT_EQ(frame["bth"]["dest_qp"], vector.destination_qp) << vector.name;
    EXPECT_EQ(frame["bth"]["psn"], vector.psn) << vector.name;
    EXPECT_EQ(frame["icrc"], "0x" + std::string(vector.icrc)) << vector.name;
    EXPECT_EQ(frame["icrc_ok"], true) << vector.name;
    EXPECT_FALSE(frame.contains("error")) << frame;
  }
}

TEST(RoceJson, AWrite) {
  const Json frame = roce_decoded("roce_write_only");
  EXPECT_EQ(frame["proto"], "roce");
  EXPECT_EQ(frame["bth"], (Json{{"opcode", 10},
                                {"operation", "RC WRITE Only"},
                                {"se", 0},
                                {"migreq", 1},
                                {"pad", 3},
                                {"pkey", 65535},
                                {"fecn", 0},
                                {"becn", 0},
                                {"dest_qp", 18},
                                {"ackreq", 1},
                                {"psn", 256}}));
  EXPECT_EQ(frame["reth"], (Json{{"va", "0x00007f0000001000"}, {"rkey", 0x1234}, {"dma_length", 5}}));
  EXPECT_EQ(frame["payload"], 5);
}

TEST(RoceJson, Acknowledges) {
  EXPECT_EQ(roce_decoded("roce_ack")["aeth"],
            (Json{{"syndrome", 31}, {"type", "ack"}, {"credits", nullptr}, {"msn", 1}}));
  EXPECT_EQ(roce_decoded("roce_nak")["aeth"],
            (Json{{"syndrome", 96}, {"type", "nak"}, {"nak", "PSN sequence error"}, {"msn", 2}}));
  Octets rnr = corpus_frame("roce_ack");
  rnr[kBth + 12] = std::byte{0x2C};
  EXPECT_EQ(roce_decoded(rnr)["aeth"],
            (Json{{"syndrome", 44}, {"type", "rnr_nak"}, {"rnr_delay_us", 640}, {"msn", 1}}));
  Octets limited = corpus_frame("roce_ack");
  limited[kBth + 12] = std::byte{0x0A};
  EXPECT_EQ(roce_decoded(limited)["aeth"]["credits"], 32);
}

TEST(RoceJson, TheOtherExtensionHeaders) {
  EXPECT_EQ(roce_decoded("roce_compare_swap")["atomiceth"], (Json{{"va", "0x00007f0000002000"},
                                                                  {"rkey", 0x1234},
                                                                  {"swap_add", "0x1111111122222222"},
                                                                  {"compare", "0x3333333344444444"}}));
  EXPECT_EQ(roce_decoded("roce_send_only_imm_ipv6")["immdt"], (Json{{"immediate", 0xDEADBEEF}}));
  Octets frame = corpus_frame("roce_read_request");
  const auto as = [&frame](std::uint8_t opcode) {
    frame[kBth] = std::byte{opcode};
    return roce_decoded(frame);
  };
  // The 16 octets of the RETH as other headers; what is left of them is payload.
  EXPECT_EQ(as(wire::roce_opcode::kUdSendOnly)["deth"], (Json{{"qkey", 0x00007F00}, {"src_qp", 0x001000}}));
  EXPECT_EQ(as(wire::roce_opcode::kRcAtomicAcknowledge)["atomicacketh"], (Json{{"original", "0x0000100000001234"}}));
  EXPECT_EQ(as(wire::roce_opcode::kRcSendOnlyInvalidate)["ieth"], (Json{{"rkey", 0x00007F00}}));
  EXPECT_EQ(as(0xA4)["xrceth"], (Json{{"srq", 0x007F00}}));
  EXPECT_EQ(as(wire::roce_opcode::kRcFlush)["error"], "headers_cut") << "a FETH and a RETH";
}

TEST(RoceJson, ACnp) {
  const Json frame = roce_decoded("roce_cnp_connectx4");
  EXPECT_EQ(frame["proto"], "cnp");
  EXPECT_EQ(frame["bth"]["becn"], 1);
  EXPECT_EQ(frame["bth"]["operation"], "CNP");
  EXPECT_EQ(frame["ip"]["dscp"], 48);
}

TEST(RoceJson, ADamagedPayloadHasAWrongIcrc) {
  Octets frame = corpus_frame("roce_write_only");
  frame[kBth + 28] ^= std::byte{1};
  EXPECT_EQ(roce_decoded(frame)["icrc_ok"], false);
  EXPECT_FALSE(roce_decoded(frame).contains("error"));
}

TEST(RoceJson, MalformedDatagrams) {
  const auto error_with = [](std::string_view name, std::size_t at, unsigned value) {
    Octets frame = corpus_frame(name);
    frame[at] = static_cast<std::byte>(value);
    return roce_decoded(frame).value("error", "none");
  };
  EXPECT_EQ(error_with("roce_ack", kBth, 0x15), "unknown_opcode");
  EXPECT_EQ(error_with("roce_ack", kBth, 0x13), "headers_cut");
  EXPECT_EQ(error_with("roce_ack", kBth + 12, 0x40), "reserved_syndrome");
  EXPECT_EQ(error_with("roce_ack", kBth + 1, 0x70), "bad_padding");
  EXPECT_EQ(error_with("roce_write_only", kBth - 3, 0x2F), "bad_padding") << "4 octets of payload, 3 of padding";
  EXPECT_EQ(error_with("roce_write_only", kBth, 0x0C), "bad_payload_length") << "a READ request has none";
  EXPECT_EQ(error_with("roce_write_only", kBth - 3, 0x2C), "bad_length") << "UDP shorter than IP";
}

TEST(RoceJson, OfACutCaptureTheHeadersAreShownAndTheIcrcIsUnknown) {
  const Octets whole = corpus_frame("roce_write_only");
  const Octets headers = wire::first(whole.data(), kBth + 28);
  const Json frame = decode_frame(headers, whole.size());
  EXPECT_EQ(frame["reth"]["dma_length"], 5);
  EXPECT_EQ(frame["payload"], 5);
  EXPECT_TRUE(frame["icrc_ok"].is_null());
  EXPECT_FALSE(frame.contains("icrc"));
  EXPECT_FALSE(frame.contains("error"));

  const Json less = decode_frame(std::span(headers).first(kBth + 27), whole.size());
  EXPECT_EQ(less["bth"]["psn"], 256);
  EXPECT_EQ(less["error"], "cut");
}

// roce-and-lossless.md §13: a switch has cut the packet and its IP length; the UDP length is left.
TEST(RoceJson, OfATrimmedPacketTheHeadersAreShown) {
  Octets frame = wire::first(corpus_frame("roce_write_only").data(), kBth + 28);
  wire::write<wire::Ipv4::TotalLength>(frame.data() + kIp, static_cast<std::uint16_t>(frame.size() - kIp));
  wire::write<wire::Ipv4::HeaderChecksum>(frame.data() + kIp, 0);
  wire::write<wire::Ipv4::HeaderChecksum>(frame.data() + kIp,
                                          wire::internet_checksum(std::span(frame).subspan(kIp, wire::Ipv4::kOctets)));
  const Json trimmed = roce_decoded(frame);
  EXPECT_EQ(trimmed["trimmed"], true);
  EXPECT_EQ(trimmed["reth"]["dma_length"], 5);
  EXPECT_TRUE(trimmed["icrc_ok"].is_null());
  EXPECT_FALSE(trimmed.contains("error")) << trimmed;
}

}  // namespace
}  // namespace railyard::decode
