#include "transports/roce/wire/p_key.h"

#include <gtest/gtest.h>

namespace railyard::roce {
namespace {

// roce-and-lossless.md §2.5.
TEST(PKey, FullMembersReachAllOfTheirPartitionLimitedOnesOnlyThem) {
  EXPECT_TRUE(p_keys_match(0xFFFF, 0xFFFF));
  EXPECT_TRUE(p_keys_match(0x7FFF, 0xFFFF));
  EXPECT_TRUE(p_keys_match(0xFFFF, 0x7FFF));
  EXPECT_FALSE(p_keys_match(0x7FFF, 0x7FFF));
  EXPECT_FALSE(p_keys_match(0x8001, 0x8002));
  EXPECT_FALSE(p_keys_match(0x8000, 0x8000)) << "partition 0 is none";
  EXPECT_FALSE(p_keys_match(0x0000, 0x8000));
}

}  // namespace
}  // namespace railyard::roce
