#include "dataplane/switch/path/port_load.h"

#include <gtest/gtest.h>

namespace railyard {
namespace {

using namespace literals;

// Drain times are in 1/256 ns.
constexpr std::uint64_t drain(Duration d) { return static_cast<std::uint64_t>(d.ps) * 256 / 1000; }

TEST(QualityBands, EachBandEndsAtTwiceWhereTheOneBeforeDoes) {
  const QualityBands bands(1_us, 8);
  EXPECT_EQ(bands.grade(0), 0u);
  EXPECT_EQ(bands.grade(drain(999_ns)), 0u);
  EXPECT_EQ(bands.grade(drain(1'001_ns)), 1u);
  EXPECT_EQ(bands.grade(drain(1'999_ns)), 1u);
  EXPECT_EQ(bands.grade(drain(2'001_ns)), 2u);
  EXPECT_EQ(bands.grade(drain(4'001_ns)), 3u);
  EXPECT_EQ(bands.grade(drain(63'999_ns)), 6u);
  EXPECT_EQ(bands.grade(drain(64'001_ns)), 7u);
  EXPECT_EQ(bands.grade(drain(1_s)), 7u) << "the last has no end";
}

TEST(QualityBands, OneBandIsNoDifference) {
  const QualityBands bands(1_us, 1);
  EXPECT_EQ(bands.grade(0), 0u);
  EXPECT_EQ(bands.grade(drain(1_s)), 0u);
}

TEST(QualityBands, TheShortestAndTheLongestBandsDoNotOverflow) {
  EXPECT_EQ(QualityBands(1_ns, 32).grade(~std::uint64_t{0}), 31u);
  EXPECT_EQ(QualityBands(1_s, 32).grade(drain(999_ms)), 0u);
  EXPECT_EQ(QualityBands(1_s, 32).grade(drain(1001_ms)), 1u);
}

TEST(QualityBands, AGradeIsTheDrainTimesFromItsBeginToItsEnd) {
  for (const Duration band : {1_ns, 3_ns, 1_us, 7_us, 1_s}) {
    for (const std::uint32_t count : {1u, 2u, 8u, 32u}) {
      const QualityBands bands(band, count);
      EXPECT_EQ(bands.begin(0), 0u);
      for (std::uint32_t g = 0; g + 1 < count; ++g) {
        const std::uint64_t end = bands.end(g);
        if (end == ~std::uint64_t{0}) break;  // 2^32 bands of a second are more than there is time
        EXPECT_EQ(bands.grade(end - 1), g) << band.ps << " ps, " << count << " bands";
        EXPECT_EQ(bands.grade(end), g + 1) << band.ps << " ps, " << count << " bands";
        EXPECT_EQ(bands.begin(g + 1), end);
      }
      EXPECT_EQ(bands.end(count - 1), ~std::uint64_t{0});
    }
  }
}

TEST(PortLoad, DrainIsInProportionToCells) {
  PortLoad p;
  p.cell_time_ns8 = 256 * 20;  // 20 ns: 256 octets at 102.4 Gb/s
  p.cells = 50;
  EXPECT_EQ(p.drain(), drain(1_us));
}

}  // namespace
}  // namespace railyard
