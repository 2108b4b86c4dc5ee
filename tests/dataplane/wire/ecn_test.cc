#include "dataplane/wire/ecn.h"

#include <gtest/gtest.h>

namespace railyard::wire {
namespace {

TEST(Ecn, IsTheLowTwoBits) {
  EXPECT_EQ(ecn_of(0x68), Ecn::kNotEct);
  EXPECT_EQ(ecn_of(0x69), Ecn::kEct1);
  EXPECT_EQ(ecn_of(0x6A), Ecn::kEct0);
  EXPECT_EQ(ecn_of(0x6B), Ecn::kCe);
}

}  // namespace
}  // namespace railyard::wire
