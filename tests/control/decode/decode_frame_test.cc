#include "control/decode/decode_frame.h"

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <string>

#include <gtest/gtest.h>

#include "dataplane/wire/header_field.h"
#include "dataplane/wire/hpcc_int.h"
#include "dataplane/wire/parse.h"
#include "tests/dataplane/wire/corpus.h"

namespace railyard::decode {
namespace {

using wire::corpus_frame;
using wire::Octets;

Json decoded(const Octets& frame) { return decode_frame(frame, frame.size()); }
Json decoded(std::string_view name) { return decoded(corpus_frame(name)); }

TEST(DecodeFrame, KnowsEveryKind) {
  const std::map<std::string, std::string> protos = {{"arp_request", "arp"},
                                                     {"arp_request_tagged", "arp"},
                                                     {"pfc_xoff", "pfc"},
                                                     {"pause_802_3x", "pause"},
                                                     {"ipv4_udp", "udp"},
                                                     {"ipv4_tcp", "tcp"},
                                                     {"ipv4_gre", "ip"},
                                                     {"ipv4_first_fragment", "ip"},
                                                     {"icmp_echo_request", "icmp"},
                                                     {"icmpv6_echo_request", "icmpv6"},
                                                     {"ipv6_udp", "udp"},
                                                     {"ipv6_hop_by_hop_udp", "udp"},
                                                     {"ipv4_uet_native", "uet"},
                                                     {"roce_ack", "roce"},
                                                     {"roce_cnp_connectx4", "cnp"},
                                                     {"roce_send_only_imm_ipv6", "roce"}};
  for (const auto& [name, proto] : protos) {
    const Json frame = decoded(name);
    EXPECT_EQ(frame["proto"], proto) << name;
    EXPECT_FALSE(frame.contains("error")) << name << ": " << frame;
  }
}

// HPCC's telemetry stands behind the ICRC.
TEST(DecodeFrame, ShowsTelemetryBehindARocePacket) {
  Octets frame = corpus_frame("roce_send_only_imm_ipv6");
  EXPECT_FALSE(decoded(frame).contains("hpcc_int"));
  PathTelemetry t;
  t.hops = 2;
  t.path = 0x123;
  t.hop[0] = {.at_ns = 5'000'000, .sent = 1000, .queue = 50, .rate = HopTelemetry::rate_of(BitRate{100'000'000'000})};
  t.hop[1] = {.at_ns = 5'001'000, .sent = 2000, .queue = 0, .rate = 12'345};
  const std::size_t end = frame.size();
  frame.resize(end + t.wire_octets());
  wire::write_hpcc_int(t, frame.data() + end);
  const Json shown = decoded(frame);
  EXPECT_FALSE(shown.contains("error")) << shown;
  EXPECT_EQ(shown["hpcc_int"], (Json{{"path", 0x123},
                                     {"hops",
                                      {{{"ts_ns", 5'000'000}, {"tx_bytes", 128'000}, {"queue_bytes", 4000},
                                        {"rate_gbps", 100}},
                                       {{"ts_ns", 5'001'000}, {"tx_bytes", 256'000}, {"queue_bytes", 0}}}}}))
      << shown;
  frame.push_back(std::byte{0});
  EXPECT_FALSE(decoded(frame).contains("hpcc_int")) << "something else";
}

// A match that is written with the names and values shown here meets the frame (dataplane/wire/header_field.h).
TEST(DecodeFrame, FieldsHaveTheNamesAndValuesOfPacketMatches) {
  std::map<std::string, int> seen;
  for (const auto& [name, octets] : wire::read_corpus()) {
    const wire::FrameView view = wire::parse_frame(octets).value();
    const Json frame = decoded(octets);
    for (const wire::HeaderField& field : wire::header_fields()) {
      SCOPED_TRACE(name + " " + std::string(field.name));
      const auto dot = field.name.find('.');
      const std::string header(field.name.substr(0, dot)), member(field.name.substr(dot + 1));
      if (!frame.contains(header) || view.protocol == 253) continue;  // native UET has no fields to match
      if (!frame[header].contains(member)) {
        EXPECT_EQ(header, "uet") << "the only one that may be there in part";
        continue;
      }
      ++seen[header];
      const Json& value = frame[header][member];
      const bool v6 = view.kind == wire::FrameKind::kIpv6 && field.layer == wire::HeaderLayer::kIpv4;
      const auto layer = v6 ? wire::HeaderLayer::kIpv6 : field.layer;
      const std::size_t first_bit = v6 ? field.v6_first_bit : field.first_bit;
      if (header == "ip" && member == "proto" && name.starts_with("ipv6")) continue;  // of the first header
      if (value.is_number()) {
        const std::size_t width = v6 ? field.v6_width : field.width;
        EXPECT_TRUE(wire::number_test(layer, first_bit, width, value.get<std::uint64_t>()).holds(octets, view))
            << value;
      } else if (field.kind == wire::HeaderFieldKind::kIpAddress) {
        const auto address = wire::IpAddress::parse(value.get<std::string>()).value();
        const auto all = std::as_bytes(std::span(address.octets));
        const auto own = v6 ? all : all.last(4);
        EXPECT_TRUE(wire::prefix_test(layer, first_bit / 8, own, 8 * own.size()).holds(octets, view)) << value;
      }
    }
  }
  for (const char* header : {"eth", "vlan", "ip", "udp", "tcp", "bth"}) EXPECT_GT(seen[header], 0) << header;
}

TEST(DecodeFrame, Headers) {
  const Json frame = decoded("ipv4_udp_tagged");
  EXPECT_EQ(frame["eth"], (Json{{"dst", "02:00:00:00:00:02"}, {"src", "02:00:00:00:00:01"}, {"type", 0x8100}}));
  EXPECT_EQ(frame["vlan"], (Json{{"id", 100}, {"pcp", 3}, {"dei", 0}, {"type", 0x0800}}));
  EXPECT_EQ(frame["ip"]["dscp"], 26);
  EXPECT_EQ(frame["ip"]["ecn"], 2);
  EXPECT_EQ(frame["ip"]["src"], "10.0.0.1");
  EXPECT_EQ(frame["ip"]["length"], 60);
  EXPECT_EQ(frame["udp"]["dport"], 5001);
  EXPECT_EQ(frame["udp"]["checksum_ok"], true);
}

TEST(DecodeFrame, AWrongUdpChecksumIsSaid) {
  Octets frame = corpus_frame("ipv4_udp");
  frame.back() ^= std::byte{1};
  EXPECT_EQ(decoded(frame)["udp"]["checksum_ok"], false);
}

TEST(DecodeFrame, Ipv6) {
  const Json frame = decoded("roce_send_only_imm_ipv6");
  EXPECT_EQ(frame["ip"], (Json{{"version", 6},
                               {"dscp", 26},
                               {"ecn", 2},
                               {"flow_label", 0x12345},
                               {"length", 36},
                               {"proto", 17},
                               {"ttl", 64},
                               {"src", "2001:db8::1"},
                               {"dst", "2001:db8::2"}}));
}

TEST(DecodeFrame, PauseFrames) {
  const Json pfc = decoded("pfc_two_priorities");
  EXPECT_EQ(pfc["mac_control"], (Json{{"opcode", 0x0101}, {"enable", {3, 4}}, {"time", {0, 0, 0, 1024, 0, 0, 0, 0}}}));
  EXPECT_EQ(decoded("pause_802_3x")["mac_control"], (Json{{"opcode", 1}, {"time", 100}}));
}

TEST(DecodeFrame, Arp) {
  EXPECT_EQ(decoded("arp_reply")["arp"], (Json{{"operation", 2},
                                               {"sender_mac", "02:00:00:00:00:01"},
                                               {"sender_ip", "10.0.0.1"},
                                               {"target_mac", "02:00:00:00:00:02"},
                                               {"target_ip", "10.0.0.2"}}));
}

TEST(DecodeFrame, MalformedFramesSayWhyAndShowWhatIsThere) {
  Octets bad_checksum = corpus_frame("roce_ack");
  bad_checksum[24] ^= std::byte{1};
  Json frame = decoded(bad_checksum);
  EXPECT_EQ(frame["error"], "bad_checksum");
  EXPECT_EQ(frame["ip"]["src"], "10.0.0.2");
  EXPECT_FALSE(frame.contains("bth"));

  Octets bad_version = corpus_frame("roce_ack");
  bad_version[43] |= std::byte{1};  // TVer
  EXPECT_EQ(decoded(bad_version)["error"], "bad_version");

  const Octets stump = wire::first(corpus_frame("ipv4_udp").data(), 20);
  EXPECT_EQ(decoded(stump)["error"], "too_short");
  EXPECT_EQ(decoded(Octets{})["error"], "too_short");
}

TEST(DecodeFrame, WhatNobodyHandlesIsNotMalformed) {
  Octets lldp(60);
  lldp[12] = std::byte{0x88}, lldp[13] = std::byte{0xCC};
  const Json frame = decoded(lldp);
  EXPECT_EQ(frame["proto"], "eth");
  EXPECT_EQ(frame["eth"]["type"], 0x88CC);
  EXPECT_FALSE(frame.contains("error"));
}

// Whatever is captured of whatever frame, it has an answer, and one that can be printed.
TEST(DecodeFrame, AnyCutAndAnyDamageHasAnAnswer) {
  std::minstd_rand draw(7);
  for (const auto& [name, octets] : wire::read_corpus()) {
    for (std::size_t n = 0; n <= octets.size(); ++n) {
      const Octets cut(octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(n));
      const Json captured = decode_frame(cut, octets.size());
      if (captured.contains("error")) {
        EXPECT_EQ(captured["error"], "cut") << name << " " << n;
      }
      EXPECT_FALSE(decoded(cut).dump().empty());
    }
    for (int i = 0; i < 200; ++i) {
      Octets damaged = octets;
      damaged[draw() % damaged.size()] = static_cast<std::byte>(draw());
      damaged[draw() % damaged.size()] = static_cast<std::byte>(draw());
      EXPECT_FALSE(decoded(damaged).dump().empty());
    }
  }
}

}  // namespace
}  // namespace railyard::decode
