#include "dataplane/nic/sequence_check.h"

#include <cstdint>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/base/rng.h"

namespace railyard {
namespace {

using Seen = SequenceCheck::Seen;
constexpr std::uint64_t kWindow = SequenceCheck::kWindow;
constexpr std::uint64_t kPsns = std::uint64_t{1} << 24;

class SequenceCheckTest : public ::testing::Test {
 protected:
  // What the check says of the frame with this number; it must know the number.
  Seen see(std::uint64_t sequence) {
    const SequenceCheck::Result r = check.see(static_cast<std::uint32_t>(sequence % kPsns));
    EXPECT_EQ(r.sequence, sequence);
    return r.seen;
  }
  void up_to(std::uint64_t end) {
    for (std::uint64_t s = next_; s < end; ++s) ASSERT_EQ(see(s), Seen::kInOrder);
    next_ = end;
  }
  SequenceCheck check;

 private:
  std::uint64_t next_ = 0;
};

TEST_F(SequenceCheckTest, InOrder) { up_to(10'000); }

TEST_F(SequenceCheckTest, ALossIsAGapAndWhatComesLaterIsReordered) {
  up_to(10);
  EXPECT_EQ(see(15), Seen::kInOrder) << "later than all before it";
  EXPECT_EQ(see(12), Seen::kReordered);
  EXPECT_EQ(see(11), Seen::kReordered);
  EXPECT_EQ(see(16), Seen::kInOrder);
  EXPECT_EQ(see(10), Seen::kReordered);
}

TEST_F(SequenceCheckTest, ADuplicateIsSeenInOrderOrNot) {
  up_to(10);
  EXPECT_EQ(see(9), Seen::kDuplicate);
  EXPECT_EQ(see(0), Seen::kDuplicate);
  EXPECT_EQ(see(20), Seen::kInOrder);
  EXPECT_EQ(see(15), Seen::kReordered);
  EXPECT_EQ(see(15), Seen::kDuplicate);
  EXPECT_EQ(see(20), Seen::kDuplicate);
  EXPECT_EQ(see(14), Seen::kReordered) << "its neighbour was the duplicate";
}

TEST_F(SequenceCheckTest, NumbersGoOnWhenThePsnWraps) {
  up_to(kPsns - 3);
  EXPECT_EQ(see(kPsns + 1), Seen::kInOrder);  // four lost across the wrap
  EXPECT_EQ(see(kPsns - 1), Seen::kReordered);
  EXPECT_EQ(see(kPsns), Seen::kReordered);
  EXPECT_EQ(see(kPsns - 1), Seen::kDuplicate);
  EXPECT_EQ(see(kPsns + 2), Seen::kInOrder);
}

TEST_F(SequenceCheckTest, TheWindowReachesBackThisFar) {
  up_to(3 * kWindow);
  EXPECT_EQ(see(2 * kWindow), Seen::kDuplicate);
  EXPECT_EQ(see(2 * kWindow - 1), Seen::kReordered) << "too old to know: not taken for a duplicate, nor for new";
}

// What was seen a whole window ago must not be taken for what is new now.
TEST_F(SequenceCheckTest, AGapForgetsWhatWasInItsPlace) {
  up_to(kWindow);
  EXPECT_EQ(see(2 * kWindow), Seen::kInOrder);
  for (const std::uint64_t s : {kWindow + 1, kWindow + 64, 2 * kWindow - 1}) EXPECT_EQ(see(s), Seen::kReordered);
  EXPECT_EQ(see(10 * kWindow), Seen::kInOrder) << "a gap of many windows";
  for (const std::uint64_t s : {9 * kWindow + 1, 10 * kWindow - 1}) EXPECT_EQ(see(s), Seen::kReordered);
  EXPECT_EQ(see(10 * kWindow), Seen::kDuplicate);
}

TEST_F(SequenceCheckTest, BeforeTheFirstThereIsNothing) {
  EXPECT_EQ(check.see(0xFFFFFF).seen, Seen::kDuplicate);
  EXPECT_EQ(see(0), Seen::kInOrder);
  EXPECT_EQ(see(2), Seen::kInOrder);
  EXPECT_EQ(see(1), Seen::kReordered);
}

// Losses of 10 %, reordering by up to 2000 places, duplicates of 5 %, over the wrap.
TEST_F(SequenceCheckTest, AgreesWithRememberingEverything) {
  const std::uint64_t first = kPsns - 20'000;
  up_to(first);
  RngStream rng(Seed{1}, "sequence_check_test");
  std::vector<std::pair<std::uint64_t, std::uint64_t>> arrivals;  // place, number
  for (std::uint64_t s = first; s < first + 40'000; ++s) {
    if (rng.below(10) == 0) continue;
    arrivals.push_back({s + (rng.below(10) == 0 ? rng.below(2000) : 0), s});
    if (rng.below(20) == 0) arrivals.push_back({s + rng.below(2000), s});
  }
  std::stable_sort(arrivals.begin(), arrivals.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::set<std::uint64_t> seen;
  std::uint64_t next = first;
  for (const auto& [place, s] : arrivals) {
    const Seen expected = s >= next ? Seen::kInOrder : seen.contains(s) ? Seen::kDuplicate : Seen::kReordered;
    ASSERT_EQ(see(s), expected) << s;
    seen.insert(s);
    next = std::max(next, s + 1);
  }
}

}  // namespace
}  // namespace railyard
