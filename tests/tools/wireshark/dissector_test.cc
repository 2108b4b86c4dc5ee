// The dissector for Wireshark says of every packet what `railyard decode` says of it, field by field.
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "control/decode/decode_frame.h"
#include "dataplane/capture/pcapng_writer.h"
#include "tests/support/octets_of.h"
#include "tests/tools/railyard/tshark.h"
#include "tests/transports/uet/wire/random_packet.h"
#include "tests/transports/uet/wire/vectors.h"
#include "transports/uet/wire/encapsulation.h"

namespace railyard::decode {
namespace {

using uet::EncapsulationConfig;
using wire::Octets;

constexpr std::string_view kDissector = RAILYARD_SOURCE_DIR "/tools/wireshark/uet.lua";

using Values = std::map<std::string, std::string>;  // by the name of the field, without "uet."

Octets framed(const Octets& packet, const EncapsulationConfig& config, bool v6 = false, std::uint8_t dscp = 0) {
  const auto address = [v6](std::uint8_t host) {
    return wire::IpAddress::parse(fmt::format("{}{}", v6 ? "2001:db8::" : "10.0.0.", host)).value();
  };
  const uet::OuterHeaders outer{.source_mac = {{2, 0, 0, 0, 0, 1}},
                                .next_hop_mac = {{2, 0, 0, 0, 0, 2}},
                                .source = address(1),
                                .destination = address(2),
                                .dscp = dscp,
                                .entropy = 0x4242};
  Octets frame(uet::outer_octets(config, outer));
  uet::encode_outer(frame, config, outer, packet.size() + config.trailer_octets());
  frame.insert(frame.end(), packet.begin(), packet.end());
  if (!config.crc) return frame;
  const std::uint32_t crc = uet::crc_of(std::span(frame).subspan(wire::Ethernet::kOctets));
  frame.resize(frame.size() + uet::kCrcOctets);
  uet::write_crc(frame.data() + frame.size() - uet::kCrcOctets, crc, config.crc_msb_first);
  return frame;
}

Octets encoded(const uet::Packet& packet, const uet::Dialect& dialect = uet::kStandard) {
  Octets octets(packet.octets(), std::byte{0x5A});
  EXPECT_EQ(encode_headers(octets, packet, dialect), packet.header_octets());
  return octets;
}

// Numbers however they are written.
std::string canonical(const std::string& text) {
  if (text.size() > 18 || text.empty()) return text;
  std::size_t used = 0;
  try {
    const bool negative = text.front() == '-';
    const std::string number =
        negative ? std::to_string(std::stoll(text, &used, 0)) : std::to_string(std::stoull(text, &used, 0));
    if (used == text.size()) return number;
  } catch (const std::exception&) {
  }
  return text;
}

void flatten(Values& into, const std::string& prefix, const Json& object) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object())
      flatten(into, prefix + key + ".", value);
    else
      into[prefix + key] = canonical(value.is_string() ? value.get<std::string>() : value.dump());
  }
}

// What we say, by the names of the dissector's fields.
Values ours(const Octets& frame, const DecodeOptions& options) {
  const Json json = decode_frame(frame, frame.size(), options);
  Values values;
  if (json.contains("uet")) flatten(values, "", json["uet"]);
  if (json.contains("payload")) values["payload_octets"] = canonical(json["payload"].dump());
  if (json.contains("crc")) values["crc"] = canonical(json["crc"].get<std::string>());
  if (json.contains("crc_ok") && json["crc_ok"].is_boolean()) values["crc_ok"] = json["crc_ok"].get<bool>() ? "1" : "0";
  if (json.contains("error")) values["error"] = json["error"].get<std::string>();
  return values;
}

