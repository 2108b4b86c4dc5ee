// Which entropy values packets get, policy by policy (uet §10.1, §10.2).
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "transports/uet/multipath/path_selector.h"

namespace railyard::uet {
namespace {

using namespace literals;

constexpr Instant kNow{};

struct Flow {
  explicit Flow(const MultipathConfig& config, std::uint64_t seed = 1)
      : chance(Seed{seed}, "flow"), paths(config, chance) {}
  std::uint16_t next(Instant now = kNow) { return paths.next(now, chance); }
  void heard(std::uint16_t value, PathFeedback f, Instant now = kNow) { paths.on_feedback(now, value, f); }
  std::map<std::uint16_t, int> uses(int packets) {
    std::map<std::uint16_t, int> n;
    for (int i = 0; i < packets; ++i) ++n[next()];
    return n;
  }
  RngStream chance;
  PathSelector paths;
};

class AnyPolicy : public testing::TestWithParam<PathPolicy> {};
INSTANTIATE_TEST_SUITE_P(All, AnyPolicy,
                         testing::Values(PathPolicy::kSingle, PathPolicy::kOblivious, PathPolicy::kBitmap,
                                         PathPolicy::kReps, PathPolicy::kMixed),
                         [](const auto& p) { return std::string(name(p.param)); });

TEST_P(AnyPolicy, UsesItsPathsAndNoOthersWhateverItHears) {
  for (const std::uint32_t paths : {1u, 2u, 3u, 64u, 100u, 256u}) {
    Flow flow({.policy = GetParam(), .paths = paths});
    std::set<std::uint16_t> used;
    for (std::int64_t i = 0; i < 20'000; ++i) {
      const std::uint16_t value = flow.next(Instant{i * 1'000'000});
      used.insert(value);
      flow.heard(value, static_cast<PathFeedback>(flow.chance.below(4)), Instant{i * 1'000'000});
      // A peer may echo what was never sent.
      const auto foreign = static_cast<std::uint16_t>(flow.chance.below(0x10000));
      flow.heard(foreign, static_cast<PathFeedback>(flow.chance.below(4)), Instant{i * 1'000'000});
    }
    if (GetParam() == PathPolicy::kSingle) {
      EXPECT_EQ(used.size(), 1u);
    } else if (GetParam() == PathPolicy::kReps) {
      EXPECT_LE(used.size(), paths) << "frozen most of the time here";
    } else {
      EXPECT_EQ(used.size(), paths);
    }
  }
}

TEST_P(AnyPolicy, OneSeedIsOneSequence) {
  Flow a({.policy = GetParam()}, 7), b({.policy = GetParam()}, 7), c({.policy = GetParam()}, 8);
  bool differs = false;
  for (int i = 0; i < 200; ++i) {
    const std::uint16_t value = a.next();
    EXPECT_EQ(value, b.next());
    differs = differs || value != c.next();
  }
  EXPECT_TRUE(differs);
}

TEST(Oblivious, EachPassMeetsEachPathOnceInAnotherOrder) {
  for (const std::uint32_t paths : {64u, 100u}) {
    Flow flow({.policy = PathPolicy::kOblivious, .paths = paths});
    std::vector<std::vector<std::uint16_t>> passes(4);
    for (auto& pass : passes) {
      for (std::uint32_t i = 0; i < paths; ++i) pass.push_back(flow.next());
      EXPECT_EQ(std::set(pass.begin(), pass.end()).size(), paths);
    }
    EXPECT_NE(passes[0], passes[1]);
  }
}

TEST(Oblivious, FlowsHaveUpperBitsOfTheirOwn) {
  Flow a({.policy = PathPolicy::kOblivious, .paths = 16}, 1), b({.policy = PathPolicy::kOblivious, .paths = 16}, 2);
  EXPECT_NE(a.next() & 0xFFF0, b.next() & 0xFFF0);
}

TEST(Bitmap, ABadPathIsLeftOutAsOftenAsItsPenalty) {
  struct Case {
    PathFeedback feedback;
    int left_out;
  };
  for (const Case c : {Case{PathFeedback::kGood, 0},
                       {PathFeedback::kEcn, 1},
                       {PathFeedback::kTrimmed, 4},
                       {PathFeedback::kTimeout, 15}}) {
    Flow flow({.policy = PathPolicy::kBitmap, .paths = 8});
    const std::uint16_t bad = flow.next();
    for (int i = 1; i < 8; ++i) flow.next();  // to the end of the pass
    flow.heard(bad, c.feedback);
    const int packets = 8 * 40;
    // Each time it is left out another packet takes a step more through the walk.
    const int uses = flow.uses(packets)[bad];
    EXPECT_NEAR(uses, (packets + c.left_out) / 8 - c.left_out, 1) << static_cast<int>(c.feedback);
  }
}

TEST(Bitmap, PenaltiesAddUpToFifteen) {
  RngStream chance(Seed{1}, "flow");
  BitmapPaths paths(EntropySet(8, chance));
  const std::uint16_t value = paths.next(kNow, chance);
  const std::uint32_t index = value & 7;
  for (int i = 0; i < 3; ++i) paths.on_feedback(kNow, value, PathFeedback::kTrimmed);
  EXPECT_EQ(paths.penalty_of(index), 12);
  paths.on_feedback(kNow, value, PathFeedback::kTrimmed);
  EXPECT_EQ(paths.penalty_of(index), 15);
  paths.on_feedback(kNow, static_cast<std::uint16_t>(value ^ 0x8000), PathFeedback::kTimeout);
  EXPECT_EQ(paths.penalty_of(index), 15) << "an echo of a value that is not ours changes nothing";
}

TEST(Bitmap, WhenAllAreBadTheyAreUsedAllTheSame) {
  Flow flow({.policy = PathPolicy::kBitmap, .paths = 4});
  std::set<std::uint16_t> all;
  for (int i = 0; i < 4; ++i) all.insert(flow.next());
  for (const std::uint16_t value : all) flow.heard(value, PathFeedback::kTimeout);
  EXPECT_EQ(flow.uses(8).size(), 4u);
}

TEST(Reps, ReusesWhatWasGoodOldestFirst) {
  Flow flow({.policy = PathPolicy::kReps, .paths = 64});
  const std::uint16_t a = flow.next(), b = flow.next(), c = flow.next();
  flow.heard(a, PathFeedback::kGood);
  flow.heard(b, PathFeedback::kEcn);
  flow.heard(c, PathFeedback::kGood);
  EXPECT_EQ(flow.next(), a);
  EXPECT_EQ(flow.next(), c);
  EXPECT_GT(flow.uses(200).size(), 40u) << "then at random";
}

TEST(Reps, KeepsTheLastEight) {
  Flow flow({.policy = PathPolicy::kReps, .paths = 256});
  const auto own = static_cast<std::uint16_t>(flow.next() & 0xFF00);
  for (std::uint16_t i = 0; i < 10; ++i) flow.heard(static_cast<std::uint16_t>(own | i), PathFeedback::kGood);
  for (std::uint16_t i = 2; i < 10; ++i) EXPECT_EQ(flow.next(), own | i);
}

TEST(Reps, AfterATimeoutOnlyWhatIsKnownToWorkForTenMilliseconds) {
  Flow flow({.policy = PathPolicy::kReps, .paths = 256});
  const auto own = static_cast<std::uint16_t>(flow.next() & 0xFF00);
  for (std::uint16_t i = 0; i < 3; ++i) flow.heard(static_cast<std::uint16_t>(own | i), PathFeedback::kGood);
  flow.heard(static_cast<std::uint16_t>(own | 9), PathFeedback::kTimeout);
  EXPECT_EQ(flow.uses(300),
            (std::map<std::uint16_t, int>{
                {own, 100}, {static_cast<std::uint16_t>(own | 1), 100}, {static_cast<std::uint16_t>(own | 2), 100}}));
  const Instant thawed = kNow + 10_ms;
  std::set<std::uint16_t> probed;
  for (int i = 0; i < 16; ++i) probed.insert(flow.next(thawed));
  EXPECT_GT(probed.size(), 8u) << "sixteen at random";
}

TEST(Mixed, ThoseThatWereGoodThenTheBitmap) {
  Flow flow({.policy = PathPolicy::kMixed, .paths = 16});
  std::vector<std::uint16_t> first;
  for (int i = 0; i < 16; ++i) first.push_back(flow.next());
  EXPECT_EQ(std::set(first.begin(), first.end()).size(), 16u) << "all in turn while nothing is known";
  for (std::size_t i = 0; i < 16; ++i) flow.heard(first[i], i < 2 ? PathFeedback::kGood : PathFeedback::kTimeout);
  EXPECT_EQ(flow.next(), first[0]);
  EXPECT_EQ(flow.next(), first[1]);
  auto uses = flow.uses(60);
  EXPECT_GT(uses[first[0]], 10) << "those that did badly are left out";
  EXPECT_GT(uses[first[1]], 10);
}

TEST(Mixed, NoMoreAreRememberedThanItIsToldTo) {
  Flow flow({.policy = PathPolicy::kMixed, .paths = 16, .recycled = 2});
  std::vector<std::uint16_t> first;
  for (int i = 0; i < 8; ++i) first.push_back(flow.next());
  for (std::size_t i = 0; i < 4; ++i) flow.heard(first[i], PathFeedback::kGood);
  EXPECT_EQ(flow.next(), first[2]) << "the oldest are forgotten";
  EXPECT_EQ(flow.next(), first[3]);
  EXPECT_FALSE(std::set(first.begin(), first.end()).contains(flow.next())) << "then in turn";
}

}  // namespace
}  // namespace railyard::uet
