#include "dataplane/device/scheduler.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/base/rng.h"

namespace railyard {
namespace {

using Classes = std::array<ClassScheduling, kPriorities>;

constexpr PriorityMask mask(std::initializer_list<int> classes) {
  unsigned m = 0;
  for (const int c : classes) m |= 1u << c;
  return static_cast<PriorityMask>(m);
}

// Picks `n` times from queues that never run dry; all frames of class c have octets[c]. Every queue has something, so
// the classes that are not eligible are paused.
std::vector<int> picks(Scheduler& s, PriorityMask eligible, const std::array<std::uint32_t, kPriorities>& octets, int n,
                       PriorityMask nonempty = 0xFF) {
  std::vector<int> order;
  for (int i = 0; i < n; ++i)
    order.push_back(s.pick(eligible, nonempty, [&](Priority p) { return octets[p.index()]; }).value);
  return order;
}

TEST(Scheduler, TheHighestStrictClassGoesFirst) {
  Classes classes{};
  classes[2].strict = classes[5].strict = classes[6].strict = true;
  Scheduler s;
  s.configure(classes, 1000);
  std::array<std::uint32_t, kPriorities> octets{};
  octets.fill(1000);
  EXPECT_EQ(picks(s, 0xFF, octets, 3), (std::vector{6, 6, 6}));
  EXPECT_EQ(picks(s, mask({0, 2, 5, 7}), octets, 3), (std::vector{5, 5, 5}));
  EXPECT_EQ(picks(s, mask({0, 2, 7}), octets, 2), (std::vector{2, 2})) << "above class 7, which is not strict";
  // Without them the others share as if nothing had been.
  EXPECT_EQ(picks(s, mask({0, 7}), octets, 4), (std::vector{7, 0, 7, 0}));
}

TEST(Scheduler, AloneIsAlone) {
  Scheduler s;
  s.configure({}, 1000);
  for (int c = 0; c < 8; ++c)
    EXPECT_EQ(s.pick(mask({c}), mask({c}), [](Priority) { return 9000u; }).value, c) << "whatever its size and deficit";
}

// Weights 1 : 2 : 5, frames of all sizes in each class, 40,000 frames: after each round the classes differ from their
// shares by less than a frame and a quantum (at most 9238 octets each) of some 190 MB.
TEST(Scheduler, SharesFollowTheWeightsWhateverTheFrameSizes) {
  constexpr std::uint32_t kLargest = 9238;
  Classes classes{};
  classes[1].weight = 1;
  classes[3].weight = 2;
  classes[4].weight = 5;
  Scheduler s;
  s.configure(classes, kLargest);
  RngStream rng(Seed{1}, "scheduler_test");
  std::array<std::uint32_t, kPriorities> head{};
  const auto refill = [&](std::size_t c) {
    // Class 1 has small frames only, class 3 large ones, class 4 any.
    head[c] = static_cast<std::uint32_t>(c == 1   ? 64 + rng.below(200)
                                         : c == 3 ? 9000 + rng.below(238)
                                                  : 64 + rng.below(9174));
  };
  for (const std::size_t c : {1u, 3u, 4u}) refill(c);
  std::array<std::uint64_t, kPriorities> sent{};
  std::uint64_t total = 0;
  for (int i = 0; i < 40'000; ++i) {
    const Priority p = s.pick(mask({1, 3, 4}), mask({1, 3, 4}), [&](Priority c) { return head[c.index()]; });
    sent[p.index()] += head[p.index()];
    total += head[p.index()];
    refill(p.index());
  }
  const auto share = [&](std::size_t c) { return static_cast<double>(sent[c]) / static_cast<double>(total); };
  EXPECT_NEAR(share(1), 1.0 / 8, 0.01 / 8);
  EXPECT_NEAR(share(3), 2.0 / 8, 0.02 / 8);
  EXPECT_NEAR(share(4), 5.0 / 8, 0.05 / 8);
}

// Class 1's quantum is one frame, class 0's a thousandth of it.
TEST(Scheduler, TheSmallestWeightHasItsTurnAfterAThousandRounds) {
  Classes classes{};
  classes[0].weight = 1;
  classes[1].weight = 1000;
  Scheduler s;
  s.configure(classes, 1000);
  std::array<std::uint32_t, kPriorities> octets{};
  octets.fill(1000);
  const std::vector<int> order = picks(s, mask({0, 1}), octets, 3003);
  EXPECT_EQ(std::count(order.begin(), order.end(), 0), 3);
}

// Deficit weighted round robin step by step.
struct StepByStep {
  std::array<std::int64_t, kPriorities> deficit{};
  std::array<std::int64_t, kPriorities> quantum{};
  unsigned strict = 0;
  std::size_t turn = 0;

