#include "dataplane/switch/mmu.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/base/rng.h"
#include "tests/dataplane/switch/cells.h"

namespace railyard {
namespace {

using namespace literals;
using Pfc = Mmu::Pfc;

// One cell is 100 octets, so sizes in cells are easily written.

TEST(Mmu, CellsOfEveryFrameSizeAndCellSize) {
  for (std::int64_t cell = 64; cell <= 4096; ++cell) {
    const Mmu mmu({.size = 1_MiB, .cell = {cell}});
    std::uint32_t wrong = 0;
    for (std::uint32_t octets = 1; octets <= 9300; ++octets)
      wrong += mmu.cells(octets) != (octets + static_cast<std::uint32_t>(cell) - 1) / static_cast<std::uint32_t>(cell);
    ASSERT_EQ(wrong, 0u) << "cell " << cell;
  }
}

TEST(Mmu, CellsOfTheLongestIpPacket) {
  for (const std::int64_t cell : {64, 80, 96, 176, 192, 208, 254, 256, 1000, 4095, 4096})
    for (std::uint32_t octets = 9300; octets < 65536; ++octets)
      ASSERT_EQ(Mmu({.size = 1_MiB, .cell = {cell}}).cells(octets), (octets + cell - 1) / cell)
          << octets << '/' << cell;
}

TEST(Mmu, WhatIsSetAsideIsNotShared) {
  Mmu mmu({.size = cells(1000), .cell = kCell});
  mmu.make_group({.lossless = true, .reserved = cells(10), .headroom = cells(90)});
  mmu.make_group({.reserved = {101}});  // two cells
  mmu.make_group({.headroom = cells(0)});
  mmu.make_queue({.queue_reserved = cells(30)});
  ASSERT_TRUE(mmu.commit().has_value());
  EXPECT_EQ(mmu.total(), 1000u);
  EXPECT_EQ(mmu.shared_size(), 898u);
  EXPECT_EQ(mmu.shared_used(), 0u);
  EXPECT_EQ(mmu.cell(), kCell);
}

TEST(Mmu, NoMoreCanBeSetAsideThanThereIs) {
  for (const std::int64_t n : {99, 100, 101}) {
    Mmu ingress({.size = cells(100), .cell = kCell});
    ingress.make_group({.reserved = cells(n)});
    const auto committed = ingress.commit();
    EXPECT_EQ(committed.has_value(), n == 99) << "some must be left to share";
    if (!committed) {
      EXPECT_NE(committed.error().find("priority groups"), std::string::npos) << committed.error();
      EXPECT_NE(committed.error().find(std::to_string(n * 100)), std::string::npos) << committed.error();
    }
    Mmu egress({.size = cells(100), .cell = kCell});
    egress.make_queue({.queue_reserved = cells(n)});
    EXPECT_EQ(egress.commit().has_value(), n == 99);
  }
}

// 2^40 octets are 2^34 cells of 64: more than 32 bits hold, and more than there is.
TEST(Mmu, AmountsBeyondAllBuffersDoNotWrapAround) {
  constexpr Bytes kHuge{std::int64_t{1} << 40};
  const BufferConfig buffer{.size = {std::int64_t{1} << 20}, .cell = {64}};
  Mmu reserved(buffer);
  reserved.make_group({.reserved = kHuge});
  EXPECT_FALSE(reserved.commit().has_value());
  Mmu headroom(buffer);
  headroom.make_group({.lossless = true, .headroom = kHuge});
  EXPECT_FALSE(headroom.commit().has_value());
  Mmu mmu(buffer);
  Mmu::Group group = mmu.make_group({.lossless = true, .xoff = kHuge});
  Mmu::Queue queue = mmu.make_queue({.lossless = true});
  ASSERT_TRUE(mmu.commit().has_value());
  Mmu::Pfc pfc;
  EXPECT_EQ(mmu.admit(group, queue, 1000, pfc), Admission::kAdmitted);
  EXPECT_EQ(pfc, Mmu::Pfc::kNothing) << "an XOFF threshold that is never reached";
}

// A group and a queue that nothing limits, and one more of each to be limited.
class MmuTest : public ::testing::Test {
 protected:
  static constexpr ClassBuffer kUnlimited{.lossless = true, .alpha = {Alpha::kMost}, .xon_offset = {}};

