// railyard decode: what the frames of a capture say, against the test's own frames and against tshark.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <span>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "dataplane/port/pcap_file.h"
#include "tests/support/octets_of.h"
#include "tests/tools/railyard/command_line.h"
#include "tests/tools/railyard/tshark.h"

namespace railyard::tools {
namespace {

using testing::HasSubstr;
using DecodedJson = nlohmann::json;

class Decode : public CommandLine {
 protected:
  // A capture of one frame of every kind (tests/fuzz/make_corpus.py), by name.
  std::vector<std::string> write_corpus_capture(const std::string& name) const {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(RAILYARD_SOURCE_DIR "/tests/fuzz/corpus/parse_frame"))
      files.push_back(entry.path());
    std::ranges::sort(files);
    PcapWriter writer = PcapWriter::open(folder_ / name).value();
    std::vector<std::string> names;
    for (const auto& file : files) {
      const std::string text = test::octets_of(file);
      const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(text))};
      writer.write(Instant{static_cast<std::int64_t>(1'000'000 * names.size())}, pieces);
      names.push_back(file.stem().string());
    }
    EXPECT_TRUE(writer.close());
    return names;
  }

  std::vector<DecodedJson> decode_json(const std::string& file) const {
    const Outcome o = railyard({"decode", file, "--json"});
    EXPECT_EQ(o.exit_code, kOk) << o.err;
    std::vector<DecodedJson> frames;
    std::istringstream lines(o.out);
    for (std::string line; std::getline(lines, line);) frames.push_back(DecodedJson::parse(line));
    return frames;
  }
};

TEST_F(Decode, OneObjectPerFrame) {
  const auto names = write_corpus_capture("all.pcap");
  const auto frames = decode_json("all.pcap");
  ASSERT_EQ(frames.size(), names.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    EXPECT_EQ(frames[i]["frame"], i + 1);
    EXPECT_FALSE(frames[i].contains("error")) << names[i];
    const bool roce = names[i].starts_with("roce_");
    EXPECT_EQ(frames[i].value("icrc_ok", false), roce) << names[i];
  }
}

TEST_F(Decode, OneLinePerFrame) {
  const auto names = write_corpus_capture("all.pcap");
  const Outcome o = railyard({"decode", "all.pcap"});
  EXPECT_EQ(o.exit_code, kOk);
  EXPECT_EQ(std::count(o.out.begin(), o.out.end(), '\n'), std::ssize(names));
  EXPECT_THAT(o.out, HasSubstr("RC WRITE Only qp=0x12 psn=256 ackreq"));
}

// What packets of Ultra Ethernet do not say of themselves.
TEST_F(Decode, UltraEthernetByOptions) {
  const auto names = write_corpus_capture("all.pcap");
  const auto lines_with = [&](std::vector<std::string> arguments, std::string_view text) {
    arguments.insert(arguments.begin(), {"decode", "all.pcap"});
    const Outcome o = railyard(arguments);
    EXPECT_EQ(o.exit_code, kOk) << o.err;
    int lines = 0;
    for (std::size_t at = 0; (at = o.out.find(text, at)) != std::string::npos; ++at) ++lines;
    return lines;
  };
  EXPECT_EQ(lines_with({}, "  uet "), 6);
  EXPECT_EQ(lines_with({}, "  crc ok"), 5) << "one is encrypted";
  EXPECT_EQ(lines_with({}, " encrypted=24"), 1);
  EXPECT_EQ(lines_with({"--uet-tss", "12"}, " encrypted=28"), 1);
  EXPECT_EQ(lines_with({"--uet-crc", "lsb-first"}, "  crc WRONG"), 5);
  EXPECT_EQ(lines_with({"--uet-crc", "none"}, "  crc "), 0);
  EXPECT_EQ(lines_with({"--uet-port", "4799"}, "  uet "), 2) << "those without UDP";
  EXPECT_EQ(lines_with({"--uet-protocol", "254"}, "  uet "), 4) << "those over UDP";
  EXPECT_EQ(railyard({"decode", "all.pcap", "--uet-crc", "both"}).exit_code, kUsage);
  EXPECT_EQ(railyard({"decode", "all.pcap", "--uet-port", "65536"}).exit_code, kUsage);
}

