// The wall clock on a machine whose time a test decides.
#include "dataplane/run/wall_clock.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "tests/dataplane/run/ticker.h"
#include "tests/support/instant.h"

namespace railyard {
namespace {

using namespace literals;

const std::atomic<bool> kGoOn{false};

// Time passes only by waiting, and by what a test adds.
class SlowMotion final : public Machine {
 public:
  Duration time() override { return now += per_look; }
  void yield() override {
    ++yields;
    now += per_yield;
  }
  void sleep(Duration d) override {
    ++sleeps;
    now += d;
  }
  bool wait(Duration most, std::span<const int>) override {
    ++waits;
    now += most;
    return announced;
  }
  Duration now = 5_s;  // its clock began before the run
  Duration per_look{};
  Duration per_yield = 1_us;
  int yields = 0;
  int waits = 0;
  bool announced = false;  // what a wait ends with
  int sleeps = 0;
};

class WallClockTest : public ::testing::Test {
 protected:
  WallClockStats run(std::vector<Instant> due, Instant until = at(1_s), const std::atomic<bool>& stop = kGoOn) {
    ticker = &fabric.add<Ticker>("t", std::move(due));
    ticker->on_tick = [this](Instant now) {
      wall_of_tick.push_back(machine.now - 5_s);
      if (on_tick) on_tick(now);
      machine.now += cost;
    };
    ticker->on_poll = on_poll;
    Engine engine(fabric, {});
    engine.step(at(1_ps));  // the question to the fresh device
    const WallClockStats stats = run_wall(engine, until, config, stop, progress, machine, live);
    reached = engine.reached();
    return stats;
  }