  std::uint8_t pick(unsigned eligible, unsigned nonempty, const std::array<std::uint32_t, kPriorities>& head) {
    for (std::size_t p = 0; p < kPriorities; ++p)
      if ((nonempty >> p & 1) == 0) deficit[p] = 0;
    for (std::size_t p = kPriorities; p-- > 0;)
      if ((eligible & strict) >> p & 1) return static_cast<std::uint8_t>(p);
    if (std::popcount(eligible) == 1) return static_cast<std::uint8_t>(std::countr_zero(eligible));
    for (;;) {
      if ((eligible >> turn & 1) != 0 && deficit[turn] >= head[turn]) {
        deficit[turn] -= head[turn];
        return static_cast<std::uint8_t>(turn);
      }
      do turn = (turn + 1) % kPriorities;
      while ((eligible >> turn & 1) == 0);
      deficit[turn] += quantum[turn];
    }
  }
};

// Rounds in which no queue gets far enough are gone through at once; that must make no difference.
TEST(Scheduler, PicksAsDeficitRoundRobinDoesStepByStep) {
  for (std::uint64_t round = 0; round < 50; ++round) {
    RngStream rng(Seed{round}, "scheduler_test/steps");
    constexpr std::uint32_t kLargest = 2000;
    Classes classes{};
    StepByStep model;
    std::uint16_t most = 1;
    for (ClassScheduling& c : classes) {
      c.strict = rng.below(6) == 0;
      c.weight = static_cast<std::uint16_t>(rng.below(2) == 0 ? 1 + rng.below(4) : 1 + rng.below(1000));
      if (!c.strict) most = std::max(most, c.weight);
    }
    for (std::size_t p = 0; p < kPriorities; ++p) {
      model.strict |= classes[p].strict ? 1u << p : 0u;
      model.quantum[p] = std::max<std::int64_t>(1, std::int64_t{classes[p].weight} * kLargest / most);
    }
    Scheduler s;
    s.configure(classes, kLargest);
    std::array<std::uint32_t, kPriorities> head{};
    for (std::uint32_t& h : head) h = static_cast<std::uint32_t>(64 + rng.below(1937));
    for (int i = 0; i < 2000; ++i) {
      const auto nonempty = static_cast<PriorityMask>(rng.below(10) == 0 ? 1 + rng.below(255) : 0xFF);
      auto eligible = static_cast<PriorityMask>(nonempty & (rng.below(4) == 0 ? rng.below(256) : 0xFF));
      if (eligible == 0) eligible = nonempty;
      const Priority picked = s.pick(eligible, nonempty, [&](Priority p) { return head[p.index()]; });
      ASSERT_EQ(picked.value, model.pick(eligible, nonempty, head)) << "round " << round << " pick " << i;
      head[picked.index()] = static_cast<std::uint32_t>(64 + rng.below(1937));
    }
  }
}

// Three classes of equal weight, quantum 1000, frames of 600: a turn sends one frame and saves 400, so that the next
// turn has 1400 and sends two, and saves 200.
class Deficit : public ::testing::Test {
 protected:
  Deficit() {
    s.configure({}, 1000);
    octets.fill(600);
    // 1: 1000 - 600 = 400 left; 2: the same; 0: the same.
    EXPECT_EQ(picks(s, mask({0, 1, 2}), octets, 3), (std::vector{1, 2, 0}));
  }
  Scheduler s;
  std::array<std::uint32_t, kPriorities> octets{};
};

TEST_F(Deficit, WhatIsLeftOfATurnIsCarriedToTheNext) {
  EXPECT_EQ(picks(s, mask({0, 1, 2}), octets, 6), (std::vector{1, 1, 2, 2, 0, 0}));
}

TEST_F(Deficit, APausedClassKeepsItAndGainsNothing) {
  // Class 1 is not eligible while the others have their turns: 2 and 0 go from 400 over 200 and 0 back to 400.
  EXPECT_EQ(picks(s, mask({0, 2}), octets, 10), (std::vector{2, 2, 0, 0, 2, 2, 0, 0, 2, 0}));
  // 1 has its 400 and a quantum: two frames, not one, nor as many as it was passed over.
  EXPECT_EQ(picks(s, mask({0, 1, 2}), octets, 3), (std::vector{1, 1, 2}));
}

TEST_F(Deficit, AnEmptyClassLosesIt) {
  EXPECT_EQ(picks(s, mask({0, 2}), octets, 1, mask({0, 2})), (std::vector{2}));  // 1 is empty; 2 has 800 left
  EXPECT_EQ(picks(s, mask({0, 1, 2}), octets, 6), (std::vector{2, 0, 0, 1, 2, 2})) << "1 begins with a quantum alone";
}

TEST_F(Deficit, AClassThatIsEmptyBetweenTwoPicksOnlyKeepsIt) {
  EXPECT_EQ(picks(s, mask({0, 2}), octets, 1), (std::vector{2}));  // 1 is paused
  EXPECT_EQ(picks(s, mask({0, 1, 2}), octets, 6), (std::vector{2, 0, 0, 1, 1, 2}));
}

TEST_F(Deficit, AloneAClassSpendsNothing) {
  picks(s, mask({1}), octets, 50);
  EXPECT_EQ(picks(s, mask({0, 1, 2}), octets, 4), (std::vector{1, 1, 2, 2}));
}

TEST_F(Deficit, ConfiguringForgetsIt) {
  s.configure({}, 1000);
  EXPECT_EQ(picks(s, mask({0, 1, 2}), octets, 3), (std::vector{1, 2, 0}));
}

}  // namespace
}  // namespace railyard
