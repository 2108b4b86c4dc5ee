// Pauses between the end of the warm-up and the end of traffic, of the worst class of a port.
#include "control/report/steady_pauses.h"

#include <string>

#include <gtest/gtest.h>

namespace railyard::report {
namespace {

using namespace literals;

// leaf1 with two ports, 1 ms after the warm-up.
Snapshot leaf(Duration at) {
  DeviceCounters c;
  c.name = "leaf1";
  c.at = Instant{} + at;
  c.ports.resize(2);
  return {c};
}

std::optional<SteadyPauses> steady(const Snapshot& warm, const Snapshot& end) {
  return steady_pauses(warm, end, [](std::size_t, std::size_t p) { return "h" + std::to_string(p + 1) + ":1"; });
}

TEST(SteadyPauses, CountFromTheWarmUpOn) {
  Snapshot warm = leaf(1_ms);
  Snapshot end = leaf(3_ms);
  warm[0].ports[1].classes[3].paused = 300_us;
  end[0].ports[1].classes[3].paused = 800_us;
  warm[0].ports[0].classes[5].xoff_sent = 100;
  end[0].ports[0].classes[5].xoff_sent = 140;
  const auto s = steady(warm, end);
  ASSERT_TRUE(s);
  EXPECT_DOUBLE_EQ(s->share, 0.25);
  EXPECT_EQ(s->share_at, "leaf1:2 class 3");
  EXPECT_DOUBLE_EQ(s->xoff_per_second, 20'000);
  EXPECT_EQ(s->xoff_at, "leaf1:1 class 5");
  EXPECT_EQ(s->from_ns, 1'000'000);
  EXPECT_EQ(s->to_ns, 3'000'000);
}

// Attached hosts and capture files do not count what they send.
TEST(SteadyPauses, CountXoffsWhereTheyArriveToo) {
  Snapshot end = leaf(3_ms);
  end[0].ports[1].classes[3].xoff_received = 100;
  const auto s = steady(leaf(1_ms), end);
  EXPECT_DOUBLE_EQ(s->xoff_per_second, 50'000);
  EXPECT_EQ(s->xoff_at, "h2:1 class 3");
}

TEST(SteadyPauses, NeedTimeAfterTheWarmUp) {
  EXPECT_FALSE(steady({}, leaf(3_ms)));
  EXPECT_FALSE(steady(leaf(3_ms), leaf(3_ms)));
  EXPECT_FALSE(steady(leaf(3_ms), leaf(1_ms)));
}

}  // namespace
}  // namespace railyard::report
