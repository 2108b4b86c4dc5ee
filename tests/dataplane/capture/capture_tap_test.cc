#include "dataplane/capture/capture_tap.h"

#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataplane/device/pfc_frame.h"
#include "dataplane/packet/assemble.h"
#include "dataplane/packet/int_stack.h"
#include "tests/dataplane/capture/pcapng_reader.h"
#include "tests/support/frames.h"
#include "tests/support/temporary_file.h"

namespace railyard {
namespace {

using namespace literals;
using test::Frame;
using test::FrameSpec;
using testing::ElementsAre;
using testing::IsEmpty;
using Event = TapNote::Event;

constexpr std::uint16_t kComment = 1;
constexpr std::uint16_t kFlags = 2;

class CaptureTapTest : public ::testing::Test {
 protected:
  static constexpr Priority kClass{3};

  void see(CaptureTap& tap, const TapNote& note, Instant at = Instant{} + 7_us, const FrameSpec& spec = {}) {
    Packet* p = test::make_frame(pool, FecTable{}, spec);
    assemble(*p, whole);
    tap.see(at, *p, note);
    pool.release(p);
  }
  std::unique_ptr<CaptureTap> open(CaptureDirection direction = CaptureDirection::kBoth) {
    return std::make_unique<CaptureTap>(file.path(), "leaf1:3", "to h3", 100_Gbps, direction);
  }
  std::vector<Frame> frames() const { return test::frames_of(file.octets()); }
  static std::vector<std::string> comments(const Frame& f) {
    std::vector<std::string> texts;
    for (const auto& [code, value] : f.options)
      if (code == kComment) texts.push_back(value);
    return texts;
  }
  static bool inbound(const Frame& f) {
    for (const auto& [code, value] : f.options)
      if (code == kFlags) return (test::number<std::uint32_t>(value, 0) & 3) == 1;
    throw std::logic_error("a frame without a direction");
  }

