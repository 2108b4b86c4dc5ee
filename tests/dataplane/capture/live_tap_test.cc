// A tap whose frames are read by another thread. The measure is CaptureTap: both show the same.
#include "dataplane/capture/live_tap.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataplane/capture/capture_tap.h"
#include "dataplane/capture/tap_list.h"
#include "dataplane/device/pfc_frame.h"
#include "dataplane/packet/int_stack.h"
#include "tests/dataplane/capture/pcapng_reader.h"
#include "tests/support/frames.h"
#include "tests/support/temporary_file.h"

namespace railyard {
namespace {

using namespace literals;
using test::Frame;
using test::FrameSpec;
using Event = TapNote::Event;

class LiveTapTest : public ::testing::Test {
 protected:
  static constexpr Priority kClass{3};

  void see(Tap& tap, const TapNote& note, Instant at = Instant{} + 7_us, const FrameSpec& spec = {}) {
    Packet* p = test::make_frame(pool, FecTable{}, spec);
    tap.see(at, *p, note);
    pool.release(p);
  }
  void see_pause(Tap& tap) {
    Packet* pfc = make_pfc_frame(pool, test::mac(1), 1 << 3, {0, 0, 0, 0xFFFF});
    tap.see(Instant{} + 9_us, *pfc, {.event = Event::kSent});
    pool.release(pfc);
  }
  // Of which in-band telemetry knows something.
  void see_sampled(Tap& tap) {
    IntStack stack;
    Packet* p = test::make_frame(pool, FecTable{}, {.real = true});
    stack.begin(*p);
    for (const std::int64_t hop : {1, 2}) {
      stack.arrive(names_.front(), PortIndex{3}, kClass, Instant{hop * 1'000'000}, 1024);
      stack.queue(PortIndex{4}, kClass, Instant{hop * 1'000'000 + 1}, 77);
      if (hop == 1) stack.depart(Instant{1'500'000}, 1024, true);
    }
    sample(*p, stack);
    tap.see(Instant{} + 8_us, *p, {.event = Event::kReceived, .priority = kClass});
    pool.release(p);
  }
  // Frames of every kind, with every note.
  void see_everything(Tap& tap) {
    for (const bool real : {false, true})
      for (const std::uint32_t octets : {64u, 65u, 100u, 1500u, 9000u})
        see(tap, {.event = Event::kReceived, .priority = kClass}, Instant{} + 1_us,
            {.frame_octets = std::max(octets, test::least_octets({})), .real = real, .stream = 5, .offset = 333});
    see(tap, {.event = Event::kSent, .priority = kClass, .depth_octets = 4096, .marked_here = true});
    see(tap, {.event = Event::kDropped, .reason = DropReason::kWred, .priority = kClass, .depth_octets = 100});
    see(tap, {.event = Event::kDropped, .reason = DropReason::kNoRoute, .priority = kClass});
    see_pause(tap);
    see_sampled(tap);
  }
  static std::string text_of(const PcapngBlocks& blocks) {
    return {reinterpret_cast<const char*>(blocks.octets().data()), blocks.octets().size()};
  }
  static std::string all_of(LiveTap& tap, std::uint32_t snap_octets = 0) {
    PcapngBlocks blocks(snap_octets);
    const auto interface = blocks.add_interface("leaf1:3", "to h3", 100_Gbps);
    while (tap.read(blocks, interface)) continue;
    return text_of(blocks);
  }