class Dissector : public testing::Test {
 protected:
  void SetUp() override {
    if (!tools::has_tshark()) GTEST_SKIP() << "tshark is not here (Debian: tshark)";
    for (const std::string& line : tools::tshark(fmt::format("-G fields -X lua_script:{}", kDissector))) {
      // F, description, name, ...
      std::istringstream columns(line);
      std::string kind, description, name;
      std::getline(columns, kind, '\t'), std::getline(columns, description, '\t'), std::getline(columns, name, '\t');
      if (kind == "F" && name.starts_with("uet.") && !name.starts_with("uet.malformed") && name != "uet.crc.wrong")
        fields_.push_back(name.substr(4));
    }
    ASSERT_GT(fields_.size(), 100u) << "the dissector is not loaded";
  }
  void TearDown() override { std::filesystem::remove(capture_); }

  // What the dissector says of each frame.
  std::vector<Values> theirs(const std::vector<Octets>& frames, const std::string& preferences = {}) {
    PcapngWriter writer = PcapngWriter::open(capture_).value();
    const auto interface = writer.add_interface("test", "", BitRate{100'000'000'000});
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const std::span<const std::byte> pieces[] = {frames[i]};
      writer.write(interface, Instant{static_cast<std::int64_t>(1'000'000 * i)}, PcapngWriter::Direction::kInbound,
                   pieces, static_cast<std::uint32_t>(frames[i].size()), {});
    }
    EXPECT_TRUE(writer.close());
    std::string arguments = fmt::format("-X lua_script:{} {} -r {} -T fields -E separator=/t -E occurrence=f",
                                        kDissector, preferences, capture_.string());
    for (const std::string& field : fields_) arguments += " -e uet." + field;
    std::vector<Values> all;
    for (const std::string& line : tools::tshark(arguments)) {
      std::istringstream columns(line);
      Values& values = all.emplace_back();
      for (const std::string& field : fields_) {
        std::string value;
        std::getline(columns, value, '\t');
        if (!value.empty()) values[field] = canonical(value);
      }
    }
    return all;
  }

  void expect_same(const std::vector<Octets>& frames, const DecodeOptions& options = {},
                   const std::string& preferences = {}) {
    const std::vector<Values> said = theirs(frames, preferences);
    ASSERT_EQ(said.size(), frames.size());
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const Values expected = ours(frames[i], options);
      EXPECT_EQ(said[i], expected) << "frame " << i + 1 << ": " << wire::to_hex(frames[i]);
      for (const auto& [field, value] : expected) seen_.insert(field);
    }
  }

  std::vector<std::string> fields_;
  std::set<std::string> seen_;  // fields that packets had
  std::filesystem::path capture_ =
      std::filesystem::temp_directory_path() / fmt::format("railyard-dissector-{}.pcapng", ::getpid());
};

// One packet of every kind (tests/fuzz/uet_packets.py), decoded and put together again by our encoder.
std::vector<Octets> packets_of_every_kind() {
  std::vector<Octets> packets;
  for (const auto& file : std::filesystem::directory_iterator(RAILYARD_SOURCE_DIR "/tests/fuzz/corpus/uet_packet")) {
    const std::string text = test::octets_of(file.path());
    const auto octets = std::as_bytes(std::span(text));
    if (const auto packet = uet::decode(octets)) packets.push_back(encoded(*packet));
  }
  return packets;
}

TEST_F(Dissector, SaysOfEveryKindWhatDecodeSays) {
  std::vector<Octets> frames;
  for (const char* name : {"e1_write_syn", "e2_ack", "e7_tagged_send_ipv4", "e7_tagged_send_ipv6"})
    frames.push_back(uet::vector_octets(name));
  for (const Octets& packet : packets_of_every_kind()) frames.push_back(framed(packet, {}));
  ASSERT_GT(frames.size(), 60u);
  expect_same(frames);
}

