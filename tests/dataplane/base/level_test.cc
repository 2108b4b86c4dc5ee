#include "dataplane/base/level.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

namespace railyard {
namespace {

TEST(Level, GoesUpAndDown) {
  Level cells;
  EXPECT_EQ(cells, 0u);
  cells += 5;
  cells -= 2;
  EXPECT_EQ(cells.read(), 3u);
  const Level copy = cells;
  cells += 1;
  EXPECT_EQ(copy, 3u);
}

TEST(Level, AnyThreadMayLook) {
  Level cells;
  std::atomic<bool> ends{false};
  std::thread reader([&] {
    while (!ends) EXPECT_LE(cells.read(), 1u);
  });
  for (int i = 0; i < 10'000; ++i) {
    cells += 1;
    cells -= 1;
  }
  ends = true;
  reader.join();
  EXPECT_EQ(cells, 0u);
}

}  // namespace
}  // namespace railyard
