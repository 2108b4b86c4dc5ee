#include "control/sweep/bisection.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace railyard::sweep {
namespace {

TEST(Bisection, FindsTheLastStepThatHoldsInFewTries) {
  for (const std::uint64_t last : {1u, 2u, 3u, 10u, 99u, 100u, 1000u})
    for (std::uint64_t held = 0; held <= last; ++held) {
      Bisection b(last);
      int tries = 0;
      while (const auto step = b.next()) {
        EXPECT_LE(*step, last);
        b.tell(*step <= held);
        ASSERT_LT(++tries, 14);
      }
      EXPECT_EQ(b.best(), held) << "of " << last;
    }
}

TEST(Bisection, TriesTheLastStepFirstAndThenTheFirst) {
  Bisection b(100);
  EXPECT_EQ(b.next(), 100u);
  Bisection all(100);
  all.tell(true);
  EXPECT_EQ(all.next(), std::nullopt);
  EXPECT_EQ(all.best(), 100u);
  b.tell(false);
  EXPECT_EQ(b.next(), 0u);
  b.tell(false);
  EXPECT_EQ(b.next(), std::nullopt);
  EXPECT_EQ(b.best(), std::nullopt) << "not even the first holds";
}

}  // namespace
}  // namespace railyard::sweep