TEST_F(Dissector, SaysOfAnyPacketWhatDecodeSays) {
  uet::Draw draw(11);
  std::vector<Octets> frames;
  for (int i = 0; i < 800; ++i)
    frames.push_back(framed(encoded(uet::random_packet(draw)), {.udp = i % 2 == 0}, i % 3 == 0));
  // Some with a wrong CRC, some cut.
  for (int i = 0; i < 200; ++i) {
    Octets packet = encoded(uet::random_packet(draw));
    packet.resize(draw() % (packet.size() + 1));
    frames.push_back(framed(packet, {.udp = i % 2 == 0}, i % 3 == 0));
    if (draw() % 4 == 0) frames.back().back() ^= std::byte{1};
  }
  for (int i = 0; i < 200; ++i) {
    Octets octets(2 + draw() % 60);
    std::ranges::generate(octets, [&] { return static_cast<std::byte>(draw()); });
    if (uet::is_secured(octets)) continue;
    frames.push_back(framed(octets, {}));
  }
  expect_same(frames);
  for (const char* name : {"e13_tss", "e13_tss_ssi"}) {
    Octets secured = uet::vector_octets(name);
    secured.resize(secured.size() + 100 + uet::kIcvOctets);
    expect_same({framed(secured, {.crc = false})});
  }
  expect_same({framed(wire::hex("38400000000000010002000300012346"), {})}, {.uet = {.dialect = uet::kRefProv}},
              "-o uet.ref_prov:TRUE");
  for (const std::string& field : fields_) EXPECT_TRUE(seen_.contains(field)) << "no packet had uet." << field;
}

TEST_F(Dissector, TakesWhatThePacketsDoNotSayFromItsPreferences) {
  const Octets packet = uet::vector_packet("e9_datagram");
  expect_same({framed(packet, {.udp_port = 49150})}, {.uet = {.udp_port = 49150}}, "-o uet.udp_port:49150");
  expect_same({framed(packet, {.udp = false, .ip_protocol = 200})}, {.uet = {.ip_protocol = 200}},
              "-o uet.ip_protocol:200");
  expect_same({framed(packet, {.crc = false})}, {.uet = {.crc = UetCrc::kNone}}, "-o uet.crc:none");
  expect_same({framed(packet, {.crc_msb_first = false})}, {.uet = {.crc = UetCrc::kLsbFirst}}, "-o uet.crc:lsb-first");
  Octets secured = uet::vector_octets("e13_tss");
  secured.resize(100);
  expect_same({framed(secured, {.crc = false})}, {.uet = {.icv_octets = 12}}, "-o uet.icv:12");
  // A switch has left the PDS header and a few octets more.
  Octets left = packet;
  left.resize(9);
  expect_same({framed(left, {.udp = false, .crc = false}, false, 12)}, {.uet = {.trimmed_dscp = 12}},
              "-o uet.trimmed_dscp:12");
  const std::vector<Octets> other{framed(packet, {.udp_port = 49150})};
  EXPECT_EQ(theirs(other).at(0), Values{}) << "not one of ours without being told";
}

// In Wireshark's tree names stand where people look for them, and the line of a packet says what it is.
TEST_F(Dissector, ShowsTrees) {
  (void)theirs({uet::vector_octets("e1_write_syn")});
  std::string text;
  for (const std::string& line : tools::tshark(fmt::format("-X lua_script:{} -r {} -V", kDissector, capture_.string())))
    text += line + "\n";
  for (const char* part : {"Ultra Ethernet Transport", "REQUEST_STD", "[pds: RUD_REQ]", "[operation: WRITE]",
                           "memory_key: 0x0000000000abcdef", "[clear_psn: 74564]"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  const auto line = tools::tshark(fmt::format("-X lua_script:{} -r {}", kDissector, capture_.string()));
  ASSERT_EQ(line.size(), 1u);
  EXPECT_NE(line[0].find("UET"), std::string::npos) << line[0];
  EXPECT_NE(line[0].find("RUD_REQ WRITE"), std::string::npos) << line[0];
}

}  // namespace
}  // namespace railyard::decode