  Fabric fabric;
  Ticker* ticker = nullptr;
  SlowMotion machine;
  WallClockConfig config{};
  Duration cost{};  // of each tick, in wall time
  std::function<void(Instant)> on_tick;
  std::function<Instant(Instant)> on_poll;
  std::function<void(Instant)> progress;
  std::vector<Duration> wall_of_tick;
  Instant reached;
  WallClockLive* live = nullptr;
};

TEST_F(WallClockTest, NothingIsDoneBeforeItsTimeAndAllOfItSoonAfter) {
  run({at(10_us), at(15_us), at(3_ms)});
  EXPECT_EQ(ticker->done_at, (std::vector{at(10_us), at(15_us), at(3_ms)}));
  ASSERT_EQ(wall_of_tick.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_GE(at(wall_of_tick[i]), ticker->done_at[i]);
    EXPECT_LE(at(wall_of_tick[i]), ticker->done_at[i] + 51_us) << "a sleep and a turn";
  }
  EXPECT_GT(machine.sleeps, 10) << "3 ms are slept through";
}

TEST_F(WallClockTest, DilatedAHundredTimesEverythingTakesAHundredTimesAsLong) {
  config.scale_denominator = 100;
  run({at(10_us), at(30_us)});
  ASSERT_EQ(wall_of_tick.size(), 2u);
  EXPECT_NEAR(static_cast<double>(wall_of_tick[0].ps), 1e9, 51e6);
  EXPECT_NEAR(static_cast<double>(wall_of_tick[1].ps), 3e9, 51e6);
}

// All of time is one window here. A tick that is found at 10 us and costs 3 us is done 3 us late.
TEST_F(WallClockTest, LatenessIsFromTheEndOfAWindowUntilItIsDone) {
  cost = 3_us;
  machine.per_yield = 5_us;
  const WallClockStats stats = run({at(9_us), at(1_ms)});
  EXPECT_EQ(stats.lateness.count(), 2u) << "one per window";
  EXPECT_EQ(stats.lateness.min(), 3'000'000u);
  EXPECT_EQ(stats.lateness.max(), 3'000'000u);
  EXPECT_EQ(stats.slips, 0u);
  EXPECT_EQ(stats.slip, 0_ns);
}

// Ten ticks 100 us apart, each worth 5 ms of the machine's time: the first is late by more than the limit of 1 ms, and
// those behind it the more.
TEST_F(WallClockTest, TooFarBehindModelledTimeSlipsAndOrderStays) {
  cost = 5_ms;
  std::vector<Instant> due;
  for (int i = 1; i <= 10; ++i) due.push_back(at(100_us * i));
  fabric.add<Ticker>("near", std::vector<Instant>{});
  fabric.add<Ticker>("peer", std::vector<Instant>{});
  fabric.connect({{DeviceId{0}, {}}, {DeviceId{1}, {}}, 100_Gbps, 500_ns});  // windows of 1.5 us
  const WallClockStats stats = run(due, at(2_ms));
  EXPECT_EQ(ticker->done_at, due);
  EXPECT_GE(stats.slips, 1u);
  // 50 ms were needed for 1 ms of modelled time; at most the limit of it is not forgiven.
  EXPECT_GT(stats.slip, 48_ms);
  EXPECT_LE(stats.slip, 50_ms);
  // Wall time is modelled time and what slipped: nothing is lost from the account.
  EXPECT_NEAR(static_cast<double>((stats.wall - stats.slip).ps), 2e9, 51e6);
}

TEST_F(WallClockTest, BehindByLessThanTheLimitItCatchesUp) {
  cost = 300_us;
  fabric.add<Ticker>("near", std::vector<Instant>{});
  fabric.add<Ticker>("peer", std::vector<Instant>{});
  fabric.connect({{DeviceId{0}, {}}, {DeviceId{1}, {}}, 100_Gbps, 500_ns});
  const WallClockStats stats = run({at(100_us), at(110_us), at(2_ms)}, at(3_ms));
  EXPECT_EQ(stats.slips, 0u);
  EXPECT_GE(stats.lateness.max(), 580'000'000u) << "the second waited for the first";
  EXPECT_LE(wall_of_tick.back(), 2_ms + 51_us) << "and the third for nobody";
}

TEST_F(WallClockTest, BeingAwayForLongIsWrittenDown) {
  machine.per_yield = 40_us;
  on_tick = [this](Instant) { machine.now += 700_us; };
  const WallClockStats stats = run({at(1_ms), at(5_ms)}, at(6_ms));
  EXPECT_EQ(stats.gaps.count(), 2u) << "turns of 40 and sleeps of 50 us are none";
  EXPECT_GE(stats.gaps.min(), 700'000'000u);
}

TEST_F(WallClockTest, PollingForLatencyNeverLetsGoOfTheCore) {
  config.polling = Polling::kLatency;
  machine.per_look = 100_ns;
  run({at(1_ms)});
  EXPECT_EQ(machine.yields, 0);
  EXPECT_EQ(machine.sleeps, 0);
  EXPECT_EQ(machine.waits, 0);
}

// A tick each 10 ms: nothing is done early, all soon after, and the core is free in between.
TEST_F(WallClockTest, PollingIdleSleepsAsSoonAsNothingIsDue) {
  config.polling = Polling::kIdle;
  std::vector<Instant> due;
  for (int i = 1; i <= 10; ++i) due.push_back(at(10_ms * i));
  run(due);
  EXPECT_EQ(ticker->done_at, due);
  for (std::size_t i = 0; i < due.size(); ++i) {
    EXPECT_GE(at(wall_of_tick[i]), due[i]);
    EXPECT_LE(at(wall_of_tick[i]), due[i] + 51_us);
  }
  EXPECT_LE(machine.yields, 10 * 20) << "at most the last 20 us before a tick, 1 us each";
  EXPECT_LE(machine.waits, 10 * 100) << "80 of 50 us, then longer ones";
}

// After traffic it looks again every 50 us for a while: for those who cannot say that they have something.
TEST_F(WallClockTest, PollingIdleLooksSoonAfterTrafficAndThenEverMoreSeldom) {
  config.polling = Polling::kIdle;
  std::vector<Instant> polls;
  on_poll = [&](Instant now) {
    polls.push_back(now);
    return Instant::never();
  };
  run({}, at(1_s));
  ASSERT_GE(polls.size(), 84u);
  EXPECT_EQ(polls[1] - polls[0], 50_us);
  EXPECT_EQ(polls[80] - polls[79], 50_us);
  EXPECT_EQ(polls[82] - polls[81], 100_us);
  EXPECT_EQ(polls[83] - polls[82], 200_us);
  EXPECT_LE(polls.size(), 80u + 270u) << "4 ms apart in the end";
  EXPECT_GE(polls.size(), 80u + 240u);
}

// A slow tick, then quiet again.
TEST_F(WallClockTest, PollingIdleBeginsAnewAfterTraffic) {
  config.polling = Polling::kIdle;
  std::vector<Instant> polls;
  on_poll = [&](Instant now) {
    polls.push_back(now);
    return Instant::never();
  };
  run({at(500_ms)}, at(1_s));
  const auto after = std::ranges::upper_bound(polls, at(500_ms));
  ASSERT_NE(after, polls.end());
  ASSERT_NE(after + 1, polls.end());
  EXPECT_LE(*(after + 1) - *after, 100_us);
}

// Nothing to do for ever, and an outside that could come up with something.
class WallClockIdle : public WallClockTest, public ::testing::WithParamInterface<std::int64_t> {};

TEST_P(WallClockIdle, ForLongItSleeps) {
  config.scale_denominator = GetParam();
  std::atomic<bool> stop{false};
  int polls = 0;
  on_poll = [&](Instant) {
    if (++polls == 1000) stop = true;
    return Instant::never();
  };
  run({}, Instant::never(), stop);
  EXPECT_GT(machine.sleeps, 700);
}

INSTANTIATE_TEST_SUITE_P(Dilated, WallClockIdle, ::testing::Values(1, 100), ::testing::PrintToStringParamName());

TEST_F(WallClockTest, WhatComesFromOutsideIsDoneAtTheInstantOfThePoll) {
  std::vector<Instant> came;
  on_poll = [&](Instant now) {
    if (now < at(100_us) || !came.empty()) return Instant::never();
    came.push_back(now);
    ticker->add(now);
    return now;
  };
  run({}, at(200_us));
  ASSERT_EQ(came.size(), 1u);
  EXPECT_EQ(ticker->done_at, came);
  EXPECT_EQ(reached, at(200_us)) << "with an outside, time goes on to the end";
}

TEST_F(WallClockTest, EndsWhenNothingIsLeft) {
  run({at(10_us)}, at(10_s));
  EXPECT_LT(reached, at(1_ms));
  EXPECT_EQ(ticker->done(), reached);
}

TEST_F(WallClockTest, EndsAtItsEnd) {
  run({at(10_us), at(2_ms)}, at(1_ms));
  EXPECT_EQ(ticker->done_at, (std::vector{at(10_us)}));
  EXPECT_EQ(reached, at(1_ms));
  EXPECT_EQ(ticker->done(), at(1_ms));
}

TEST_F(WallClockTest, TellsFourTimesASecondHowFarItIs) {
  std::vector<Instant> told;
  progress = [&](Instant now) { told.push_back(now); };
  run({at(1100_ms)}, at(1200_ms));
  EXPECT_EQ(told.size(), 4u);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
}

// ---- Requests of others ----

class WallClockLiveTest : public WallClockTest {
 protected:
  WallClockLiveTest() { live = &others; }
  WallClockLive others;
};

TEST_F(WallClockLiveTest, WhatIsAskedIsDoneBetweenWindowsAtAnInstantThatNobodyHasPassed) {
  std::vector<Instant> effective;
  on_tick = [&](Instant) {
    if (!effective.empty()) return;
    EXPECT_TRUE(others.requests.post([&](Engine& engine, Instant now) {
      EXPECT_GE(now, engine.reached());
      EXPECT_GE(now, ticker->done());
      effective.push_back(now);
      ticker->change_at(now, [&](Instant changed) { effective.push_back(changed); });
      engine.wake_all();
    }));
  };
  run({at(10_us), at(300_us)}, at(400_us));
  ASSERT_EQ(effective.size(), 2u);
  EXPECT_EQ(effective[0], effective[1]);
  EXPECT_GE(effective[0], at(10_us));
  EXPECT_LE(effective[0], at(100_us));
}

TEST_F(WallClockLiveTest, NoMoreWaitThanThereIsRoomForAndTheyAreServedInOrder) {
  std::vector<std::size_t> served;
  for (std::size_t i = 0; i < Requests::kMost; ++i)
    EXPECT_TRUE(others.requests.post([&served, i](Engine&, Instant) { served.push_back(i); }));
  EXPECT_FALSE(others.requests.post([](Engine&, Instant) { FAIL(); }));
  run({}, at(10_us));
  ASSERT_EQ(served.size(), Requests::kMost);
  EXPECT_TRUE(std::is_sorted(served.begin(), served.end()));
  EXPECT_TRUE(others.requests.post([](Engine&, Instant) {})) << "room again";
}

TEST_F(WallClockLiveTest, RequestsSeeWhatHasBeenMeasuredSoFar) {
  std::uint64_t windows = 0;
  on_tick = [&](Instant now) {
    if (now != at(20_us)) return;
    EXPECT_TRUE(others.requests.post([&](Engine&, Instant) { windows = others.stats->lateness.count(); }));
  };
  const WallClockStats stats = run({at(10_us), at(20_us), at(300_us)}, at(400_us));
  EXPECT_GE(windows, 1u);
  EXPECT_LT(windows, stats.lateness.count());
  EXPECT_EQ(others.stats, nullptr) << "nothing is measured any more";
}

TEST_F(WallClockLiveTest, HeldTimeStandsStillAndIsNoSlip) {
  on_tick = [&](Instant now) {
    if (now != at(10_us)) return;
    others.requests.hold(true);
    EXPECT_TRUE(others.requests.post([&](Engine&, Instant) { machine.now += 5_s; }));
    EXPECT_TRUE(others.requests.post([&](Engine&, Instant) { others.requests.hold(false); }));
  };
  const WallClockStats stats = run({at(10_us), at(20_us)}, at(1_ms));
  ASSERT_EQ(wall_of_tick.size(), 2u);
  EXPECT_GT(wall_of_tick[1] - wall_of_tick[0], 5_s);
  EXPECT_LT(wall_of_tick[1] - wall_of_tick[0], 5_s + 200_ms);
  EXPECT_EQ(stats.slip, 0_ns);
  EXPECT_EQ(reached, at(1_ms));
}

TEST_F(WallClockLiveTest, ItGoesOnWhenNothingIsLeftAndTellsHowItGoes) {
  std::atomic<bool> stop{false};
  progress = [&](Instant now) { stop = now > at(1_s); };
  cost = 3_us;
  run({at(10_us)}, Instant::never(), stop);
  EXPECT_GT(reached, at(1_s));
  EXPECT_GE(others.reached_ps.read(), 750'000'000'000u);
  EXPECT_GE(others.lateness_max_ps.read(), 3'000'000u);
}

// Quiet for long it waits to be told: here nothing else may come, so seldom more than ten times a second.
TEST_F(WallClockLiveTest, QuietForLongItWaitsUntilSomethingComes) {
  run({}, at(10_s));
  EXPECT_EQ(machine.sleeps, 1024);
  EXPECT_GE(machine.waits, 98);
  EXPECT_LE(machine.waits, 170) << "and to tell how it goes";
}

// What is announced and not taken, as behind a link that is down, does not keep it busy.
TEST_F(WallClockLiveTest, WhatNobodyTakesDoesNotKeepItBusy) {
  machine.announced = true;
  run({}, at(1_s));
  EXPECT_EQ(machine.waits, 1);
  EXPECT_LE(machine.sleeps, 1024 + 1000);
}

TEST_F(WallClockLiveTest, PollingIdleWhatNobodyTakesDoesNotKeepItBusy) {
  config.polling = Polling::kIdle;
  machine.announced = true;
  run({}, at(1_s));
  EXPECT_EQ(machine.waits, 1);
  EXPECT_LE(machine.sleeps, 80 + 1100);
}

TEST_F(WallClockLiveTest, PollingIdleWaitsUntilSomethingComes) {
  config.polling = Polling::kIdle;
  run({}, at(10_s));
  EXPECT_EQ(machine.sleeps, 0);
  EXPECT_GE(machine.waits, 98);
  EXPECT_LE(machine.waits, 80 + 180) << "short ones first, and to tell how it goes";
}

// A host that does not announce what it sends is looked after every 4 ms.
TEST_F(WallClockTest, QuietForLongItLooksAfterHostsThatSayNothing) {
  on_poll = [](Instant) { return Instant::never(); };
  run({}, at(10_s));
  EXPECT_EQ(machine.sleeps, 1024);
  EXPECT_GE(machine.waits, 2450);
  EXPECT_LE(machine.waits, 2550);
}

}  // namespace
}  // namespace railyard