  void build(const ClassBuffer& group_config, const ClassBuffer& queue_config, std::int64_t size = 1000) {
    mmu = Mmu({.size = cells(size), .cell = kCell});
    group = mmu.make_group(group_config);
    queue = mmu.make_queue(queue_config);
    ASSERT_TRUE(mmu.commit().has_value());
  }
  Admission admit(std::uint32_t n = 1) { return mmu.admit(group, queue, n, pfc); }
  Pfc release(std::uint32_t n = 1) { return mmu.release(group, queue, n); }

  Mmu mmu{{.size = cells(1000), .cell = kCell}};
  Mmu::Group group;
  Mmu::Queue queue;
  Pfc pfc = Pfc::kNothing;
};

TEST_F(MmuTest, ReservedCellsComeFirstAndTakeNothingFromTheShared) {
  build({.reserved = cells(10), .alpha = {Alpha::kLeast}}, kUnlimited, 110);
  EXPECT_EQ(mmu.shared_size(), 100u);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(admit(), Admission::kAdmitted);
  EXPECT_EQ(mmu.shared_used(), 0u);
  EXPECT_EQ(group.held, 10u);
  EXPECT_EQ(group.shared(), 0u);
  EXPECT_EQ(admit(), Admission::kIngressFull) << "2^-8 of 100 cells is none";
  EXPECT_EQ(group.held, 10u);
  release();
  EXPECT_EQ(admit(), Admission::kAdmitted);
}

TEST_F(MmuTest, AFrameMayStraddleReservedAndShared) {
  build({.reserved = cells(10), .alpha = {0}}, kUnlimited);
  admit(8);
  EXPECT_EQ(admit(5), Admission::kAdmitted);
  EXPECT_EQ(group.shared(), 3u);
  EXPECT_EQ(mmu.shared_used(), 3u);
  release(5);
  EXPECT_EQ(mmu.shared_used(), 0u);
  release(8);
  EXPECT_EQ(group.held, 0u);
  EXPECT_EQ(group.max_held, 13u);
  EXPECT_EQ(mmu.max_shared_used(), 3u);
}

TEST_F(MmuTest, AnAuditCountsAnewWhatIsHeld) {
  build({.reserved = cells(10), .alpha = {0}}, kUnlimited);
  const Mmu::Queue* const queues[] = {&queue};
  admit(30);
  mmu.carve_out(100);
  EXPECT_TRUE(mmu.audit({&group, 1}, queues).empty()) << mmu.audit({&group, 1}, queues).front();
  release(12);
  mmu.give_back(100);
  EXPECT_TRUE(mmu.audit({&group, 1}, queues).empty()) << mmu.audit({&group, 1}, queues).front();
  group.held -= 3;
  EXPECT_EQ(mmu.audit({&group, 1}, queues), std::vector<std::string>{"shared memory: 8 cells in the books, 5 held"});
}

TEST_F(MmuTest, AFullLossyGroupDropsAndChargesNothing) {
  build({.xoff = cells(10)}, kUnlimited);
  EXPECT_EQ(admit(7), Admission::kAdmitted);
  EXPECT_EQ(admit(4), Admission::kIngressFull);
  EXPECT_EQ(group.held, 7u);
  EXPECT_EQ(queue.cells, 7u);
  EXPECT_EQ(mmu.shared_used(), 7u);
  EXPECT_EQ(admit(3), Admission::kAdmitted) << "up to the threshold";
  EXPECT_EQ(pfc, Pfc::kNothing) << "a lossy group pauses nobody";
  EXPECT_EQ(admit(1), Admission::kIngressFull);
}

TEST_F(MmuTest, AFullLossyQueueDropsAndChargesNothing) {
  // alpha 1/2 of an empty 1000: the queue's threshold falls as it fills; it stops at a third.
  build(kUnlimited, {.queue_alpha = {-1}});
  std::uint32_t admitted = 0;
  while (admit() == Admission::kAdmitted) ++admitted;
  EXPECT_EQ(admit(), Admission::kEgressFull);
  EXPECT_NEAR(admitted, 333, 1);
  EXPECT_EQ(group.held, admitted) << "the ingress charge is undone";
  EXPECT_EQ(queue.cells, admitted);
  EXPECT_EQ(mmu.shared_used(), admitted);
}

TEST_F(MmuTest, AQueuesReservedCellsAreAlwaysThere) {
  build(kUnlimited, {.queue_reserved = cells(20), .queue_alpha = {Alpha::kLeast}}, 200);
  // 2^-8 of 180 cells is none.
  for (int i = 0; i < 20; ++i) EXPECT_EQ(admit(), Admission::kAdmitted) << i;
  EXPECT_EQ(queue.shared(), 0u);
  EXPECT_EQ(admit(), Admission::kEgressFull);
}

TEST_F(MmuTest, ALosslessQueueHasNoLimitOfItsOwn) {
  build(kUnlimited, {.lossless = true, .queue_alpha = {Alpha::kLeast}});
  for (int i = 0; i < 500; ++i) ASSERT_EQ(admit(), Admission::kAdmitted);
}

// A fixed threshold of 10 cells, XON 4 below it, 5 of headroom.
class Lossless : public MmuTest {
 protected:
  void SetUp() override {
    build({.lossless = true, .xoff = cells(10), .headroom = cells(5), .xon_offset = cells(4)}, {.lossless = true});
  }
};

TEST_F(Lossless, XoffAtTheThresholdAndOnce) {
  for (int i = 1; i <= 9; ++i) {
    EXPECT_EQ(admit(), Admission::kAdmitted);
    EXPECT_EQ(pfc, Pfc::kNothing) << i;
  }
  EXPECT_EQ(admit(), Admission::kAdmitted);
  EXPECT_EQ(pfc, Pfc::kXoff);
  EXPECT_TRUE(group.xoff);
  admit();
  EXPECT_EQ(pfc, Pfc::kNothing);
}

TEST_F(Lossless, BeyondTheThresholdIsHeadroomAndBeyondThatIsLoss) {
  for (int i = 0; i < 15; ++i) EXPECT_EQ(admit(), Admission::kAdmitted) << i;
  EXPECT_EQ(group.shared(), 10u);
  EXPECT_EQ(group.headroom, 5u);
  EXPECT_EQ(mmu.shared_used(), 10u) << "headroom is set aside, not shared";
  EXPECT_EQ(admit(), Admission::kHeadroomFull);
  EXPECT_EQ(group.held, 15u);
  EXPECT_EQ(group.max_headroom, 5u);
}

TEST_F(Lossless, AFrameThatDoesNotFitTheSharedPartGoesToHeadroomAsAWhole) {
  EXPECT_EQ(admit(8), Admission::kAdmitted);
  EXPECT_EQ(pfc, Pfc::kNothing);
  EXPECT_EQ(admit(3), Admission::kAdmitted);
  EXPECT_EQ(pfc, Pfc::kXoff) << "anything in headroom";
  EXPECT_EQ(group.shared(), 8u);
  EXPECT_EQ(group.headroom, 3u);
  EXPECT_EQ(admit(3), Admission::kHeadroomFull);
  EXPECT_EQ(admit(2), Admission::kAdmitted) << "fits the shared part still";
  EXPECT_EQ(group.shared(), 10u);
}

// XON when shared + 4 <= 10, that is at 6, and no headroom in use.
TEST_F(Lossless, XonBelowTheThresholdByTheOffset) {
  for (int i = 0; i < 15; ++i) admit();
  for (int left = 14; left > 6; --left) EXPECT_EQ(release(), Pfc::kNothing) << left;
  EXPECT_EQ(release(), Pfc::kXon);
  EXPECT_EQ(group.held, 6u);
  EXPECT_FALSE(group.xoff);
  EXPECT_EQ(release(), Pfc::kNothing) << "once";
  // Up again: nothing in between.
  for (int held = 5; held < 10; ++held) {
    admit();
    EXPECT_EQ(pfc, held + 1 == 10 ? Pfc::kXoff : Pfc::kNothing);
  }
}

TEST_F(Lossless, HeadroomIsGivenBackFirst) {
  for (int i = 0; i < 13; ++i) admit();
  EXPECT_EQ(group.headroom, 3u);
  release(2);
  EXPECT_EQ(group.headroom, 1u);
  EXPECT_EQ(group.shared(), 10u);
  EXPECT_EQ(mmu.shared_used(), 10u);
  release(2);
  EXPECT_EQ(group.headroom, 0u);
  EXPECT_EQ(group.shared(), 9u);
  EXPECT_EQ(mmu.shared_used(), 9u);
}

TEST_F(MmuTest, AnEmptySharedPartIsAlwaysXon) {
  // The offset is larger than the threshold will ever be: let go when nothing is left.
  build({.lossless = true, .alpha = {-8}, .headroom = cells(50), .xon_offset = cells(90)}, {.lossless = true}, 600);
  while (!group.xoff) admit();
  while (group.held > 1) EXPECT_EQ(release(), Pfc::kNothing);
  EXPECT_EQ(release(), Pfc::kXon);
}

// ---- Dynamic thresholds --------------------------------------------------------------------------------------------

// roce-and-lossless.md §11.2: N equally congested queues each reach alpha B / (1 + alpha N), in percent of B.
struct DynamicRow {
  std::int8_t exponent;
  std::array<double, 5> percent;  // N = 1, 2, 4, 8, 16
};
constexpr std::array<DynamicRow, 5> kDynamicTable{{{-4, {5.9, 5.6, 5.0, 4.2, 3.1}},
                                                   {-3, {11.1, 10.0, 8.3, 6.2, 4.2}},
                                                   {-2, {20.0, 16.7, 12.5, 8.3, 5.0}},
                                                   {0, {50.0, 33.3, 20.0, 11.1, 5.9}},
                                                   {3, {88.9, 47.1, 24.2, 12.3, 6.2}}}};
constexpr std::array<std::size_t, 5> kCongested{1, 2, 4, 8, 16};
constexpr std::int64_t kB = 100'000;

// Offers a cell to each of N until none takes one any more.
template <class Admit>
void saturate(std::size_t n, Admit admit) {
  for (bool any = true; any;) {
    any = false;
    for (std::size_t i = 0; i < n; ++i) any |= admit(i) == Admission::kAdmitted;
  }
}

TEST(DynamicThreshold, PriorityGroupsReachTheirShare) {
  for (const DynamicRow& row : kDynamicTable) {
    for (std::size_t k = 0; k < kCongested.size(); ++k) {
      Mmu mmu({.size = cells(kB), .cell = kCell});
      std::vector<Mmu::Group> groups(kCongested[k], mmu.make_group({.alpha = {row.exponent}}));
      Mmu::Queue queue = mmu.make_queue({.lossless = true});
      ASSERT_TRUE(mmu.commit().has_value());
      Pfc pfc;
      saturate(groups.size(), [&](std::size_t i) { return mmu.admit(groups[i], queue, 1, pfc); });
      for (const Mmu::Group& g : groups)
        EXPECT_NEAR(100.0 * g.held / kB, row.percent[k], 0.051)
            << "alpha 2^" << int{row.exponent} << ", N " << kCongested[k];
    }
  }
}

TEST(DynamicThreshold, QueuesReachTheirShare) {
  for (const DynamicRow& row : kDynamicTable) {
    for (std::size_t k = 0; k < kCongested.size(); ++k) {
      Mmu mmu({.size = cells(kB), .cell = kCell});
      Mmu::Group group = mmu.make_group({.alpha = {Alpha::kMost}});
      std::vector<Mmu::Queue> queues(kCongested[k], mmu.make_queue({.queue_alpha = {row.exponent}}));
      ASSERT_TRUE(mmu.commit().has_value());
      Pfc pfc;
      saturate(queues.size(), [&](std::size_t i) { return mmu.admit(group, queues[i], 1, pfc); });
      for (const Mmu::Queue& q : queues)
        EXPECT_NEAR(100.0 * q.cells / kB, row.percent[k], 0.051)
            << "alpha 2^" << int{row.exponent} << ", N " << kCongested[k];
    }
  }
}

TEST(DynamicThreshold, XoffComesAtTheSameShare) {
  // Lossless groups: the first XOFF of N = 4 groups filled evenly at alpha 1/4 is at 12.5 % each.
  Mmu mmu({.size = cells(kB), .cell = kCell});
  std::vector<Mmu::Group> groups(4, Mmu::Group{});
  for (Mmu::Group& g : groups) g = mmu.make_group({.lossless = true, .alpha = {-2}, .headroom = cells(100)});
  Mmu::Queue queue = mmu.make_queue({.lossless = true});
  ASSERT_TRUE(mmu.commit().has_value());
  Pfc pfc = Pfc::kNothing;
  for (std::size_t i = 0; pfc == Pfc::kNothing; ++i) mmu.admit(groups[i % 4], queue, 1, pfc);
  EXPECT_NEAR(100.0 * groups[0].held / (kB - 400), 12.5, 0.01);
}

TEST(DynamicThreshold, AlphaIsAPowerOfTwoOfWhatIsFree) {
  for (int e = Alpha::kLeast; e <= Alpha::kMost; ++e) {
    const auto t = Mmu::Threshold::dynamic({static_cast<std::int8_t>(e)});
    for (const std::uint32_t free : {0u, 1u, 255u, 256u, 100'000u, 0xFFFF'FFFFu})
      EXPECT_EQ(t.at(free), e >= 0 ? std::uint64_t{free} << e : std::uint64_t{free} >> -e) << e;
  }
  for (const std::uint32_t free : {0u, 1u, 0xFFFF'FFFFu}) EXPECT_EQ(Mmu::Threshold::of(77).at(free), 77u);
}

// ---- Changes while frames are held ---------------------------------------------------------------------------------

class MmuChanges : public ::testing::Test {
 protected:
  MmuChanges() {
    group = mmu.make_group({.lossless = true, .alpha = {0}, .headroom = cells(20), .xon_offset = cells(5)});
    queue = mmu.make_queue({.lossless = true});
    EXPECT_TRUE(mmu.commit().has_value());  // 80 cells shared
  }
  void limit(Alpha alpha, Bytes xoff = {}) {
    mmu.set_limits(group, queue, {.lossless = true, .alpha = alpha, .xoff = xoff, .xon_offset = cells(5)});
  }
  Mmu mmu{BufferConfig{.size = cells(100), .cell = kCell}};
  Mmu::Group group;
  Mmu::Queue queue;
  Pfc pfc{};
};

TEST_F(MmuChanges, AReviewSaysWhatTheNewLimitsMean) {
  ASSERT_EQ(mmu.admit(group, queue, 30, pfc), Admission::kAdmitted);
  EXPECT_EQ(mmu.review(group), Pfc::kNothing);
  limit({}, cells(30));
  EXPECT_EQ(mmu.review(group), Pfc::kXoff);
  EXPECT_EQ(mmu.review(group), Pfc::kNothing) << "said already";
  limit({}, cells(34));
  EXPECT_EQ(mmu.review(group), Pfc::kNothing) << "not 5 below it";
  limit({}, cells(35));
  EXPECT_EQ(mmu.review(group), Pfc::kXon);
}

TEST_F(MmuChanges, HeadroomThatIsOwedIsPaidAsItBecomesFree) {
  limit({7});
  ASSERT_EQ(mmu.admit(group, queue, 70, pfc), Admission::kAdmitted);
  ASSERT_TRUE(mmu.set_headroom(group, cells(50)));  // 30 more, and only 10 are free
  EXPECT_EQ(group.headroom_limit, 50u);
  EXPECT_EQ(mmu.shared_size(), 50u);
  EXPECT_EQ(mmu.shared_used(), 70u) << "more than there is";
  EXPECT_FALSE(mmu.settle());
  ASSERT_EQ(mmu.admit(group, queue, 50, pfc), Admission::kAdmitted) << "the headroom is there at once";
  EXPECT_EQ(group.headroom, 50u);
  mmu.release(group, queue, 60);
  EXPECT_FALSE(mmu.settle()) << "20 were owed, and 10 have become free";
  EXPECT_EQ(mmu.shared_used(), 60u);
  mmu.release(group, queue, 60);
  EXPECT_TRUE(mmu.settle());
  EXPECT_EQ(mmu.shared_used(), 0u);
  EXPECT_EQ(mmu.max_shared_used(), 70u);
  ASSERT_TRUE(mmu.set_headroom(group, cells(20)));
  EXPECT_EQ(mmu.shared_size(), 80u);
  EXPECT_EQ(mmu.shared_used(), 0u);
}

}  // namespace
}  // namespace railyard
