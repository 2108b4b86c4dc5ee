#include "transports/uet/security/replay_window.h"

#include <random>
#include <set>

#include <gtest/gtest.h>

namespace railyard::uet {
namespace {

TEST(ReplayWindow, EachCounterOnceAndNoneThatIsTooOld) {
  ReplayWindow w(64);
  EXPECT_TRUE(w.is_new(0));
  w.accept(0);
  EXPECT_FALSE(w.is_new(0));
  w.accept(64);
  EXPECT_FALSE(w.is_new(0)) << "older than the window";
  EXPECT_TRUE(w.is_new(1));
  w.accept(1);
  EXPECT_FALSE(w.is_new(1));
  w.accept(1'000'000);
  EXPECT_FALSE(w.is_new(65));
  EXPECT_TRUE(w.is_new(999'999));
  w.clear();
  EXPECT_TRUE(w.is_new(0));
}

// As a set of all that was received would say.
TEST(ReplayWindow, AgreesWithASet) {
  std::mt19937_64 draw(3);
  for (const std::uint32_t size : {64u, 256u, 4096u}) {
    ReplayWindow w(size);
    std::set<std::uint64_t> seen;
    std::uint64_t newest = 0;
    for (int i = 0; i < 50'000; ++i) {
      const std::uint64_t jump = draw() % 8 == 0 ? draw() % (3 * size) : draw() % 4;
      const std::uint64_t at = draw() % 2 == 0 ? newest + jump : newest - std::min(newest, draw() % (2 * size));
      const bool fresh = !seen.contains(at) && (seen.empty() || at > newest || newest - at < size);
      ASSERT_EQ(w.is_new(at), fresh) << at << " of " << newest;
      if (!fresh) continue;
      w.accept(at);
      seen.insert(at);
      newest = std::max(newest, at);
    }
  }
}

}  // namespace
}  // namespace railyard::uet
