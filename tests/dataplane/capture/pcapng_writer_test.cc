#include "dataplane/capture/pcapng_writer.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/dataplane/capture/pcapng_reader.h"
#include "tests/support/temporary_file.h"

namespace railyard {
namespace {

using namespace literals;
using Direction = PcapngWriter::Direction;
using test::Block;
using test::blocks_of;
using test::codes;
using test::Frame;
using test::frame_of;
using test::number;
using test::Options;
using test::options_of;
using testing::ElementsAre;

struct TemporaryFile : test::TemporaryFile {
  TemporaryFile() : test::TemporaryFile("pcapng") {}
};

// What a test writes.
std::string text_of(std::size_t n) {
  std::string text(n, '\0');
  for (std::size_t i = 0; i < n; ++i) text[i] = static_cast<char>('a' + i % 26);
  return text;
}
std::span<const std::byte> octets_of(std::string_view text) { return std::as_bytes(std::span(text)); }

PcapngWriter opened(const TemporaryFile& file, std::uint32_t snap_octets = 0) {
  auto writer = PcapngWriter::open(file.path(), snap_octets);
  if (!writer) throw std::runtime_error(writer.error());
  return std::move(*writer);
}

void write_frame(PcapngWriter& writer, PcapngWriter::InterfaceId interface, Instant at, std::string_view octets) {
  const std::span<const std::byte> pieces[] = {octets_of(octets)};
  writer.write(interface, at, Direction::kOutbound, pieces, static_cast<std::uint32_t>(octets.size()), {});
}

TEST(PcapngWriter, AnEmptyCaptureIsASectionHeader) {
  const TemporaryFile file;
  PcapngWriter writer = opened(file);
  ASSERT_TRUE(writer.close());

  const auto blocks = blocks_of(file.octets());
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_EQ(blocks[0].type, 0x0A0D0D0Au);
  EXPECT_EQ(number<std::uint32_t>(blocks[0].body, 0), 0x1A2B3C4Du);
  EXPECT_EQ(number<std::uint16_t>(blocks[0].body, 4), 1u);
  EXPECT_EQ(number<std::uint16_t>(blocks[0].body, 6), 0u);
  EXPECT_EQ(number<std::int64_t>(blocks[0].body, 8), -1);
  const Options options = options_of(blocks[0], 16);
  EXPECT_THAT(codes(options), ElementsAre(2, 3, 4));
  EXPECT_EQ(options.back().second, "railyard");
}

TEST(PcapngWriter, AnInterfaceTellsItsNameSpeedAndResolution) {
  const TemporaryFile file;
  PcapngWriter writer = opened(file);
  EXPECT_EQ(writer.add_interface("leaf1:9", "to spine1:1", 400_Gbps).value, 0u);
  ASSERT_TRUE(writer.close());

  const auto blocks = blocks_of(file.octets());
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[1].type, 1u);
  EXPECT_EQ(number<std::uint16_t>(blocks[1].body, 0), 1u);  // Ethernet
  EXPECT_EQ(number<std::uint16_t>(blocks[1].body, 2), 0u);
  EXPECT_EQ(number<std::uint32_t>(blocks[1].body, 4), 0u);  // no snap length
  const Options options = options_of(blocks[1], 8);
  ASSERT_THAT(codes(options), ElementsAre(2, 3, 8, 9, 13));
  EXPECT_EQ(options[0].second, "leaf1:9");
  EXPECT_EQ(options[1].second, "to spine1:1");
  EXPECT_EQ(number<std::uint64_t>(options[2].second, 0), 400'000'000'000u);
  EXPECT_EQ(options[3].second, std::string(1, 9));  // nanoseconds
  EXPECT_EQ(options[4].second, std::string(1, 0));  // frames without FCS
}

TEST(PcapngWriter, WhatIsNotKnownOfAnInterfaceIsLeftOut) {
  const TemporaryFile file;
  PcapngWriter writer = opened(file);
  writer.add_interface("host1:1", "", BitRate{});
  ASSERT_TRUE(writer.close());
  EXPECT_THAT(codes(options_of(blocks_of(file.octets()).at(1), 8)), ElementsAre(2, 9, 13));
}

TEST(PcapngWriter, AFrameIsItsPiecesInOrder) {
  const TemporaryFile file;
  PcapngWriter writer = opened(file);
  const auto interface = writer.add_interface("leaf1:1", "", 100_Gbps);
  const std::string headers = text_of(58);
  const std::string payload = text_of(1024);
  const std::span<const std::byte> pieces[] = {octets_of(headers), {}, octets_of(payload), octets_of("icrc")};
  const std::string_view comments[] = {"queue 3, 81920 octets behind it", "CE set here"};
  writer.write(interface, Instant{} + 1'234'567'891_ns + 999_ps, Direction::kInbound, pieces, 1086, comments);
  ASSERT_TRUE(writer.close());

  const auto blocks = blocks_of(file.octets());
  ASSERT_EQ(blocks.size(), 3u);
  const Frame frame = frame_of(blocks[2]);
  EXPECT_EQ(frame.interface, 0u);
  EXPECT_EQ(frame.ticks, 1'234'567'891u);
  EXPECT_EQ(frame.original, 1086u);
  EXPECT_EQ(frame.octets, headers + payload + "icrc");
  ASSERT_THAT(codes(frame.options), ElementsAre(1, 1, 2));
  EXPECT_EQ(frame.options[0].second, "queue 3, 81920 octets behind it");
  EXPECT_EQ(frame.options[1].second, "CE set here");
  EXPECT_EQ(number<std::uint32_t>(frame.options[2].second, 0), 1u);  // inbound
}

TEST(PcapngWriter, TheDirectionIsThatOfTheInterface) {
  const TemporaryFile file;
  PcapngWriter writer = opened(file);
  const auto interface = writer.add_interface("leaf1:1", "", 100_Gbps);
  writer.write(interface, Instant{}, Direction::kInbound, {}, 0, {});
  writer.write(interface, Instant{}, Direction::kOutbound, {}, 0, {});
  ASSERT_TRUE(writer.close());

  const auto blocks = blocks_of(file.octets());
  ASSERT_EQ(blocks.size(), 4u);
  for (const std::uint32_t direction : {1u, 2u}) {
    const Options options = frame_of(blocks[1 + direction]).options;
    ASSERT_THAT(codes(options), ElementsAre(2));
    EXPECT_EQ(options[0].second.size(), 4u);
    EXPECT_EQ(number<std::uint32_t>(options[0].second, 0), direction);
  }
}

TEST(PcapngWriter, EveryLengthOfFrameNameAndCommentIsPaddedTo32Bits) {
  const TemporaryFile file;
  PcapngWriter writer = opened(file);
  constexpr std::size_t kLengths = 9;
  for (std::size_t n = 0; n < kLengths; ++n) {
    const std::string text = text_of(n);
    const auto interface = writer.add_interface(text, text, 1_Gbps);
    const std::span<const std::byte> pieces[] = {octets_of(text)};
    const std::string_view comments[] = {text};
    writer.write(interface, Instant{}, Direction::kInbound, pieces, static_cast<std::uint32_t>(n), comments);
  }
  ASSERT_TRUE(writer.close());

  const auto blocks = blocks_of(file.octets());
  ASSERT_EQ(blocks.size(), 1 + 2 * kLengths);
  for (std::size_t n = 0; n < kLengths; ++n) {
    const std::string text = text_of(n);
    EXPECT_EQ(options_of(blocks[1 + 2 * n], 8).at(0).second, text);
    const Frame frame = frame_of(blocks[2 + 2 * n]);
    EXPECT_EQ(frame.interface, n);
    EXPECT_EQ(frame.octets, text);
    EXPECT_EQ(frame.options.at(0).second, text);
  }
}

TEST(PcapngWriter, TimeStampsPassThirtyTwoBits) {
  const TemporaryFile file;
  PcapngWriter writer = opened(file);
  const auto interface = writer.add_interface("leaf1:1", "", 100_Gbps);
  const std::vector<Instant> instants = {Instant{},           Instant{} + 999_ps,  Instant{} + 1_ns,
                                         Instant{} + 4294_ms, Instant{} + 4295_ms, Instant{} + 106 * 24 * 3600 * 1_s};
  for (const Instant at : instants) write_frame(writer, interface, at, "x");
  ASSERT_TRUE(writer.close());

  const auto blocks = blocks_of(file.octets());
  ASSERT_EQ(blocks.size(), 2 + instants.size());
  for (std::size_t i = 0; i < instants.size(); ++i)
    EXPECT_EQ(frame_of(blocks[2 + i]).ticks, static_cast<std::uint64_t>(instants[i].ps) / 1000);
}

TEST(PcapngWriter, AFrameIsCutToTheSnapLengthAcrossItsPieces) {
  const TemporaryFile file;
  PcapngWriter writer = opened(file, 10);
  const auto interface = writer.add_interface("leaf1:1", "", 100_Gbps);
  const std::span<const std::byte> pieces[] = {octets_of("abcdef"), octets_of("ghijkl"), octets_of("mnopqr")};
  writer.write(interface, Instant{}, Direction::kInbound, pieces, 18, {});
  write_frame(writer, interface, Instant{}, "0123456789");
  ASSERT_TRUE(writer.close());

  const auto blocks = blocks_of(file.octets());
  ASSERT_EQ(blocks.size(), 4u);
  EXPECT_EQ(number<std::uint32_t>(blocks[1].body, 4), 10u);
  EXPECT_EQ(frame_of(blocks[2]).octets, "abcdefghij");
  EXPECT_EQ(frame_of(blocks[2]).original, 18u);
  EXPECT_EQ(frame_of(blocks[3]).octets, "0123456789");
  EXPECT_EQ(frame_of(blocks[3]).original, 10u);
}

TEST(PcapngWriter, APayloadThatNobodyNeedsIsCountedOnly) {
  const TemporaryFile file;
  PcapngWriter writer = opened(file);
  const auto interface = writer.add_interface("leaf1:1", "", 100_Gbps);
  const std::span<const std::byte> pieces[] = {octets_of("headers")};
  writer.write(interface, Instant{}, Direction::kInbound, pieces, 4178, {});
  ASSERT_TRUE(writer.close());
  const Frame frame = frame_of(blocks_of(file.octets()).at(2));
  EXPECT_EQ(frame.octets, "headers");
  EXPECT_EQ(frame.original, 4178u);
}

TEST(PcapngWriter, AnInterfaceMayAppearInTheMiddleOfACapture) {
  const TemporaryFile file;
  PcapngWriter writer = opened(file);
  const auto first = writer.add_interface("leaf1:1", "", 100_Gbps);
  write_frame(writer, first, Instant{} + 1_us, "one");
  const auto second = writer.add_interface("leaf1:2", "", 100_Gbps);
  write_frame(writer, second, Instant{} + 2_us, "two");
  write_frame(writer, first, Instant{} + 3_us, "three");
  ASSERT_TRUE(writer.close());

  std::vector<std::uint32_t> types;
  const auto blocks = blocks_of(file.octets());
  for (const Block& block : blocks) types.push_back(block.type);
  ASSERT_THAT(types, ElementsAre(0x0A0D0D0A, 1, 6, 1, 6, 6));
  EXPECT_EQ(frame_of(blocks[2]).interface, 0u);
  EXPECT_EQ(frame_of(blocks[4]).interface, 1u);
  EXPECT_EQ(frame_of(blocks[5]).interface, 0u);
}

TEST(PcapngWriter, ACommentTooLongForAnOptionIsCutBetweenCharacters) {
  const TemporaryFile file;
  PcapngWriter writer = opened(file);
  const auto interface = writer.add_interface("leaf1:1", "", 100_Gbps);
  std::string comment(65534, 'x');
  comment += "\u00B5s";  // the two octets of the micro sign would be the last one that fits and the first that does not
  const std::string_view comments[] = {comment, std::string_view(comment).substr(0, 65534), "next"};
  writer.write(interface, Instant{}, Direction::kInbound, {}, 0, comments);
  ASSERT_TRUE(writer.close());
  const Frame frame = frame_of(blocks_of(file.octets()).at(2));
  ASSERT_THAT(codes(frame.options), ElementsAre(1, 1, 1, 2));
  EXPECT_EQ(frame.options[0].second, std::string(65534, 'x'));
  EXPECT_EQ(frame.options[1].second, std::string(65534, 'x'));
  EXPECT_EQ(frame.options[2].second, "next");
}

TEST(PcapngWriter, TheSameCaptureIsTheSameFile) {
  std::string files[2];
  for (std::string& octets : files) {
    const TemporaryFile file;
    PcapngWriter writer = opened(file);
    const auto interface = writer.add_interface("leaf1:1", "to host1:1", 100_Gbps);
    for (int i = 0; i < 10'000; ++i) write_frame(writer, interface, Instant{} + i * 1_us, text_of(60));
    ASSERT_TRUE(writer.close());
    octets = file.octets();
  }
  EXPECT_EQ(blocks_of(files[0]).size(), 10'002u);
  EXPECT_TRUE(files[0] == files[1]);
}

TEST(PcapngWriter, AWriterThatIsMovedGoesOnWriting) {
  const TemporaryFile file;
  std::optional<PcapngWriter> writer;
  {
    PcapngWriter first = opened(file);
    first.add_interface("leaf1:1", "", 100_Gbps);
    writer.emplace(std::move(first));
  }
  write_frame(*writer, {0}, Instant{}, "x");
  ASSERT_TRUE(writer->close());
  EXPECT_EQ(blocks_of(file.octets()).size(), 3u);
}

TEST(PcapngWriter, WithoutCloseTheDestructorKeepsWhatWasWritten) {
  const TemporaryFile file;
  {
    PcapngWriter writer = opened(file);
    write_frame(writer, writer.add_interface("leaf1:1", "", 100_Gbps), Instant{}, "x");
  }
  EXPECT_EQ(blocks_of(file.octets()).size(), 3u);
}

TEST(PcapngWriter, AFileThatCannotBeCreatedIsNamed) {
  const auto writer = PcapngWriter::open("/nowhere/run.pcapng");
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error(), "cannot create /nowhere/run.pcapng: No such file or directory");
}

TEST(PcapngWriter, AFullDiskIsReportedByCloseEvenIfAllFitsIntoTheBuffer) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "needs /dev/full";
  for (const int frames : {0, 10'000}) {
    auto writer = PcapngWriter::open("/dev/full");
    ASSERT_TRUE(writer);
    const auto interface = writer->add_interface("leaf1:1", "", 100_Gbps);
    for (int i = 0; i < frames; ++i) write_frame(*writer, interface, Instant{}, text_of(1000));
    const auto closed = writer->close();
    ASSERT_FALSE(closed);
    EXPECT_EQ(closed.error(), "cannot write /dev/full: No space left on device");
    EXPECT_EQ(writer->close(), closed);  // still
  }
}

TEST(PcapngBlocks, TheStatisticsOfAnInterface) {
  PcapngBlocks blocks;
  const auto interface = blocks.add_interface("leaf1:1", "", 100_Gbps);
  blocks.clear();
  blocks.add_statistics(interface, Instant{} + 5_us, {.received = 10, .lost = 3, .delivered = 6});
  const auto all =
      blocks_of(std::string(reinterpret_cast<const char*>(blocks.octets().data()), blocks.octets().size()));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].type, 5u);
  EXPECT_EQ(number<std::uint32_t>(all[0].body, 0), interface.value);
  EXPECT_EQ(number<std::uint32_t>(all[0].body, 8), 5000u);
  const Options options = options_of(all[0], 12);
  ASSERT_THAT(codes(options), ElementsAre(4, 5, 8));
  EXPECT_EQ(number<std::uint64_t>(options[0].second, 0), 10u);
  EXPECT_EQ(number<std::uint64_t>(options[1].second, 0), 3u);
  EXPECT_EQ(number<std::uint64_t>(options[2].second, 0), 6u);
}

TEST(PcapngWriterDeathTest, AFrameOfAnUnknownInterfaceIsABugOfOurs) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const TemporaryFile file;
  PcapngWriter writer = opened(file);
  // The process that dies runs this test from its beginning, with a file of its own, which no destructor removes.
  std::filesystem::remove(file.path());
  EXPECT_DEATH(write_frame(writer, {0}, Instant{}, "x"), "an interface that was not announced");
}

}  // namespace
}  // namespace railyard
