#include "control/decode/decode_file.h"

#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/port/pcap_file.h"
#include "tests/dataplane/wire/corpus.h"
#include "tests/support/temporary_file.h"

namespace railyard::decode {
namespace {

using namespace literals;

// Frames of the corpus, a microsecond apart.
void write_capture(const test::TemporaryFile& file, const std::vector<std::string>& names) {
  PcapWriter writer = PcapWriter::open(file.path()).value();
  Instant at{};
  for (const std::string& name : names) {
    const wire::Octets octets = wire::corpus_frame(name);
    const std::span<const std::byte> pieces[] = {octets};
    writer.write(at, pieces);
    at = at + 1_us;
  }
  ASSERT_TRUE(writer.close());
}

struct Outcome {
  std::vector<Json> frames;
  std::string error;
};
Outcome decode_all(const std::filesystem::path& path) {
  Outcome o;
  try {
    decode_file(path, [&](const Json& frame) { o.frames.push_back(frame); });
  } catch (const std::runtime_error& error) {
    o.error = error.what();
  }
  return o;
}

TEST(DecodeFile, EveryFrameWithItsNumberAndTime) {
  const test::TemporaryFile file("three.pcap");
  write_capture(file, {"arp_request", "roce_write_only", "roce_ack"});
  const Outcome o = decode_all(file.path());
  EXPECT_EQ(o.error, "");
  ASSERT_EQ(o.frames.size(), 3u);
  EXPECT_EQ(o.frames[1]["frame"], 2);
  EXPECT_EQ(o.frames[1]["time_ns"], 1000);
  EXPECT_EQ(o.frames[1]["octets"], 82);
  EXPECT_EQ(o.frames[1]["proto"], "roce");
  EXPECT_FALSE(o.frames[1].contains("captured"));
  EXPECT_EQ(o.frames[2]["aeth"]["msn"], 1);
  EXPECT_EQ(o.frames[1].begin().key(), "frame") << "members are in the order of the headers";
}

TEST(DecodeFile, FramesBeforeTheBrokenPlaceAreHandedOn) {
  const test::TemporaryFile file("broken.pcap");
  write_capture(file, {"arp_request", "roce_write_only"});
  const std::string octets = file.octets();
  file.put(std::string_view(octets).substr(0, octets.size() - 5));
  const Outcome o = decode_all(file.path());
  EXPECT_EQ(o.frames.size(), 1u);
  EXPECT_TRUE(o.error.starts_with(file.name() + ": frame 2: truncated dump file")) << o.error;
}

// A snap length of 64: the headers are there.
TEST(DecodeFile, CutFramesSayHowMuchIsThere) {
  const test::TemporaryFile file("cut.pcap");
  write_capture(file, {"roce_write_middle"});
  std::string octets = file.octets();
  octets.resize(24 + 16 + 64);
  octets[24 + 8] = 64;  // caplen
  file.put(octets);
  const Outcome o = decode_all(file.path());
  EXPECT_EQ(o.error, "");
  ASSERT_EQ(o.frames.size(), 1u);
  EXPECT_EQ(o.frames[0]["octets"], 122);
  EXPECT_EQ(o.frames[0]["captured"], 64);
  EXPECT_EQ(o.frames[0]["payload"], 64);
  EXPECT_TRUE(o.frames[0]["icrc_ok"].is_null());
}

TEST(DecodeFile, BadFilesAreNamed) {
  EXPECT_EQ(decode_all("/nowhere/x.pcap").error, "cannot open /nowhere/x.pcap: No such file or directory");
  const test::TemporaryFile file("x.txt");
  file.put("name: no capture\nnodes: {}\n");
  EXPECT_EQ(decode_all(file.path()).error,
            file.name() + ": not a capture file (pcap or pcapng expected): unknown file format");
  file.put("");
  EXPECT_TRUE(
      decode_all(file.path()).error.starts_with(file.name() + ": not a capture file (pcap or pcapng expected)"));
}

}  // namespace
}  // namespace railyard::decode
