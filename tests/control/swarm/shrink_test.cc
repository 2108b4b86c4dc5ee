#include "control/swarm/shrink.h"

#include <algorithm>

#include <gmock/gmock.h>

namespace railyard::swarm {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Items = std::vector<std::string>;

bool has(const Items& items, const std::string& name) { return std::ranges::find(items, name) != items.end(); }

TEST(Shrink, OneOfManyIsFound) {
  const Items all{"f1", "f2", "f3", "f4", "f5", "f6", "f7"};
  EXPECT_THAT(shrink(
                  all, [](const Items& some) { return has(some, "f6"); }, 100),
              ElementsAre("f6"));
}

TEST(Shrink, TwoThatTakeEachOther) {
  const Items all{"f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8"};
  EXPECT_THAT(shrink(
                  all, [](const Items& some) { return has(some, "f2") && has(some, "f7"); }, 100),
              ElementsAre("f2", "f7"));
}

TEST(Shrink, NoneIsNeeded) {
  EXPECT_THAT(shrink(
                  {"f1", "f2"}, [](const Items&) { return true; }, 100),
              IsEmpty());
}

TEST(Shrink, AllAreNeeded) {
  const Items all{"f1", "f2", "f3"};
  EXPECT_EQ(shrink(
                all, [&](const Items& some) { return some == all; }, 100),
            all);
}

// What comes back fails, however few questions may be asked.
TEST(Shrink, WhenQuestionsRunOut) {
  const Items all{"f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8"};
  for (int most = 0; most < 20; ++most) {
    int asked = 0;
    const auto fails = [&](const Items& some) {
      ++asked;
      return has(some, "f3") && has(some, "f5");
    };
    const Items left = shrink(all, fails, most);
    EXPECT_LE(asked, most);
    EXPECT_TRUE(has(left, "f3") && has(left, "f5")) << most;
  }
}

}  // namespace
}  // namespace railyard::swarm
