#include "dataplane/switch/pfc_watchdog.h"

#include <gtest/gtest.h>

namespace railyard {
namespace {

using namespace literals;
using Event = PfcWatchdog::Event;

constexpr PfcWatchdogConfig kConfig{.detect = 30_us, .restore = 20_us, .poll = 10_us};

// One poll after the other, each 10 us later.
class PfcWatchdogTest : public ::testing::Test {
 protected:
  // In the time before it the queue was paused for `paused`, got `xoffs` pause frames and sent `sent` frames.
  Event poll(bool waiting, std::uint64_t sent, Duration paused, std::uint64_t xoffs = 0) {
    now_ = now_ + 10_us;
    total_.waiting = waiting;
    total_.tx_packets += sent;
    total_.paused += paused;
    total_.xoffs += xoffs;
    return dog_.poll(now_, total_, kConfig);
  }
  void until_detected() {
    for (int i = 0; i < 2; ++i) ASSERT_EQ(poll(true, 0, 10_us), Event::kNothing);
    ASSERT_EQ(poll(true, 0, 10_us), Event::kDetected);
  }
  PfcWatchdog dog_;

 private:
  Instant now_{};
  PfcWatchdog::Observation total_;
};

TEST_F(PfcWatchdogTest, DetectsAfterTheDetectionTimeAndOnlyOnce) {
  until_detected();
  EXPECT_TRUE(dog_.storm());
  for (int i = 0; i < 100; ++i) EXPECT_EQ(poll(true, 0, 10_us), Event::kNothing);
}

TEST_F(PfcWatchdogTest, OnePollThatIsNotStuckBeginsAllOver) {
  const auto breaks = [this](bool waiting, std::uint64_t sent, Duration paused) {
    PfcWatchdogTest::dog_ = {};
    poll(true, 0, 10_us);
    poll(true, 0, 10_us);
    EXPECT_EQ(poll(waiting, sent, paused), Event::kNothing);
    EXPECT_EQ(poll(true, 0, 10_us), Event::kNothing);
    EXPECT_EQ(poll(true, 0, 10_us), Event::kNothing);
    EXPECT_EQ(poll(true, 0, 10_us), Event::kDetected);
  };
  poll(false, 0, 0_us);
  breaks(false, 0, 10_us);        // nothing waits
  breaks(true, 1, 10_us);         // something was sent
  breaks(true, 0, 9'900'000_ps);  // 99 % are not more than 99 %
}

TEST_F(PfcWatchdogTest, RestoresWhenNoPauseHasBeenSeenForTheRestorationTime) {
  until_detected();
  EXPECT_EQ(poll(false, 0, 0_us), Event::kNothing);
  EXPECT_EQ(poll(false, 0, 0_us), Event::kRestored);
  EXPECT_FALSE(dog_.storm());
  until_detected();
}

TEST_F(PfcWatchdogTest, APauseFrameBeginsTheRestorationTimeAnew) {
  until_detected();
  EXPECT_EQ(poll(false, 0, 0_us), Event::kNothing);
  EXPECT_EQ(poll(false, 0, 0_us, 1), Event::kNothing);
  EXPECT_EQ(poll(false, 0, 0_us), Event::kNothing);
  EXPECT_EQ(poll(false, 0, 0_us), Event::kRestored);
}

// Pause frames of 65535 quanta at 100 Gb/s come every 168 us: polls in between see none, and the pause stands.
TEST_F(PfcWatchdogTest, ASteadyStormWithRareFramesIsOneStorm) {
  until_detected();
  for (int i = 0; i < 200; ++i) EXPECT_EQ(poll(false, 0, 10_us, i % 17 == 0 ? 1 : 0), Event::kNothing);
}

TEST(PfcWatchdogConfig, PollsNoLessOftenThanItsTimes) {
  EXPECT_TRUE(validate(kConfig, "w").has_value());
  EXPECT_EQ(validate({.poll = {}}, "w").error(), "w.poll: is 0; expected a time above 0");
  EXPECT_EQ(validate({.detect = 5_us, .restore = 20_us, .poll = 10_us}, "w").error(),
            "w.detect: is shorter than poll; expected at least one poll");
  EXPECT_EQ(validate({.detect = 20_us, .restore = 5_us, .poll = 10_us}, "w").error(),
            "w.restore: is shorter than poll; expected at least one poll");
}

}  // namespace
}  // namespace railyard