// What the generator sends is UC, and its captures have the ICRC made real.
TEST_F(Decode, OfACaptureOfOurOwn) {
  ASSERT_EQ(railyard({"run", "lab.yaml", "--capture", "h1:1:out=h1.pcapng"}).exit_code, kOk);
  const auto frames = decode_json("h1.pcapng");
  ASSERT_EQ(frames.size(), 25u);
  for (const auto& frame : frames) {
    EXPECT_EQ(frame["bth"]["operation"], "UC SEND Only");
    EXPECT_EQ(frame["icrc_ok"], true);
    EXPECT_FALSE(frame.contains("error"));
  }
}

// Five hosts send to the sixth, over a switch that trims. Of every frame we say what the dissector for Wireshark
// says, and the CRC is right.
TEST_F(Decode, OfACaptureOfUltraEthernetOfOurOwn) {
  write("uet.yaml", R"(
name: uet
topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 6 }
switches: { default: { buffer: 8MiB } }
qos: { default: { classes: { 3: { lossless: false, queue-alpha: 1/64, trim: { dscp: 40, class: 5 } },
                             5: { strict: true } } } }
traffic:
  - { name: w, from: [h1, h2, h3, h4, h5], to: h6, transport: uet, bytes: 200KB, message: 200KB }
  - { name: r, from: h6, to: h1, transport: uet, operation: read, bytes: 20KB, message: 20KB }
)");
  ASSERT_EQ(railyard({"run", "uet.yaml", "--capture", "leaf1:6=h6.pcapng"}).exit_code, kOk);
  const auto frames = decode_json("h6.pcapng");
  std::map<std::string, int> kinds;
  for (const auto& frame : frames) {
    ASSERT_TRUE(frame.contains("uet")) << frame;
    EXPECT_FALSE(frame.contains("error")) << frame;
    const bool trimmed = frame.value("trimmed", false);
    if (!trimmed) {
      EXPECT_EQ(frame["crc_ok"], true) << frame;
    }
    ++kinds[trimmed ? "trimmed" : frame["uet"]["pds"].get<std::string>()];
  }
  for (const char* kind : {"RUD_REQ", "ACK_CC", "NACK", "CP", "trimmed"}) EXPECT_GT(kinds[kind], 0) << kind;
  if (!has_tshark()) GTEST_SKIP() << "tshark is not here";
  const auto lines =
      tshark(fmt::format("-X lua_script:{}/tools/wireshark/uet.lua -o uet.trimmed_dscp:40 -r '{}' -T fields -E "
                         "separator=, -e frame.protocols -e uet.pds -e uet.psn -e uet.cack_psn -e uet.nack_psn",
                         RAILYARD_SOURCE_DIR, (folder_ / "h6.pcapng").string()));
  ASSERT_EQ(lines.size(), frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto said = [&](const char* key) {
      return frames[i]["uet"].contains(key) ? frames[i]["uet"][key].dump() : std::string();
    };
    EXPECT_EQ(lines[i], fmt::format("eth:ethertype:ip:udp:uet,{},{},{},{}", frames[i]["uet"]["pds"].get<std::string>(),
                                    said("psn"), said("cack_psn"), said("nack_psn")))
        << frames[i];
  }
}

TEST_F(Decode, BadFiles) {
  EXPECT_EQ(error(kInput, {"decode", "nothing.pcap"}),
            "railyard: cannot open nothing.pcap: No such file or directory");
  EXPECT_EQ(error(kInput, {"decode", "lab.yaml"}),
            "railyard: lab.yaml: not a capture file (pcap or pcapng expected): unknown file format");
  EXPECT_EQ(railyard({"decode"}).exit_code, kUsage);
}

TEST_F(Decode, ACaptureThatEndsInAFrame) {
  write_corpus_capture("all.pcap");
  std::filesystem::resize_file(folder_ / "all.pcap", 24 + 16 + 42 + 16 + 10);
  const Outcome o = railyard({"decode", "all.pcap", "--json"});
  EXPECT_EQ(o.exit_code, kInput);
  EXPECT_EQ(std::count(o.out.begin(), o.out.end(), '\n'), 1) << "the frame before it";
  EXPECT_THAT(o.err, testing::StartsWith("railyard: all.pcap: frame 2: truncated dump file"));
  EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1);
}

