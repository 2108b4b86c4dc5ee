#include "dataplane/port/pcap_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temporary_file.h"

namespace railyard {
namespace {

using namespace literals;
using testing::AllOf;
using testing::HasSubstr;

// A capture file for one test.
class CaptureFile : public test::TemporaryFile {
 public:
  CaptureFile() : TemporaryFile("capture.pcap") {}
  explicit CaptureFile(std::string_view octets) : CaptureFile() { put(octets); }
};

// Numbers in the byte order of the file that a test makes.
enum class Order { kLittle, kBig };
std::string number(std::uint64_t value, std::size_t octets, Order order = Order::kLittle) {
  std::string out(octets, '\0');
  for (std::size_t i = 0; i < octets; ++i) out[i] = static_cast<char>(value >> (8 * i));
  if (order == Order::kBig) std::ranges::reverse(out);
  return out;
}

// Classic pcap, draft-ietf-opsawg-pcap §4 and §5.
constexpr std::uint32_t kMicrosecondMagic = 0xA1B2C3D4;
constexpr std::uint32_t kNanosecondMagic = 0xA1B23C4D;
constexpr std::size_t kFileHeader = 24;
constexpr std::size_t kFrameHeader = 16;
constexpr std::uint32_t kEthernet = 1;

std::string pcap_header(std::uint32_t magic, std::uint32_t link_type, Order order = Order::kLittle) {
  return number(magic, 4, order) + number(2, 2, order) + number(4, 2, order) + number(0, 8, order) +
         number(65535, 4, order) + number(link_type, 4, order);
}
std::string pcap_frame(std::uint32_t seconds, std::uint32_t fraction, std::string_view octets, std::uint32_t original,
                       Order order = Order::kLittle) {
  return number(seconds, 4, order) + number(fraction, 4, order) + number(octets.size(), 4, order) +
         number(original, 4, order) + std::string(octets);
}
std::string pcap_frame(std::uint32_t seconds, std::uint32_t fraction, std::string_view octets) {
  return pcap_frame(seconds, fraction, octets, static_cast<std::uint32_t>(octets.size()));
}

// pcapng, draft-ietf-opsawg-pcapng §3 and §4.
std::string block(std::uint32_t type, const std::string& body) {
  const std::string length = number(body.size() + 12, 4);
  return number(type, 4) + length + body + length;
}
std::string section() { return block(0x0A0D0D0A, number(0x1A2B3C4D, 4) + number(1, 4) + number(~0ull, 8)); }
std::string interface(std::uint32_t link_type, std::uint8_t resolution) {
  return block(
      1, number(link_type, 4) + number(0, 4) + number(9, 2) + number(1, 2) + number(resolution, 4) + number(0, 4));
}
std::string enhanced_packet(std::uint32_t on, std::uint64_t ticks, std::string octets) {
  const std::size_t n = octets.size();
  octets.resize((n + 3) / 4 * 4);
  return block(6, number(on, 4) + number(ticks >> 32, 4) + number(ticks, 4) + number(n, 4) + number(n, 4) + octets);
}

std::string text_of(std::size_t n) {
  std::string text(n, '\0');
  for (std::size_t i = 0; i < n; ++i) text[i] = static_cast<char>('a' + i % 26);
  return text;
}
std::span<const std::byte> octets_of(std::string_view text) { return std::as_bytes(std::span(text)); }
std::string text_of(const CapturedFrame& frame) {
  std::string text(frame.octets.size(), '\0');
  std::ranges::transform(frame.octets, text.begin(), [](std::byte b) { return static_cast<char>(b); });
  return text;
}

PcapWriter opened(const CaptureFile& file) {
  auto writer = PcapWriter::open(file.path());
  if (!writer) throw std::runtime_error(writer.error());
  return std::move(*writer);
}
void write_frame(PcapWriter& writer, Instant at, std::string_view octets) {
  const std::span<const std::byte> pieces[] = {octets_of(octets)};
  writer.write(at, pieces);
}

std::vector<CapturedFrame> frames_of(const CaptureFile& file) {
  auto frames = read_pcap(file.path());
  EXPECT_TRUE(frames) << frames.error();
  return frames ? std::move(*frames) : std::vector<CapturedFrame>();
}
std::string error_of(const CaptureFile& file) {
  const auto frames = read_pcap(file.path());
  EXPECT_FALSE(frames);
  return frames ? "" : frames.error();
}

TEST(PcapFile, WhatIsWrittenIsReadBack) {
  const CaptureFile file;
  PcapWriter writer = opened(file);
  for (int i = 0; i < 1000; ++i) write_frame(writer, Instant{} + i * 84_ns, text_of(static_cast<std::size_t>(14 + i)));
  ASSERT_TRUE(writer.close());

  const auto frames = frames_of(file);
  ASSERT_EQ(frames.size(), 1000u);
  for (int i = 0; i < 1000; ++i) {
    const CapturedFrame& frame = frames[static_cast<std::size_t>(i)];
    ASSERT_EQ(frame.at, Instant{} + i * 84_ns);
    ASSERT_EQ(text_of(frame), text_of(static_cast<std::size_t>(14 + i)));
  }
}

TEST(PcapFile, AFrameIsItsPiecesInOrder) {
  const CaptureFile file;
  PcapWriter writer = opened(file);
  const std::span<const std::byte> pieces[] = {octets_of("header"), {}, octets_of("payload"), octets_of("icrc")};
  writer.write(Instant{}, pieces);
  ASSERT_TRUE(writer.close());
  const auto frames = frames_of(file);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(text_of(frames[0]), "headerpayloadicrc");
}

TEST(PcapFile, IsWrittenAsClassicPcapWithNanoseconds) {
  const CaptureFile file;
  PcapWriter writer = opened(file);
  write_frame(writer, Instant{} + 3_s + 999'999'999_ns + 999_ps, "frame");
  ASSERT_TRUE(writer.close());
  const std::string octets = file.octets();
  ASSERT_EQ(octets.size(), kFileHeader + kFrameHeader + 5);
  EXPECT_EQ(octets.substr(0, 4), number(kNanosecondMagic, 4));
  EXPECT_EQ(octets.substr(20, 4), number(kEthernet, 4));
  EXPECT_EQ(octets.substr(kFileHeader), pcap_frame(3, 999'999'999, "frame"));
}

TEST(PcapFile, InstantsAreRelativeToTheFirstFrameToTheNanosecond) {
  const CaptureFile file(pcap_header(kNanosecondMagic, kEthernet) + pcap_frame(1'700'000'000, 999'999'999, "a") +
                         pcap_frame(1'700'000'001, 0, "b") + pcap_frame(1'700'086'400, 999'999'998, "c"));
  const auto frames = frames_of(file);
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[0].at, Instant{});
  EXPECT_EQ(frames[1].at, Instant{} + 1_ns);
  EXPECT_EQ(frames[2].at, Instant{} + 24 * 3600 * 1_s - 1_ns);
}

TEST(PcapFile, MicrosecondCapturesOfEitherByteOrderAreRead) {
  for (const Order order : {Order::kLittle, Order::kBig}) {
    const CaptureFile file(pcap_header(kMicrosecondMagic, kEthernet, order) + pcap_frame(5, 7, "a", 1, order) +
                           pcap_frame(6, 8, "bc", 2, order));
    const auto frames = frames_of(file);
    ASSERT_EQ(frames.size(), 2u);
    EXPECT_EQ(frames[1].at, Instant{} + 1_s + 1_us);
    EXPECT_EQ(text_of(frames[1]), "bc");
  }
}

TEST(PcapFile, PcapngIsReadWithTheResolutionOfEachInterface) {
  const CaptureFile file(section() + interface(kEthernet, 9) + interface(kEthernet, 6) +
                         enhanced_packet(0, 2'000'000'001, text_of(61)) + enhanced_packet(1, 2'000'001, text_of(60)));
  const auto frames = frames_of(file);
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(text_of(frames[0]), text_of(61));
  EXPECT_EQ(frames[1].at, Instant{} + 999_ns);
  EXPECT_EQ(text_of(frames[1]), text_of(60));
}

TEST(PcapFile, FramesStayInTheOrderOfTheFile) {
  const CaptureFile file(pcap_header(kNanosecondMagic, kEthernet) + pcap_frame(10, 500, "a") +
                         pcap_frame(10, 900, "b") + pcap_frame(9, 999'999'500, "c"));
  const auto frames = frames_of(file);
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(text_of(frames[2]), "c");
  EXPECT_EQ(frames[2].at, Instant{} - 1_us);
}

TEST(PcapFile, ACaptureOfNothingHasNoFrames) {
  const CaptureFile file;
  ASSERT_TRUE(opened(file).close());
  EXPECT_TRUE(frames_of(file).empty());
}

TEST(PcapFile, AMissingFileIsNamed) {
  const auto frames = read_pcap("/nowhere/in.pcap");
  ASSERT_FALSE(frames);
  EXPECT_EQ(frames.error(), "cannot open /nowhere/in.pcap: No such file or directory");
}

TEST(PcapFile, WhatIsNoCaptureIsNamed) {
  const CaptureFile file;
  for (const std::string& octets : {std::string(), std::string("a"), text_of(1000)}) {
    file.put(octets);
    EXPECT_THAT(error_of(file),
                AllOf(HasSubstr(file.path().string()), HasSubstr("not a capture file (pcap or pcapng expected)")));
  }
  const auto directory = read_pcap(testing::TempDir());
  ASSERT_FALSE(directory);
  EXPECT_THAT(directory.error(), HasSubstr("not a capture file"));
}

TEST(PcapFile, AnotherLinkTypeIsNamed) {
  const CaptureFile file(pcap_header(kNanosecondMagic, 113) + pcap_frame(0, 0, text_of(60)));
  EXPECT_EQ(error_of(file), file.path().string() + ": frames of link type LINUX_SLL, Ethernet (EN10MB) expected");
  file.put(section() + interface(113, 9) + enhanced_packet(0, 0, text_of(60)));
  EXPECT_EQ(error_of(file), file.path().string() + ": frames of link type LINUX_SLL, Ethernet (EN10MB) expected");
}

TEST(PcapFile, AnotherLinkTypeInTheMiddleOfACaptureIsAnError) {
  const CaptureFile file(section() + interface(kEthernet, 9) + enhanced_packet(0, 0, text_of(60)) + interface(113, 9) +
                         enhanced_packet(1, 0, text_of(60)));
  EXPECT_THAT(error_of(file), AllOf(HasSubstr(file.path().string()), HasSubstr("frame 2: ")));
}

TEST(PcapFile, AFrameCutToTheSnapLengthIsNamed) {
  const CaptureFile file(pcap_header(kNanosecondMagic, kEthernet) + pcap_frame(0, 0, text_of(60)) +
                         pcap_frame(0, 1, text_of(64), 1518));
  EXPECT_EQ(
      error_of(file),
      file.path().string() + ": frame 2: holds 64 of its 1518 octets (snap length 65535), whole " + "frames expected");
}

TEST(PcapFile, ACaptureLongerThanModelledTimeIsAnError) {
  const CaptureFile file(pcap_header(kNanosecondMagic, kEthernet) + pcap_frame(0, 0, "a") +
                         pcap_frame(106 * 24 * 3600, 0, "b") + pcap_frame(107 * 24 * 3600, 0, "c"));
  EXPECT_EQ(error_of(file),
            file.path().string() + ": frame 3: more than 106 days after the first frame; expected a shorter capture");
}

// Cuts `capture` behind every octet. `ends[k]` is where a file of k frames ends: there, and nowhere else, it is whole.
void expect_whole_frames_or_an_error(const std::string& capture, const std::vector<std::size_t>& ends) {
  const CaptureFile file(capture);
  const auto all = frames_of(file);
  ASSERT_EQ(all.size() + 1, ends.size());
  for (std::size_t length = 0; length < capture.size(); ++length) {
    SCOPED_TRACE(length);
    file.put(std::string_view(capture).substr(0, length));
    const auto whole = std::ranges::find(ends, length);
    if (whole != ends.end()) {
      const auto frames = frames_of(file);
      ASSERT_EQ(frames.size(), static_cast<std::size_t>(whole - ends.begin()));
      for (std::size_t i = 0; i < frames.size(); ++i) {
        EXPECT_EQ(frames[i].at, all[i].at);
        EXPECT_EQ(frames[i].octets, all[i].octets);
      }
    } else if (length < ends[0]) {
      EXPECT_THAT(error_of(file), HasSubstr(file.path().string() + ": not a capture file"));
    } else {
      const auto frame = std::ranges::upper_bound(ends, length) - ends.begin();
      EXPECT_THAT(error_of(file), AllOf(HasSubstr(file.path().string() + ": frame " + std::to_string(frame) + ": "),
                                        HasSubstr("truncated")));
    }
  }
}

TEST(PcapFile, APcapFileCutAnywhereIsItsWholeFramesOrAnError) {
  std::string capture = pcap_header(kNanosecondMagic, kEthernet);
  std::vector<std::size_t> ends = {capture.size()};
  for (const std::size_t octets : {60u, 14u, 99u}) {
    capture += pcap_frame(1, static_cast<std::uint32_t>(octets), text_of(octets));
    ends.push_back(capture.size());
  }
  expect_whole_frames_or_an_error(capture, ends);
}

TEST(PcapFile, APcapngFileCutAnywhereIsItsWholeFramesOrAnError) {
  std::string capture = section() + interface(kEthernet, 9);
  std::vector<std::size_t> ends = {capture.size()};
  for (const std::size_t octets : {60u, 14u, 99u}) {
    capture += enhanced_packet(0, octets, text_of(octets));
    ends.push_back(capture.size());
  }
  expect_whole_frames_or_an_error(capture, ends);
}

// Whatever is in the file: frames or a message, and no read out of bounds (the asan build looks).
TEST(PcapFile, AnyChangedOctetGivesFramesOrAnErrorWithTheFilesName) {
  const std::string classic =
      pcap_header(kNanosecondMagic, kEthernet) + pcap_frame(1, 5, text_of(20)) + pcap_frame(1, 6, text_of(15));
  const std::string next_generation =
      section() + interface(kEthernet, 9) + enhanced_packet(0, 5, text_of(20)) + enhanced_packet(0, 6, text_of(15));
  const CaptureFile file;
  for (std::string capture : {classic, next_generation}) {
    for (char& octet : capture) {
      const char before = octet;
      for (const int other : {0x00, 0x01, 0x7F, 0x80, 0xFF}) {
        octet = static_cast<char>(other);
        file.put(capture);
        const auto frames = read_pcap(file.path());
        if (frames) {
          EXPECT_LE(frames->size(), 2u);
        } else {
          EXPECT_THAT(frames.error(), HasSubstr(file.path().string()));
        }
      }
      octet = before;
    }
  }
}

TEST(PcapFile, WithoutCloseTheDestructorKeepsWhatWasWritten) {
  const CaptureFile file;
  {
    PcapWriter writer = opened(file);
    write_frame(writer, Instant{}, "x");
  }
  EXPECT_EQ(frames_of(file).size(), 1u);
}

TEST(PcapFile, AFileThatCannotBeCreatedIsNamed) {
  const auto writer = PcapWriter::open("/nowhere/out.pcap");
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error(), "cannot create /nowhere/out.pcap: No such file or directory");
}

TEST(PcapFile, AFullDiskIsReportedByCloseEvenIfAllFitsIntoTheBuffer) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "needs /dev/full";
  for (const int frames : {0, 1, 10'000}) {
    auto writer = PcapWriter::open("/dev/full");
    ASSERT_TRUE(writer);
    for (int i = 0; i < frames; ++i) write_frame(*writer, Instant{}, text_of(1000));
    const auto closed = writer->close();
    ASSERT_FALSE(closed);
    EXPECT_EQ(closed.error(), "cannot write /dev/full: No space left on device");
    EXPECT_EQ(writer->close(), closed);  // still
  }
}

}  // namespace
}  // namespace railyard
