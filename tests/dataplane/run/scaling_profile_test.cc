#include "dataplane/run/scaling_profile.h"

#include <string>

#include <gtest/gtest.h>

#include "dataplane/run/placement.h"
#include "tests/dataplane/run/juggler.h"

namespace railyard {
namespace {

using namespace literals;

// 64 devices without links, so that any placement is as good as another.
class Scaling : public testing::Test {
 protected:
  Scaling() {
    for (int i = 0; i < 64; ++i) fabric_.add<Juggler>("d" + std::to_string(i), 1, 0);
  }
  static const ScalingEstimate& of(const std::vector<ScalingEstimate>& all, std::size_t workers) {
    for (const ScalingEstimate& e : all)
      if (e.workers == workers) return e;
    throw std::out_of_range("no such number of workers");
  }

  Fabric fabric_;
};

constexpr std::uint64_t kCycles = 100'000'000;  // so long that meetings take no time beside it

TEST_F(Scaling, EvenWorkScalesWithTheNumberOfWorkersAsLongAsWindowsAreFull) {
  ScalingProfile profile(fabric_, 1_us);
  for (int w = 0; w < 10; ++w) {
    for (std::size_t d = 0; d < fabric_.size(); ++d) profile.add(d, kCycles);
    profile.end_window();
  }
  const auto all = profile.estimates();
  EXPECT_NEAR(of(all, 2).speedup, 2, 0.01);
  EXPECT_NEAR(of(all, 8).speedup, 8, 0.1) << "eight devices for each worker";
  EXPECT_DOUBLE_EQ(of(all, 8).parallel_windows, 1);
  EXPECT_NEAR(of(all, 8).imbalance, 1, 1e-9);
  EXPECT_EQ(all.back().workers, 8u) << "of 16, none would have eight devices: all windows would be done by one";
}

TEST_F(Scaling, AWindowTakesAsLongAsItsBusiestWorker) {
  const auto worker_of = place_devices(fabric_, 2);
  ScalingProfile profile(fabric_, Duration{});
  // One worker has three times as much to do as the other.
  for (std::size_t d = 0; d < fabric_.size(); ++d) profile.add(d, worker_of[d] == 0 ? 3 * kCycles : kCycles);
  profile.end_window();
  const ScalingEstimate e = of(profile.estimates(), 2);
  EXPECT_NEAR(e.imbalance, 1.5, 0.01) << "three of a mean of two";
  EXPECT_NEAR(e.speedup, 4.0 / 3, 0.01);
}

TEST_F(Scaling, ThinWindowsAndMeetingsCost) {
  ScalingProfile profile(fabric_, 1_us);
  for (int w = 0; w < 1000; ++w) {
    for (std::size_t d = 0; d < 4; ++d) profile.add(d, 1000);
    profile.end_window();
  }
  EXPECT_DOUBLE_EQ(of(profile.estimates(), 2).speedup, 1) << "four devices are due: one worker does that";
  ScalingProfile busy(fabric_, Duration{1'000'000'000});  // 1 ms
  for (std::size_t d = 0; d < fabric_.size(); ++d) busy.add(d, 10);
  busy.end_window();
  EXPECT_LT(of(busy.estimates(), 2).speedup, 0.1) << "nearly all of the time is waiting for each other";
}

TEST_F(Scaling, MeetingTakesATime) { EXPECT_GT(ScalingProfile::measure_meeting(), Duration{}); }

}  // namespace
}  // namespace railyard
