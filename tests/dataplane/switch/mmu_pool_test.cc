// The headroom pool: what groups have beyond their own headroom, all out of one pot.
#include <gtest/gtest.h>

#include "dataplane/switch/mmu.h"
#include "tests/dataplane/switch/cells.h"

namespace railyard {
namespace {

using namespace literals;
using Pfc = Mmu::Pfc;

// Groups of XOFF at 10 cells, `own` headroom, up to 20 from a pool of 30.
class MmuPool : public ::testing::Test {
 protected:
  static ClassBuffer config(std::int64_t own) {
    return {.lossless = true,
            .xoff = cells(10),
            .headroom = cells(own),
            .xon_offset = cells(2),
            .pooled_headroom = cells(20)};
  }
  MmuPool() {
    a = mmu.make_group(config(0));
    b = mmu.make_group(config(5));
    queue = mmu.make_queue({.lossless = true});
    EXPECT_TRUE(mmu.commit().has_value());
  }
  // Single cells until one is refused; how many were taken.
  std::uint32_t fill(Mmu::Group& group) {
    Pfc pfc;
    std::uint32_t n = 0;
    while (mmu.admit(group, queue, 1, pfc) == Admission::kAdmitted) ++n;
    return n;
  }
  void empty(Mmu::Group& group) {
    while (group.held > 0) mmu.release(group, queue, 1);
  }

  Mmu mmu{{.size = cells(1000), .cell = kCell, .headroom_pool = cells(30)}};
  Mmu::Group a;
  Mmu::Group b;
  Mmu::Queue queue;
};

TEST_F(MmuPool, IsSetAside) {
  EXPECT_EQ(mmu.shared_size(), 1000u - 30 - 5);
  EXPECT_EQ(mmu.pool_size(), 30u);
}

TEST_F(MmuPool, AGroupHasItsOwnAndThenUpToItsLimitFromThePool) {
  EXPECT_EQ(fill(a), 10u + 20);
  EXPECT_EQ(mmu.max_pool_used(), 20u);
  EXPECT_EQ(fill(b), 10u + 5 + 10) << "10 are left in the pool";
  EXPECT_EQ(mmu.max_pool_used(), 30u);
}

TEST_F(MmuPool, WhatIsGivenBackIsThereForOthers) {
  fill(a);
  fill(b);
  empty(a);
  EXPECT_EQ(fill(b), 10u) << "up to its limit of 20 now";
  empty(b);
  EXPECT_EQ(a.held + b.held, 0u);
  EXPECT_EQ(mmu.shared_used(), 0u);
  EXPECT_EQ(fill(b), 10u + 5 + 20);
  EXPECT_EQ(fill(a), 10u + 10);
}

TEST_F(MmuPool, IsMadeUpForWhenAGroupGetsMoreOfItsOwn) {
  fill(a);
  ASSERT_TRUE(mmu.set_headroom(a, cells(15)));
  EXPECT_EQ(fill(b), 10u + 5 + 20) << "15 of the 20 that a holds are its own now";
  empty(a);
  empty(b);
  EXPECT_EQ(fill(a), 10u + 15 + 20);
  EXPECT_EQ(mmu.max_pool_used(), 25u);
}

TEST(BufferConfigPool, IsLessThanTheBuffer) {
  EXPECT_EQ(validate(BufferConfig{.size = 1_MiB, .headroom_pool = 1_MiB}, "buffer").error(),
            "buffer.headroom_pool: 1048576 octets is not less than the buffer of 1048576");
}

}  // namespace
}  // namespace railyard
