#include "dataplane/device/pause_state.h"

#include <array>
#include <cstdint>

#include <gtest/gtest.h>

#include "dataplane/base/units.h"
#include "tests/support/instant.h"

namespace railyard {
namespace {

using namespace literals;

constexpr Duration kQuantum = 64_B / 100_Gbps;  // 512 bit times: 5.12 ns
static_assert(kQuantum == 5120_ps);
constexpr Priority kThree{3};
constexpr Priority kFour{4};

using Quanta = std::array<std::uint16_t, kPriorities>;
Quanta quanta(std::uint16_t three, std::uint16_t four = 0) {
  Quanta q{};
  q[3] = three;
  q[4] = four;
  return q;
}

TEST(PauseState, NothingIsPausedAtFirst) {
  PauseState s;
  EXPECT_EQ(s.paused(at(0_ns)), 0);
  EXPECT_EQ(s.touched(), 0);
  EXPECT_EQ(s.first_expiry(0xFF), Instant::never());
  EXPECT_EQ(s.paused_time(kThree, at(1_s)), 0_ps);
}

// 100 quanta are 512 ns.
TEST(PauseState, APauseExpiresByItself) {
  PauseState s;
  s.receive(at(1_us), bit(kThree), quanta(100), kQuantum);
  EXPECT_EQ(s.paused(at(1_us)), bit(kThree));
  EXPECT_EQ(s.first_expiry(bit(kThree)), at(1512_ns));
  EXPECT_EQ(s.first_expiry(bit(kFour)), Instant::never());
  EXPECT_EQ(s.paused(at(1512_ns) - 1_ps), bit(kThree));
  EXPECT_EQ(s.paused(at(1512_ns)), 0) << "not at the instant of expiry itself";
  EXPECT_EQ(s.first_expiry(0xFF), Instant::never());
}

TEST(PauseState, ANewTimeReplacesTheRunningOneLongerOrShorter) {
  PauseState s;
  s.receive(at(0_ns), bit(kThree), quanta(100), kQuantum);
  s.receive(at(500_ns), bit(kThree), quanta(100), kQuantum);
  EXPECT_EQ(s.paused(at(1011_ns)), bit(kThree));
  EXPECT_EQ(s.first_expiry(0xFF), at(1012_ns)) << "500 + 512, not 1024";
  s.receive(at(600_ns), bit(kThree), quanta(10), kQuantum);
  EXPECT_EQ(s.paused(at(600_ns)), bit(kThree));
  EXPECT_EQ(s.first_expiry(0xFF), at(600_ns) + 51'200_ps);
}

// What any thread may read comes to the same once something is heard, or the end is noticed.
TEST(PauseState, TheTimeThatAnyThreadReadsFollows) {
  PauseState s;
  s.receive(at(0_ns), bit(kThree), quanta(100), kQuantum);
  EXPECT_EQ(s.settled_time(kThree), 0_ps);
  s.receive(at(500_ns), bit(kThree), quanta(100), kQuantum);
  EXPECT_EQ(s.settled_time(kThree), 500_ns);
  EXPECT_EQ(s.paused(at(2_us)), 0);
  EXPECT_EQ(s.settled_time(kThree), 1012_ns);
  EXPECT_EQ(s.paused_time(kThree, at(3_us)), 1012_ns);
  s.receive(at(4_us), bit(kThree), quanta(100), kQuantum);
  s.receive(at(4100_ns), bit(kThree), quanta(0), kQuantum);
  EXPECT_EQ(s.settled_time(kThree), 1112_ns);
  EXPECT_EQ(s.paused_time(kThree, at(5_us)), 1112_ns);
}

// IEEE 802.1Q clause 36: a request for a priority that is not enabled is ignored.
TEST(PauseState, APriorityThatIsNotEnabledIsNotPaused) {
  PauseState s;
  s.enable(at(0_ns), bit(kThree));
  s.receive(at(1_us), bit(kThree) | bit(kFour), quanta(100, 100), kQuantum);
  EXPECT_EQ(s.paused(at(1_us)), bit(kThree));
  s.receive(at(1100_ns), bit(kFour), quanta(0, 0), kQuantum);
  EXPECT_EQ(s.not_enabled(kFour), 2u) << "XOFF and XON";
  EXPECT_EQ(s.xoff_received(kFour) + s.xon_received(kFour), 0u);
  EXPECT_EQ(s.paused_time(kFour, at(1_s)), 0_ps);
  EXPECT_EQ(s.not_enabled(kThree), 0u);
  EXPECT_EQ(s.paused_time(kThree, at(1_s)), 512_ns);
}

TEST(PauseState, APauseEndsWhenItsPriorityIsDisabled) {
  PauseState s;
  s.receive(at(1_us), bit(kThree) | bit(kFour), quanta(100, 100), kQuantum);
  s.enable(at(1200_ns), bit(kFour));
  EXPECT_EQ(s.paused(at(1200_ns)), bit(kFour));
  EXPECT_EQ(s.paused_time(kThree, at(1_s)), 200_ns);
  EXPECT_EQ(s.paused_time(kFour, at(1_s)), 512_ns);
  s.enable(at(2_us), bit(kThree));
  EXPECT_EQ(s.paused_time(kFour, at(1_s)), 512_ns) << "it had run out by itself";
}

TEST(PauseState, XonEndsAPauseAtOnce) {
  PauseState s;
  s.receive(at(0_ns), bit(kThree), quanta(0xFFFF), kQuantum);
  s.receive(at(100_ns), bit(kThree), quanta(0), kQuantum);
  EXPECT_EQ(s.paused(at(100_ns)), 0);
  EXPECT_EQ(s.paused_time(kThree, at(1_ms)), 100_ns);
}

TEST(PauseState, OnlyEnabledPrioritiesAreTouched) {
  PauseState s;
  s.receive(at(0_ns), bit(kThree), quanta(100, 100), kQuantum);
  EXPECT_EQ(s.paused(at(1_ns)), bit(kThree));
  s.receive(at(10_ns), bit(kFour), quanta(0, 200), kQuantum);
  EXPECT_EQ(s.paused(at(10_ns)), bit(kThree) | bit(kFour)) << "time[3] = 0 is ignored";
  EXPECT_EQ(s.first_expiry(0xFF), at(512_ns));
  EXPECT_EQ(s.first_expiry(bit(kFour)), at(1034_ns));
  EXPECT_EQ(s.paused(at(512_ns)), bit(kFour));
  EXPECT_EQ(s.xoff_received(kThree), 1u);
  EXPECT_EQ(s.xoff_received(kFour), 1u);
  EXPECT_EQ(s.xon_received(kThree), 0u);
}

// 802.1Q: 65,535 quanta of 512 bit times are 335.5 us at 100 Gb/s, 41.9 us at 800 (roce-and-lossless.md §10.2).
TEST(PauseState, TheLongestPause) {
  for (const auto& [rate, expected] :
       {std::pair{100_Gbps, Duration{335'539'200}}, std::pair{800_Gbps, Duration{41'942'400}},
        std::pair{10_Gbps, Duration{3'355'392'000}}}) {
    PauseState s;
    s.receive(at(0_ns), bit(kThree), quanta(0xFFFF), 64_B / rate);
    EXPECT_EQ(s.first_expiry(bit(kThree)), at(expected));
  }
}

TEST(PauseState, PausedTimeCountsOverlapsOnceAndGapsNot) {
  PauseState s;
  s.receive(at(0_ns), bit(kThree), quanta(100), kQuantum);  // 0 .. 512
  EXPECT_EQ(s.paused_time(kThree, at(100_ns)), 100_ns);
  s.receive(at(400_ns), bit(kThree), quanta(100), kQuantum);  // .. 912: 112 overlap
  EXPECT_EQ(s.paused_time(kThree, at(700_ns)), 700_ns);
  EXPECT_EQ(s.paused_time(kThree, at(2000_ns)), 912_ns);
  s.receive(at(1000_ns), bit(kThree), quanta(100), kQuantum);  // 1000 .. 1512
  EXPECT_EQ(s.paused_time(kThree, at(1000_ns)), 912_ns);
  s.receive(at(1200_ns), bit(kThree), quanta(0), kQuantum);  // XON
  EXPECT_EQ(s.paused_time(kThree, at(5000_ns)), 1112_ns);
  s.receive(at(6000_ns), bit(kThree), quanta(0), kQuantum);  // XON for what is not paused
  EXPECT_EQ(s.paused_time(kThree, at(7000_ns)), 1112_ns);
  EXPECT_EQ(s.xoff_received(kThree), 3u);
  EXPECT_EQ(s.xon_received(kThree), 2u);
  EXPECT_EQ(s.paused_time(kFour, at(7000_ns)), 0_ps);
}

TEST(PauseState, TheAnswerDoesNotDependOnWhoAskedBefore) {
  PauseState asked;
  PauseState not_asked;
  for (PauseState* s : {&asked, &not_asked}) s->receive(at(0_ns), bit(kThree), quanta(100), kQuantum);
  for (int i = 0; i < 600; ++i) asked.paused(at(1_ns * i));
  for (PauseState* s : {&asked, &not_asked}) {
    s->receive(at(600_ns), bit(kThree), quanta(10), kQuantum);
    EXPECT_EQ(s->paused(at(651_ns)), bit(kThree));
    EXPECT_EQ(s->paused_time(kThree, at(1_us)), 512_ns + 51'200_ps);
  }
}

TEST(PauseState, ALinkThatGoesDownForgetsEveryPause) {
  PauseState s;
  s.receive(at(0_ns), bit(kThree) | bit(kFour), quanta(100, 1000), kQuantum);
  s.clear(at(200_ns));
  EXPECT_EQ(s.paused(at(200_ns)), 0);
  EXPECT_EQ(s.first_expiry(0xFF), Instant::never());
  EXPECT_EQ(s.paused_time(kThree, at(1_ms)), 200_ns);
  EXPECT_EQ(s.paused_time(kFour, at(1_ms)), 200_ns);
}

}  // namespace
}  // namespace railyard
