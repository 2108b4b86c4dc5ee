#include "control/decode/uet_json.h"

#include <gtest/gtest.h>

#include "dataplane/wire/checksum.h"
#include "dataplane/wire/ipv4.h"
#include "tests/dataplane/wire/corpus.h"
#include "tests/transports/uet/wire/vectors.h"
#include "transports/uet/security/additional_data.h"
#include "transports/uet/security/sealer.h"
#include "transports/uet/wire/encapsulation.h"

namespace railyard::decode {
namespace {

using uet::vector_octets;
using wire::Octets;

constexpr std::size_t kIp = 14, kPds = 42;  // over UDP and IPv4

Json uet_decoded(const Octets& frame, const UetOptions& options = {}) {
  return decode_frame(frame, frame.size(), {.uet = options});
}

// A frame with `packet` over UDP and IPv4, with a CRC or without.
Octets framed(Octets packet, const uet::EncapsulationConfig& config = {}) {
  const uet::OuterHeaders outer{
      .source = wire::IpAddress(0x0A000001), .destination = wire::IpAddress(0x0A000002), .entropy = 0x4242};
  Octets frame(uet::outer_octets(config, outer));
  uet::encode_outer(frame, config, outer, packet.size() + config.trailer_octets());
  frame.insert(frame.end(), packet.begin(), packet.end());
  if (!config.crc) return frame;
  const std::uint32_t crc = uet::crc_of(std::span(frame).subspan(kIp));
  frame.resize(frame.size() + uet::kCrcOctets);
  uet::write_crc(frame.data() + frame.size() - uet::kCrcOctets, crc, config.crc_msb_first);
  return frame;
}
Json packet_decoded(std::string_view vector) { return uet_decoded(framed(uet::vector_packet(vector))); }

// UET page §15, E1.
TEST(UetJson, AWriteThatOpensAPdc) {
  const Json frame = uet_decoded(vector_octets("e1_write_syn"));
  EXPECT_EQ(frame["proto"], "uet");
  EXPECT_EQ(frame["uet"], (Json{{"entropy", 0x4242},
                                {"type", 2},
                                {"pds", "RUD_REQ"},
                                {"next_hdr", 3},
                                {"next", "REQUEST_STD"},
                                {"flags", 12},
                                {"retx", 0},
                                {"ar", 1},
                                {"syn", 1},
                                {"clear_psn_offset", -1},
                                {"clear_psn", 0x12344},
                                {"psn", 0x12345},
                                {"spdcid", 0x101},
                                {"pdc_info", 0},
                                {"psn_offset", 0},
                                {"start_psn", 0x12345},
                                {"ses",
                                 {{"opcode", 1},
                                  {"operation", "WRITE"},
                                  {"ver", 0},
                                  {"dc", 0},
                                  {"ie", 0},
                                  {"rel", 1},
                                  {"hd", 0},
                                  {"eom", 1},
                                  {"som", 1},
                                  {"message_id", 1},
                                  {"ri_generation", 0},
                                  {"job_id", 1},
                                  {"pid_on_fep", 0},
                                  {"resource_index", 15},
                                  {"buffer_offset", "0x0000000000001000"},
                                  {"initiator", 16},
                                  {"memory_key", "0x0000000000abcdef"},
                                  {"header_data", "0x0000000000000000"},
                                  {"request_length", 16}}}}));
  EXPECT_EQ(frame["payload"], 16);
  EXPECT_EQ(frame["crc"], "0xbc3b8f68");
  EXPECT_EQ(frame["crc_ok"], true);
  EXPECT_FALSE(frame.contains("error")) << frame;
}

TEST(UetJson, TheOtherHeaders) {
  const Json ack = uet_decoded(vector_octets("e2_ack"))["uet"];
  EXPECT_EQ(ack["pds"], "ACK");
  EXPECT_EQ(ack["ack_psn"], 0x12345);
  EXPECT_EQ(ack["ses"]["operation"], "DEFAULT_RESPONSE");
  EXPECT_EQ(ack["ses"]["rc"], "OK");
  const Json nscc = packet_decoded("e4_ack_cc_nscc")["uet"];
  EXPECT_EQ(nscc["cc"], "NSCC");
  EXPECT_EQ(nscc["m"], 1);
  EXPECT_EQ(nscc["sack_bitmap"], "0x000000000000000b");
  EXPECT_EQ(nscc["service_time"], 16);
  EXPECT_EQ(nscc["rcvd_bytes"], 0x40);
  EXPECT_EQ(nscc["ooo_count"], 3);
  const Json credit = packet_decoded("e4_ack_cc_credit")["uet"];
  EXPECT_EQ(credit["request"], "REQ_CLEAR");
  EXPECT_EQ(credit["credit"], 0x140);
  const Json nack = packet_decoded("e5_nack_new_start_psn")["uet"];
  EXPECT_EQ(nack["nack"], "NEW_START_PSN");
  EXPECT_EQ(nack["nack_psn"], 0x12345);
  EXPECT_EQ(nack["payload"], 0x22222);
  const Json probe = packet_decoded("e6_probe")["uet"];
  EXPECT_EQ(probe["ctl_type"], "PROBE");
  EXPECT_EQ(probe["probe_opaque"], 0xBEEF);
  EXPECT_EQ(packet_decoded("e6_credit_req")["uet"]["credit_target"], 0x400);
  EXPECT_EQ(packet_decoded("e8_rudi_write")["uet"]["pkt_id"], 0x80000001);
  EXPECT_EQ(packet_decoded("e9_datagram")["uet"]["ses"]["operation"], "DATAGRAM_SEND");
  EXPECT_EQ(packet_decoded("e10_read_data")["uet"]["ses"]["message_offset"], 1024);
  const Json swap = packet_decoded("e11_compare_and_swap")["uet"]["ses"]["atomic"];
  EXPECT_EQ(swap["operation"], "CSWAP");
  EXPECT_EQ(swap["datatype"], "UINT64");
  EXPECT_EQ(swap["swap_value"], "0x00000000000000000000000000000009");
}

TEST(UetJson, WithoutUdp) {
  for (const char* name : {"e7_tagged_send_ipv4", "e7_tagged_send_ipv6"}) {
    const Json frame = uet_decoded(vector_octets(name));
    EXPECT_EQ(frame["uet"]["entropy"], 0x4242);
    EXPECT_EQ(frame["uet"]["ses"]["match_bits"], "0x1122334455667788");
    EXPECT_EQ(frame["crc_ok"], true);
    EXPECT_EQ(frame["payload"], 9);
  }
  const Octets other = framed(uet::vector_packet("e9_datagram"), {.udp = false, .ip_protocol = 200});
  EXPECT_EQ(uet_decoded(other)["proto"], "ip");
  EXPECT_EQ(uet_decoded(other, {.ip_protocol = 200})["payload"], 4);
}

TEST(UetJson, OnAnotherPort) {
  const Octets frame = framed(uet::vector_packet("e9_datagram"), {.udp_port = 49150});
  EXPECT_EQ(uet_decoded(frame)["proto"], "udp");
  EXPECT_EQ(uet_decoded(frame, {.udp_port = 49150})["payload"], 4);
}

TEST(UetJson, WithAnotherCrcOrNone) {
  const Octets packet = uet::vector_packet("e9_datagram");
  const Octets none = framed(packet, {.crc = false}), swapped = framed(packet, {.crc_msb_first = false});
  const Json without = uet_decoded(none, {.crc = UetCrc::kNone});
  EXPECT_EQ(without["payload"], 4);
  EXPECT_FALSE(without.contains("crc_ok"));
  EXPECT_FALSE(without.contains("error"));
  EXPECT_EQ(uet_decoded(swapped, {.crc = UetCrc::kLsbFirst})["crc_ok"], true);
  EXPECT_EQ(uet_decoded(swapped)["crc_ok"], false);
  EXPECT_EQ(uet_decoded(none)["error"], "bad_payload_length") << "four octets are taken for a CRC";
}

TEST(UetJson, OfASecuredPacketTheTssHeader) {
  Octets packet = vector_octets("e13_tss_ssi");
  packet.resize(packet.size() + 100 + 16);
  const Json frame = uet_decoded(framed(packet, {.crc = false}));
  EXPECT_EQ(frame["uet"],
            (Json{{"entropy", 0x4242},
                  {"type", 1},
                  {"pds", "TSS"},
                  {"tss", {{"an", 0}, {"sdi", 0x1234}, {"ssi", 0x0A0B0C0D}, {"epoch", 1}, {"counter", 42}}},
                  {"encrypted", 100}}));
  EXPECT_FALSE(frame.contains("error"));
  EXPECT_EQ(uet_decoded(framed(packet, {.crc = false}), {.icv_octets = 12})["uet"]["encrypted"], 104);
}

// A packet as it was sealed: `elided` without payload, and the ICV behind the headers.
Octets sealed_frame(const UetKey& key, const Octets& packet, std::size_t header_octets, bool elided) {
  uet::Sealer sealer({.mode = key.mode, .sdi = key.sdi, .key = key.key, .an = key.an});
  const uet::TssValues tss = sealer.next({}, true);
  Octets inner(tss.octets());
  uet::encode_tss(inner, tss);
  inner.insert(inner.end(), packet.begin(), packet.end());
  inner.resize(inner.size() + uet::kIcvOctets);
  Octets frame = framed(inner, {.crc = false});
  std::byte* const body = frame.data() + kPds + tss.octets();
  const uet::AdditionalData additional(frame.data() + kIp, true, frame.data() + 34, frame.data() + kPds, tss.octets());
  const std::size_t octets = elided ? header_octets : packet.size();
  uet::AesGcm& cipher = sealer.begin(tss, wire::IpAddress(0x0A000001), wire::IpAddress(0x0A000002), additional.span());
  cipher.transform(std::span(packet).first(octets), body);
  cipher.finish(std::span<std::byte, uet::kIcvOctets>(body + octets, uet::kIcvOctets));
  return frame;
}

TEST(UetJson, OfASecuredPacketAllWithItsKey) {
  const Octets packet = uet::vector_packet("e9_datagram");
  const std::size_t headers = uet::decoded_vector("e9_datagram").header_octets();
  for (const auto mode : {uet::SecurityMode::kDirect, uet::SecurityMode::kCluster})
    for (const bool elided : {false, true}) {
      UetKey key{.sdi = 7, .an = true, .mode = mode};
      key.key.fill(std::byte{3});
      const Octets frame = sealed_frame(key, packet, headers, elided);
      const Json json = uet_decoded(frame, {.keys = {key}});
      EXPECT_EQ(json["uet"]["pds"], "UUD_REQ") << json;
      EXPECT_EQ(json["uet"]["icv_ok"], true);
      EXPECT_EQ(json["uet"]["tss"]["sdi"], 7);
      EXPECT_EQ(json["payload"], 4);
      EXPECT_FALSE(json.contains("error")) << json;
      // Cut when it was captured: nothing vouches for it.
      if (!elided)
        EXPECT_EQ(decode_frame(std::span(frame).first(frame.size() - 10), frame.size(), {.uet = {.keys = {key}}})["uet"]["icv_ok"],
                  nullptr);
      UetKey other = key;
      other.key[0] = std::byte{4};
      EXPECT_EQ(uet_decoded(frame, {.keys = {other}})["uet"]["icv_ok"], false);
      EXPECT_EQ(uet_decoded(frame, {.keys = {other}})["uet"]["pds"], "TSS");
      other = key;
      other.an = false;
      EXPECT_FALSE(uet_decoded(frame, {.keys = {other}})["uet"].contains("icv_ok"));
    }
}

TEST(UetKeys, ALineForEachKey) {
  const std::string digits(64, 'a');
  const auto keys = parse_uet_keys("# keys\n\n1 0 direct " + digits + "\n0x1234 1 cluster " + digits + " 1024 # old\n", "k");
  ASSERT_TRUE(keys.has_value()) << keys.error();
  ASSERT_EQ(keys->size(), 2u);
  EXPECT_EQ((*keys)[1].sdi, 0x1234u);
  EXPECT_TRUE((*keys)[1].an);
  EXPECT_EQ((*keys)[1].rekey_bits, 10);
  EXPECT_EQ((*keys)[1].key[31], std::byte{0xAA});
}

TEST(UetKeys, OneErrorNamesTheLine) {
  const std::string digits(64, 'a');
  const auto error = [](const std::string& text) { return parse_uet_keys(text, "k").error(); };
  EXPECT_EQ(error("\n1 0 direct aa"), "k:2: the key has 2 characters; expected 64 hexadecimal digits");
  EXPECT_EQ(error("1 0 direct " + digits.substr(1) + "x"), "k:1: the key is not hexadecimal; expected 64 digits");
  EXPECT_EQ(error("1 2 direct " + digits), "k:1: '2' is no association number; expected 0 or 1");
  EXPECT_EQ(error("x 0 direct " + digits), "k:1: 'x' is no SDI; expected 0..16777215");
  EXPECT_EQ(error("1 0 client " + digits), "k:1: 'client' is no mode; expected direct, cluster or server");
  EXPECT_EQ(error("1 0 cluster " + digits + " 3"), "k:1: '3' is no number of packets; expected a power of two");
  EXPECT_EQ(error("1 0"), "k:1: found 2 words; expected SDI ASSOCIATION MODE KEY [REKEY-AFTER]");
  EXPECT_EQ(error(""), "k: has no keys; expected SDI ASSOCIATION MODE KEY");
}

TEST(UetJson, TheReferenceProvidersDialect) {
  const Octets frame = framed(wire::hex("38400000000000010002000300012346"));
  EXPECT_EQ(uet_decoded(frame, {.dialect = uet::kRefProv})["uet"]["expected_psn"], 0x12346);
  EXPECT_FALSE(uet_decoded(frame)["uet"].contains("expected_psn"));
}

TEST(UetJson, MalformedPacketsSayWhyAndShowWhatIsThere) {
  const auto error = [](std::string_view octets) {
    const Json frame = uet_decoded(framed(wire::hex(octets)));
    return frame.value("error", "none");
  };
  EXPECT_EQ(error(""), "too_short");
  EXPECT_EQ(error("7800 0000"), "reserved_type");
  EXPECT_EQ(error("5d00 0000"), "reserved_ctl_type");
  EXPECT_EQ(error("1380 0000"), "bad_next_hdr");
  EXPECT_EQ(error("1180 0000 00000000"), "headers_cut");
  EXPECT_EQ(error("3180 0000"), "headers_cut") << "an SES header is announced";
  EXPECT_EQ(error("0900 0000"), "headers_cut");
  EXPECT_EQ(error("3a00 0000 00000000 0000 0000  0041 0000 00000000 00000000"), "bad_version");
  EXPECT_EQ(error("3a00 0000 00000000 0000 0000  0001 0000 00000000 00000000 00"), "bad_payload_length");
  const Json nack = uet_decoded(framed(wire::hex("5200 0000")));
  EXPECT_EQ(nack["uet"]["pds"], "NACK");
  EXPECT_EQ(nack["error"], "bad_next_hdr");

  Octets damaged = vector_octets("e1_write_syn");
  damaged.back() ^= std::byte{1};
  EXPECT_EQ(uet_decoded(damaged)["crc_ok"], false);
  EXPECT_FALSE(uet_decoded(damaged).contains("error"));
}

// UET page §10.4.
TEST(UetJson, OfATrimmedPacketThePdsHeader) {
  Octets frame = vector_octets("e1_write_syn");
  frame.resize(kPds + 16);
  std::byte* const ip = frame.data() + kIp;
  wire::write<wire::Ipv4::TotalLength>(ip, static_cast<std::uint16_t>(frame.size() - kIp));
  wire::write<wire::Ipv4::HeaderChecksum>(ip, 0);
  wire::write<wire::Ipv4::HeaderChecksum>(ip, wire::internet_checksum({ip, 20}));
  const Json trimmed = uet_decoded(frame);
  EXPECT_EQ(trimmed["trimmed"], true);
  EXPECT_EQ(trimmed["uet"]["psn"], 0x12345);
  EXPECT_FALSE(trimmed["uet"].contains("ses"));
  EXPECT_TRUE(trimmed["crc_ok"].is_null());
  EXPECT_FALSE(trimmed.contains("error")) << trimmed;

  Octets native = framed(uet::vector_packet("e9_datagram"), {.udp = false, .crc = false});
  wire::write<wire::Ipv4::DSCP>(native.data() + kIp, 12);
  wire::write<wire::Ipv4::HeaderChecksum>(native.data() + kIp, 0);
  wire::write<wire::Ipv4::HeaderChecksum>(native.data() + kIp, wire::internet_checksum({native.data() + kIp, 20}));
  EXPECT_EQ(uet_decoded(native, {.trimmed_dscp = 12})["trimmed"], true);
  EXPECT_FALSE(uet_decoded(native).contains("trimmed"));
}

TEST(UetJson, OfACutCaptureTheHeadersAreShownAndTheCrcIsUnknown) {
  const Octets whole = vector_octets("e1_write_syn");
  const Json frame = decode_frame(std::span(whole).first(kPds + 56), whole.size());
  EXPECT_EQ(frame["uet"]["ses"]["request_length"], 16);
  EXPECT_EQ(frame["payload"], 16);
  EXPECT_TRUE(frame["crc_ok"].is_null());
  EXPECT_FALSE(frame.contains("crc"));
  EXPECT_FALSE(frame.contains("error")) << frame;
  const Json less = decode_frame(std::span(whole).first(kPds + 55), whole.size());
  EXPECT_EQ(less["uet"]["psn"], 0x12345);
  EXPECT_EQ(less["error"], "cut");
}

}  // namespace
}  // namespace railyard::decode