  PacketPools pools{1, {.elided_limit = 64, .real_limit = 64, .real_octets = 9728}};
  PacketPool& pool = pools[WorkerId{0}];
  test::TemporaryFile file{"tap.pcapng"};
  std::vector<std::byte> whole;  // what was seen last, assembled
};

TEST_F(CaptureTapTest, FramesAreWholeWithTheirTimeAndDirection) {
  const auto tap = open();
  see(*tap, {.event = Event::kReceived, .priority = kClass}, Instant{} + 1234567890_ps, {.frame_octets = 4096});
  see(*tap, {.event = Event::kSent, .priority = kClass}, Instant{} + 2_us, {.frame_octets = 64});
  EXPECT_EQ(tap->frames(), 2u);
  tap->close();
  const std::vector<Frame> f = frames();
  ASSERT_EQ(f.size(), 2u);
  EXPECT_EQ(f[0].original, 4092u) << "without the FCS";
  EXPECT_EQ(f[0].octets.size(), 4092u) << "synthetic payload is made real";
  EXPECT_EQ(f[0].ticks, 1'234'567u);
  EXPECT_TRUE(inbound(f[0]));
  EXPECT_FALSE(inbound(f[1]));
  const std::string_view last(reinterpret_cast<const char*>(whole.data()), whole.size());
  EXPECT_EQ(f[1].octets, last);
}

TEST_F(CaptureTapTest, CommentsSayTheClassTheDepthAndTheMark) {
  const auto tap = open();
  see(*tap, {.event = Event::kReceived, .priority = kClass});
  see(*tap, {.event = Event::kSent, .priority = kClass, .depth_octets = 0});
  see(*tap, {.event = Event::kSent, .priority = Priority{6}, .depth_octets = 123'456, .marked_here = true});
  tap->close();
  const std::vector<Frame> f = frames();
  ASSERT_EQ(f.size(), 3u);
  EXPECT_THAT(comments(f[0]), ElementsAre("class 3"));
  EXPECT_THAT(comments(f[1]), ElementsAre("class 3, queue 0 octets"));
  EXPECT_THAT(comments(f[2]), ElementsAre("class 6, queue 123456 octets", "CE set here"));
}

// Of a packet that in-band telemetry follows: where it has been, as exact as it is known; not where it still is.
TEST_F(CaptureTapTest, CommentsOfASampledPacketHaveItsHops) {
  const auto tap = open();
  const std::array<std::string, 3> names{"h1", "leaf1", "spine1"};
  Packet* p = test::make_frame(pool, FecTable{}, FrameSpec{});
  IntStack stack;
  stack.begin(*p);
  sample(*p, stack);
  stack.depart_source(names[0], PortIndex{0}, kClass, Instant{5'000}, 1024);
  stack.arrive(names[1], PortIndex{2}, kClass, Instant{100'001}, 1024);
  stack.queue(PortIndex{8}, Priority{4}, Instant{500'001}, 4096);
  stack.depart(Instant{2'345'678}, 1024, true);
  stack.arrive(names[2], PortIndex{0}, Priority{4}, Instant{3'000'000}, 1024);
  tap->see(Instant{3'400'000}, *p, {.event = Event::kReceived, .priority = Priority{4}});
  pool.release(p);
  tap->close();
  const std::vector<Frame> f = frames();
  ASSERT_EQ(f.size(), 1u);
  EXPECT_THAT(comments(f[0]),
              ElementsAre("class 4", "INT 0: h1 port 1, class 3, out 5.000 ns",
                          "INT 1: leaf1 port 3 -> 9, class 4, in 100.001 ns, out 2345.678 ns, queue 4096 octets, "
                          "waited 1845.677 ns, CE set"));
}

TEST_F(CaptureTapTest, ADropSaysWhy) {
  const auto tap = open();
  see(*tap, {.event = Event::kDropped, .reason = DropReason::kEgressFull, .priority = kClass, .depth_octets = 9000});
  see(*tap, {.event = Event::kDropped, .reason = DropReason::kNoRoute, .priority = kClass});
  tap->close();
  const std::vector<Frame> f = frames();
  ASSERT_EQ(f.size(), 2u);
  EXPECT_THAT(comments(f[0]), ElementsAre("class 3, queue 9000 octets", "dropped: egress_full"));
  EXPECT_THAT(comments(f[1]), ElementsAre("class 3", "dropped: no_route"));
  EXPECT_FALSE(inbound(f[0])) << "it would have left here";
  EXPECT_TRUE(inbound(f[1])) << "it came in here and got no further";
}

TEST_F(CaptureTapTest, PauseFramesBelongToNoClass) {
  const auto tap = open();
  Packet* pfc = make_pfc_frame(pool, test::mac(1), 1 << 3, {0, 0, 0, 0xFFFF});
  tap->see(Instant{}, *pfc, {.event = Event::kSent});
  pool.release(pfc);
  tap->close();
  const std::vector<Frame> f = frames();
  ASSERT_EQ(f.size(), 1u);
  EXPECT_EQ(f[0].octets.size(), 60u);
  EXPECT_THAT(comments(f[0]), IsEmpty());
}

TEST_F(CaptureTapTest, OneDirectionIsEnough) {
  for (const auto direction : {CaptureDirection::kIn, CaptureDirection::kOut}) {
    const auto tap = open(direction);
    for (const Event event : {Event::kReceived, Event::kSent, Event::kSent, Event::kReceived})
      see(*tap, {.event = event, .priority = kClass});
    see(*tap, {.event = Event::kDropped, .reason = DropReason::kWred, .priority = kClass, .depth_octets = 100});
    see(*tap, {.event = Event::kDropped, .reason = DropReason::kNoRoute, .priority = kClass});
    tap->close();
    const std::vector<Frame> f = frames();
    ASSERT_EQ(f.size(), 3u);
    for (const Frame& frame : f) EXPECT_EQ(inbound(frame), direction == CaptureDirection::kIn);
  }
}

TEST_F(CaptureTapTest, AFileThatCannotBeIsAnError) {
  EXPECT_THROW(CaptureTap("/nowhere/x.pcapng", "p", "", 1_Gbps, CaptureDirection::kBoth), std::runtime_error);
  CaptureTap full("/dev/full", "p", "", 1_Gbps, CaptureDirection::kBoth);
  for (int i = 0; i < 100; ++i) see(full, {.event = Event::kSent}, Instant{}, {.frame_octets = 9000});
  EXPECT_THROW(full.close(), std::runtime_error);
}

}  // namespace
}  // namespace railyard
