#include "dataplane/run/virtual_clock.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include <gtest/gtest.h>

#include "tests/dataplane/run/ticker.h"
#include "tests/support/instant.h"

namespace railyard {
namespace {

using namespace literals;

std::vector<Instant> every(Duration period, int n) {
  std::vector<Instant> due;
  for (int i = 1; i <= n; ++i) due.push_back(at(period * i));
  return due;
}

// Two devices at a link of 500 ns, each with 1 us until anything matters: windows of 1.5 us.
struct Pair {
  Pair(std::vector<Instant> a_due, std::vector<Instant> b_due)
      : a(add("a", std::move(a_due))), b(add("b", std::move(b_due))) {
    fabric.connect({{a.id(), {}}, {b.id(), {}}, 100_Gbps, 500_ns});
  }
  Ticker& add(const char* name, std::vector<Instant> due) { return fabric.add<Ticker>(name, std::move(due)); }

  Fabric fabric;
  Ticker& a;
  Ticker& b;
};

TEST(VirtualClock, DoesEverythingDueAndIdleTimeCostsNothing) {
  Pair p({at(1_us), at(100_s)}, {at(2_us), at(50_s)});
  Engine engine(p.fabric, {});
  run_virtual(engine, at(200_s));
  EXPECT_EQ(p.a.done_at, (std::vector{at(1_us), at(100_s)}));
  EXPECT_EQ(p.b.done_at, (std::vector{at(2_us), at(50_s)}));
  // The first asks the fresh devices; then 1 us and 2 us together, and the other two.
  EXPECT_EQ(engine.windows(), 4u);
}

TEST(VirtualClock, GoesUpToItsEndAndNoFurther) {
  Pair p(every(1_us, 10), every(1_us, 10));
  Engine engine(p.fabric, {});
  run_virtual(engine, at(5_us));
  EXPECT_EQ(p.a.done_at, every(1_us, 4)) << "what is due at the end is not due before it";
  EXPECT_EQ(engine.reached(), at(5_us));
  EXPECT_EQ(p.a.done(), at(5_us));
  EXPECT_EQ(p.b.done(), at(5_us));
  run_virtual(engine, at(1_s));
  EXPECT_EQ(p.a.done_at, every(1_us, 10)) << "and can be continued";
}

TEST(VirtualClock, TimeGoesOnWithoutEvents) {
  Pair p({at(10_s)}, {});
  Engine engine(p.fabric, {});
  run_virtual(engine, at(1_s));
  EXPECT_EQ(p.a.done(), at(1_s)) << "there is more to come later";
  run_virtual(engine, at(20_s));
  EXPECT_EQ(engine.reached(), at(10_s + 1500_ns)) << "nothing is left after that window";
  EXPECT_EQ(p.b.done(), engine.reached());
}

TEST(VirtualClock, TellsHowFarItIsAndStopsWhenAsked) {
  Pair p(every(10_us, 5000), {});
  Engine engine(p.fabric, {});
  std::vector<Instant> told;
  std::atomic<bool> stop{false};
  run_virtual(engine, at(10_s), &stop, [&](Instant now) {
    told.push_back(now);
    if (told.size() == 3) stop = true;
  });
  EXPECT_EQ(told.size(), 3u);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_LT(p.a.done_at.size(), 1000u);
  EXPECT_EQ(p.a.done(), engine.reached());
  EXPECT_EQ(p.b.done(), engine.reached()) << "all at one instant";
}

}  // namespace
}  // namespace railyard