  PacketPools pools{1, {.elided_limit = 64, .real_limit = 64, .real_octets = 9728}};
  PacketPool& pool = pools[WorkerId{0}];
  test::TemporaryFile file{"tap.pcapng"};
  std::vector<std::string> names_{"leaf1"};  // of devices
};

TEST_F(LiveTapTest, ShowsWhatACaptureTapShows) {
  for (const auto direction : {CaptureDirection::kBoth, CaptureDirection::kIn, CaptureDirection::kOut}) {
    CaptureTap reference(file.path(), "leaf1:3", "to h3", 100_Gbps, direction);
    LiveTap tap({.direction = direction});
    see_everything(reference);
    see_everything(tap);
    reference.close();
    EXPECT_TRUE(all_of(tap) == file.octets());
    EXPECT_EQ(tap.captured(), reference.frames());
    EXPECT_EQ(tap.lost(), 0u);
  }
}

TEST_F(LiveTapTest, ASnapLengthCutsEveryFrameAndNothingElse) {
  LiveTap whole({});
  see_everything(whole);
  const std::vector<Frame> expected = test::frames_of(all_of(whole));
  // Within headers and payload; before, within and behind the ICRC of the frames of 64 and 100 octets; beyond all.
  for (const std::uint32_t snap : {1u, 14u, 53u, 54u, 57u, 58u, 59u, 60u, 61u, 92u, 94u, 96u, 100u, 8000u, 20'000u}) {
    LiveTap tap({.snap_octets = snap});
    see_everything(tap);
    const std::vector<Frame> frames = test::frames_of(all_of(tap, snap));
    ASSERT_EQ(frames.size(), expected.size());
    for (std::size_t i = 0; i < frames.size(); ++i) {
      EXPECT_EQ(frames[i].octets, expected[i].octets.substr(0, snap)) << "frame " << i << " of " << snap;
      EXPECT_EQ(frames[i].original, expected[i].original);
    }
  }
}

TEST_F(LiveTapTest, SyntheticPayloadTakesNoRoomAndRealPayloadUpToTheSnapLength) {
  const auto held = [&](LiveTapConfig config, bool real) {
    config.ring_octets = 64 << 10;
    LiveTap tap(config);
    while (tap.lost() == 0) see(tap, {}, Instant{}, {.frame_octets = 4096, .real = real});
    return tap.captured();
  };
  EXPECT_LT(held({}, true), 17u);
  EXPECT_GT(held({}, false), 300u);
  EXPECT_GT(held({.snap_octets = 64}, true), 300u);
}

TEST_F(LiveTapTest, WhatDoesNotFitIsLostAndCountedAndTheRestGoesOn) {
  LiveTap tap({.ring_octets = 16 << 10});
  for (std::int64_t i = 0; i < 100; ++i) see(tap, {}, Instant{} + i * 1_us, {.frame_octets = 2048, .real = true});
  EXPECT_EQ(tap.captured() + tap.lost(), 100u);
  EXPECT_GT(tap.lost(), 50u);
  const auto first = tap.captured();
  std::vector<Frame> frames = test::frames_of(all_of(tap));
  ASSERT_EQ(frames.size(), first);
  for (std::size_t i = 0; i < frames.size(); ++i) EXPECT_EQ(frames[i].ticks, i * 1000) << "the oldest are kept";
  see(tap, {}, Instant{} + 1_ms);
  EXPECT_EQ(tap.captured(), first + 1);
  EXPECT_EQ(test::frames_of(all_of(tap)).size(), 1u);
}

TEST_F(LiveTapTest, NoMoreThanTheLimitIsCaptured) {
  LiveTap tap({.direction = CaptureDirection::kOut, .limit = 3});
  for (int i = 0; i < 10; ++i) {
    see(tap, {.event = Event::kReceived});
    EXPECT_EQ(tap.limit_reached(), i > 3 - 1);
    see(tap, {.event = Event::kSent});
  }
  EXPECT_EQ(tap.captured(), 3u);
  EXPECT_EQ(tap.lost(), 0u);
  EXPECT_EQ(test::frames_of(all_of(tap)).size(), 3u);
}

// What the engine's thread and the writer's do at once, for ThreadSanitizer too.
TEST_F(LiveTapTest, BothThreadsUnderLoad) {
  constexpr std::int64_t kFrames = 30'000;
  LiveTap tap({.ring_octets = 32 << 10});
  std::atomic<bool> done{false};
  std::thread engine([&] {
    for (std::int64_t i = 0; i < kFrames; ++i)
      see(tap, {.event = i % 2 == 0 ? Event::kSent : Event::kReceived}, Instant{} + i * 1_ns,
          {.frame_octets = static_cast<std::uint32_t>(100 + i % 1400), .real = i % 3 == 0});
    done = true;
  });
  std::uint64_t frames = 0;
  std::int64_t last = -1;
  for (;;) {
    const bool over = done;
    PcapngBlocks blocks;
    const auto interface = blocks.add_interface("x", "", 1_Gbps);
    blocks.clear();
    if (!tap.read(blocks, interface)) {
      if (over) break;
      std::this_thread::yield();
      continue;
    }
    const Frame f = test::frame_of(test::blocks_of(text_of(blocks)).at(0));
    const auto i = static_cast<std::int64_t>(f.ticks);
    ASSERT_GT(i, last);
    ASSERT_EQ(f.original, static_cast<std::uint32_t>(96 + i % 1400));
    ASSERT_EQ(f.octets.size(), f.original);
    last = i;
    ++frames;
  }
  engine.join();
  EXPECT_EQ(frames, tap.captured());
  EXPECT_EQ(tap.captured() + tap.lost(), static_cast<std::uint64_t>(kFrames));
}

TEST_F(LiveTapTest, SeveralOfOnePortSeeTheSame) {
  LiveTap a({});
  LiveTap b({.limit = 1});
  LiveTap c({});
  TapList list;
  EXPECT_TRUE(list.empty());
  for (LiveTap* tap : {&a, &b, &c}) list.add(tap);
  see(list, {});
  list.remove(&a);
  list.remove(&a);
  see(list, {});
  EXPECT_EQ(a.captured(), 1u);
  EXPECT_EQ(b.captured(), 1u);
  EXPECT_EQ(c.captured(), 2u);
  list.remove(&c);
  EXPECT_FALSE(list.empty());
  list.remove(&b);
  EXPECT_TRUE(list.empty());
}

}  // namespace
}  // namespace railyard
