#include "control/telemetry/memory_watch.h"

#include <gtest/gtest.h>

namespace railyard::telemetry {
namespace {

TEST(MemoryWatch, ReadsThisProcess) {
  const MemorySample now = memory_now();
  EXPECT_GT(now.rss_bytes, 1'000'000u);
  EXPECT_GE(now.open_files, 3u) << "standard input, output and error";
}

TEST(MemoryWatch, SamplesAreNotCloserThanTheirInterval) {
  std::uint64_t bytes = 0;
  MemoryWatch watch([&bytes] { return MemorySample{.rss_bytes = ++bytes}; });
  for (const double at : {100.0, 100.001, 100.02, 100.021}) watch.look(at, at - 100);
  ASSERT_EQ(watch.samples().size(), 2u);
  EXPECT_DOUBLE_EQ(watch.samples()[0].wall_seconds, 0);
  EXPECT_NEAR(watch.samples()[1].wall_seconds, 0.02, 1e-9);
  EXPECT_EQ(watch.samples()[1].rss_bytes, 2u);
}

TEST(MemoryWatch, ALongRunHasFewSamplesEvenlyOverItsLength) {
  MemoryWatch watch([] { return MemorySample{}; });
  for (int i = 0; i <= 36'000; ++i) watch.look(0.1 * i, 0.001 * i);  // an hour
  const auto& all = watch.samples();
  EXPECT_LE(all.size(), MemoryWatch::kMost);
  EXPECT_GE(all.size(), MemoryWatch::kMost / 4);
  EXPECT_DOUBLE_EQ(all.front().wall_seconds, 0);
  EXPECT_GT(all.back().wall_seconds, 3400);
  for (std::size_t i = 2; i < all.size(); ++i)
    EXPECT_NEAR(all[i].wall_seconds - all[i - 1].wall_seconds, all[1].wall_seconds, all[1].wall_seconds / 2) << i;
}

}  // namespace
}  // namespace railyard::telemetry
