#include "control/telemetry/deadlock.h"

#include <gtest/gtest.h>

#include "control/spec/load.h"

namespace railyard::telemetry {
namespace {

using namespace literals;

constexpr Instant kNow = Instant{} + 10_ms;

PortClass queue(std::uint32_t device) { return {DeviceId{device}, PortIndex{0}, Priority{3}}; }

// Queue i is that of device i, paused for `ages[i]`.
PauseGraph graph(const std::vector<Duration>& ages, const std::vector<std::pair<std::size_t, std::size_t>>& waits) {
  PauseGraph g{kNow, {}};
  for (std::size_t i = 0; i < ages.size(); ++i)
    g.paused.push_back({queue(static_cast<std::uint32_t>(i)), kNow - ages[i], {}, {}});
  for (const auto& [from, to] : waits) g.paused[from].waits_for.push_back(to);
  return g;
}

TEST(Deadlock, AChainIsNone) {
  EXPECT_TRUE(find_deadlocks(graph({5_ms, 5_ms, 5_ms}, {{0, 1}, {1, 2}}), 1_ms).empty());
  EXPECT_TRUE(find_deadlocks(graph({}, {}), 1_ms).empty());
}

TEST(Deadlock, ARingIsNamedFromItsLeastAndDatedByItsLast) {
  const auto found = find_deadlocks(graph({5_ms, 3_ms, 4_ms}, {{0, 2}, {2, 1}, {1, 0}}), 1_ms);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].ring, (std::vector{queue(0), queue(2), queue(1)}));
  EXPECT_EQ(found[0].since, kNow - 3_ms);
}

TEST(Deadlock, OnePausedJustNowKeepsItFromBeingOne) {
  EXPECT_TRUE(find_deadlocks(graph({5_ms, 999_us}, {{0, 1}, {1, 0}}), 1_ms).empty());
  EXPECT_EQ(find_deadlocks(graph({5_ms, 1_ms}, {{0, 1}, {1, 0}}), 1_ms).size(), 1u);
}

// 3 and 4 wait for the ring 0, 1 and are none of it; 2 is in a ring that is broken.
TEST(Deadlock, VictimsAreNotOfTheRing) {
  const auto found =
      find_deadlocks(graph({5_ms, 5_ms, 5_ms, 5_ms, 5_ms}, {{4, 3}, {3, 0}, {0, 2}, {0, 1}, {1, 0}}), 1_ms);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].ring, (std::vector{queue(0), queue(1)}));
}

TEST(Deadlock, TwoRingsAreTwo) {
  EXPECT_EQ(find_deadlocks(graph({5_ms, 5_ms, 5_ms, 5_ms}, {{0, 1}, {1, 0}, {2, 3}, {3, 2}, {1, 2}}), 1_ms).size(), 2u);
}

TEST(DeadlockWatch, KeepsWhatItHasSeenAndWhenItWasGone) {
  const build::BuiltLab lab(spec::parse(R"(
name: two
nodes: { a: { kind: switch }, b: { kind: switch } }
links: [[a:1, b:1]]
)",
                                        "two.yaml"));
  DeadlockWatch watch(1_ms);
  PauseGraph ring = graph({5_ms, 5_ms}, {{0, 1}, {1, 0}});
  watch.look(lab, ring);
  ring.at = kNow + 1_ms;
  watch.look(lab, ring);
  ASSERT_EQ(watch.seen().size(), 1u);
  EXPECT_EQ(watch.seen()[0].ring, (std::vector<std::string>{"a:1 class 3", "b:1 class 3"}));
  EXPECT_EQ(watch.seen()[0].since, kNow - 5_ms);
  EXPECT_EQ(watch.seen()[0].seen, kNow);
  EXPECT_FALSE(watch.seen()[0].resolved.has_value());
  PauseGraph nothing{kNow + 2_ms, {}};
  watch.look(lab, nothing);
  EXPECT_EQ(watch.seen()[0].resolved, kNow + 2_ms);
}

}  // namespace
}  // namespace railyard::telemetry
