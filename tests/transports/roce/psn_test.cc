#include "transports/roce/psn.h"

#include <type_traits>

#include <gtest/gtest.h>

namespace railyard::roce {
namespace {

static_assert(!std::is_convertible_v<Psn, Msn>, "kinds are kept apart");

// roce-and-lossless.md §5.1, the regions relative to the expected PSN, across the wrap.
TEST(Psn, RegionsOfAResponder) {
  for (const std::uint32_t e : {0u, 1u, 0x7FFFFFu, 0x800000u, 0xFFFFFFu}) {
    const Psn expected(e);
    EXPECT_EQ(place(expected, expected), PsnPlace::kExpected);
    EXPECT_EQ(place(expected + 1, expected), PsnPlace::kGap);
    EXPECT_EQ(place(expected + Psn::kMostAhead, expected), PsnPlace::kGap);
    EXPECT_EQ(place(expected + Psn::kMostAhead + 1, expected), PsnPlace::kDuplicate);
    EXPECT_EQ(place(expected - 1, expected), PsnPlace::kDuplicate);
  }
}

TEST(Psn, AMessageTakesOnePerPathMtu) {
  EXPECT_EQ(psns_of(0, 1024), 1u);
  EXPECT_EQ(psns_of(1, 1024), 1u);
  EXPECT_EQ(psns_of(1024, 1024), 1u);
  EXPECT_EQ(psns_of(1025, 1024), 2u);
  EXPECT_EQ(psns_of(10000, 4096), 3u);
  EXPECT_EQ(psns_of(1u << 31, 256), 1u << 23) << "the longest message at the smallest path MTU";
}

}  // namespace
}  // namespace railyard::roce