// What tshark calls it, and what we do.
struct SameField {
  const char* tshark;
  const char* pointer;         // in our JSON
  const char* also = nullptr;  // or there
};
constexpr SameField kSameFields[] = {
    {"eth.src", "/eth/src"},
    {"eth.dst", "/eth/dst"},
    {"vlan.id", "/vlan/id"},
    {"vlan.priority", "/vlan/pcp"},
    {"udp.srcport", "/udp/sport"},
    {"udp.dstport", "/udp/dport"},
    {"udp.length", "/udp/length"},
    {"infiniband.bth.opcode", "/bth/opcode"},
    {"infiniband.bth.se", "/bth/se"},
    {"infiniband.bth.m", "/bth/migreq"},
    {"infiniband.bth.padcnt", "/bth/pad"},
    {"infiniband.bth.p_key", "/bth/pkey"},
    {"infiniband.bth.destqp", "/bth/dest_qp"},
    {"infiniband.bth.a", "/bth/ackreq"},
    {"infiniband.bth.psn", "/bth/psn"},
    {"infiniband.reth.va", "/reth/va", "/atomiceth/va"},
    {"infiniband.reth.r_key", "/reth/rkey", "/atomiceth/rkey"},
    {"infiniband.reth.dmalen", "/reth/dma_length"},
    {"infiniband.aeth.syndrome", "/aeth/syndrome"},
    {"infiniband.aeth.msn", "/aeth/msn"},
    {"infiniband.atomiceth.swapdt", "/atomiceth/swap_add"},
    {"infiniband.atomiceth.cmpdt", "/atomiceth/compare"},
    {"infiniband.invariant.crc", "/icrc"},
};

// Numbers however they are written; "True" and "False" are those of other versions of tshark. Else the text itself.
std::string canonical(const std::string& text) {
  if (text == "True" || text == "False") return text == "True" ? "1" : "0";
  std::string digits = text;
  std::erase(digits, ':');
  std::size_t used = 0;
  try {
    const auto number = std::stoull(digits, &used, 0);
    if (used == digits.size() && digits.size() == text.size()) return std::to_string(number);
  } catch (const std::exception&) {
  }
  return text;
}

// tshark also shows the headers of what an ICMP error quotes, and puts fragments together.
bool differs_in_scope(const std::string& frame) {
  return frame.starts_with("icmp") || frame.ends_with("first_fragment") || frame.ends_with("last_fragment");
}

TEST_F(Decode, SaysWhatTsharkSays) {
  if (!has_tshark()) GTEST_SKIP() << "tshark is not here";
  const auto names = write_corpus_capture("all.pcap");
  const auto frames = decode_json("all.pcap");
  std::string arguments =
      fmt::format("-r '{}' -T fields -E separator=/t -E occurrence=f", (folder_ / "all.pcap").string());
  for (const SameField& field : kSameFields) arguments += fmt::format(" -e {}", field.tshark);
  const auto lines = tshark(arguments);
  ASSERT_EQ(lines.size(), frames.size());
  int compared = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::istringstream values(lines[i]);
    for (const SameField& field : kSameFields) {
      std::string theirs;
      std::getline(values, theirs, '\t');
      if (theirs.empty() || differs_in_scope(names[i])) continue;
      DecodedJson::json_pointer where(field.pointer);
      if (!frames[i].contains(where) && field.also != nullptr) where = DecodedJson::json_pointer(field.also);
      ASSERT_TRUE(frames[i].contains(where)) << names[i] << " " << field.tshark << "=" << theirs;
      const DecodedJson& value = frames[i][where];
      EXPECT_EQ(canonical(value.is_string() ? value.get<std::string>() : value.dump()), canonical(theirs))
          << names[i] << " " << field.tshark;
      ++compared;
    }
  }
  EXPECT_GT(compared, 200) << "tshark has named few of these fields";
}

}  // namespace
}  // namespace railyard::tools
