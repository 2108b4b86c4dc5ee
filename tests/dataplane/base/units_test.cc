#include "dataplane/base/units.h"

#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/base/rng.h"
#include "dataplane/base/time.h"

namespace railyard {
namespace {

using namespace literals;

template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept Multipliable = requires(A a, B b) {
  a* b;
};
template <class A, class B>
concept Dividable = requires(A a, B b) {
  a / b;
};
template <class A, class B>
concept Comparable = requires(A a, B b) {
  a < b;
};

static_assert(84_B / 800_Gbps == 840_ps);  // a 64-octet frame with preamble and gap
static_assert(std::same_as<decltype(Bytes{} / BitRate{1}), Duration>);
static_assert(std::same_as<decltype(BitRate{} * Duration{}), Bytes>);
static_assert(!Addable<Bytes, Duration> && !Addable<Duration, Bytes>);
static_assert(!Addable<Bytes, BitRate> && !Addable<BitRate, Duration>);
static_assert(!Addable<Bytes, std::int64_t> && !std::convertible_to<std::int64_t, Bytes>);
static_assert(!Multipliable<Bytes, Duration> && !Multipliable<Bytes, BitRate>);
static_assert(!Dividable<Bytes, Duration> && !Dividable<BitRate, Bytes>);
static_assert(!Comparable<Bytes, BitRate> && !Comparable<Bytes, Duration> && !Comparable<BitRate, Duration>);

// How far `taken` is from the exact time of `octets` at `rate`, in units of 1 / rate.bps picoseconds.
Int128 error_times_rate(Duration taken, std::uint32_t octets, BitRate rate) {
  const Int128 exact = static_cast<Int128>(octets) * 8 * kPicosecondsPerSecond;
  const Int128 difference = static_cast<Int128>(taken.ps) * rate.bps - exact;
  return difference < 0 ? -difference : difference;
}

TEST(Units, LiteralsCountOctetsAndBitsPerSecond) {
  EXPECT_EQ((1_KB).n, 1000);
  EXPECT_EQ(1_MB, 1000_KB);
  EXPECT_EQ((1_KiB).n, 1024);
  EXPECT_EQ(1_MiB, 1024_KiB);
  EXPECT_EQ(1_Gbps, 1000_Mbps);
  EXPECT_EQ(1_Mbps, 1'000'000_bps);
}

TEST(Units, AmountsAddSubtractAndScale) {
  Bytes queued = 9_KB;
  queued += 1_KB;
  EXPECT_EQ(queued, 10_KB);
  queued -= 12_KB;
  EXPECT_EQ(queued, Bytes{-2000});
  EXPECT_EQ(4 * 256_B, 1_KiB);
  EXPECT_EQ(2_KiB - 1_KiB, 1_KiB);
  EXPECT_EQ(100_Gbps * 4, 400_Gbps);
  EXPECT_EQ(100_Gbps / 4, 25_Gbps);
}

TEST(Units, TenMegabytesAreExactOnTheFastestAndTheSlowestLink) {
  EXPECT_EQ(10_MB / 800_Gbps, 100_us);
  EXPECT_EQ(10_MB / 20_Mbps, 4_s);
  EXPECT_EQ(800_Gbps * 100_us, 10_MB);
  EXPECT_EQ(20_Mbps * 4_s, 10_MB);
}

TEST(Units, TransferTimeIsRoundedToTheNearestPicosecond) {
  EXPECT_EQ(1_B / 3_Gbps, 2667_ps);               // 2666.67
  EXPECT_EQ(2_B / 3_Gbps, 5333_ps);               // 5333.33
  EXPECT_EQ(1_B / 16'000'000'000'000_bps, 1_ps);  // 0.5
}

TEST(Units, AHalfGoneOctetHasNotPassed) {
  EXPECT_EQ(800_Gbps * 9_ps, 0_B);
  EXPECT_EQ(800_Gbps * 10_ps, 1_B);
  EXPECT_EQ(10_ps * 800_Gbps, 1_B);
  EXPECT_EQ(800_Gbps * 839_ps, 83_B);
}

TEST(Units, TransferTimeAndItsInverseAgreeForEverySize) {
  for (const BitRate rate : {10_Gbps, 25_Gbps, 100_Gbps, 800_Gbps})
    for (std::int64_t n = 1; n <= 10'000; ++n) ASSERT_EQ(rate * (Bytes{n} / rate), Bytes{n}) << rate.bps;
}

TEST(OctetTime, EqualsTheDivisionWhereAnOctetLastsWholePicoseconds) {
  constexpr std::array kRates = {20_Mbps, 100_Mbps, 1_Gbps,   2500_Mbps, 5_Gbps,   10_Gbps,  25_Gbps,
                                 40_Gbps, 50_Gbps,  100_Gbps, 200_Gbps,  400_Gbps, 800_Gbps, 1600_Gbps};
  for (const BitRate rate : kRates) {
    ASSERT_EQ(8 * kPicosecondsPerSecond % rate.bps, 0) << rate.bps;
    const OctetTime time(rate);
    for (std::uint32_t octets = 1; octets <= 10'000; ++octets)
      ASSERT_EQ(time.of(octets), Bytes{octets} / rate) << rate.bps << " bit/s, " << octets << " octets";
    for (const std::uint32_t octets : {10'000'000u, std::numeric_limits<std::uint32_t>::max()})
      ASSERT_EQ(time.of(octets), Bytes{octets} / rate) << rate.bps << " bit/s, " << octets << " octets";
  }
}

TEST(OctetTime, IsWithinAPicosecondAtEveryOtherRate) {
  std::vector<BitRate> rates = {
      3_Gbps, 7_Gbps, 56_Gbps, 103'125_Mbps, 99'999'999'937_bps, 19'999'999_bps, 20'001_bps, 799'999'999'999_bps};
  RngStream rng(Seed{1}, "units_test");
  for (int i = 0; i < 200; ++i) rates.push_back({static_cast<std::int64_t>(20'000'000 + rng.below(1'600'000'000'000))});
  for (const BitRate rate : rates) {
    const OctetTime time(rate);
    const auto expect_close = [&](std::uint32_t octets) {
      ASSERT_LE(error_times_rate(time.of(octets), octets, rate), rate.bps) << rate.bps << " bit/s, " << octets;
      const Duration difference = time.of(octets) - Bytes{octets} / rate;
      ASSERT_TRUE(difference >= Duration{-1} && difference <= 1_ps) << rate.bps << " bit/s, " << octets;
    };
    for (std::uint32_t octets = 1; octets <= 10'000; ++octets) expect_close(octets);
    for (const std::uint32_t octets : {10'000'000u, 0x7FFF'FFFFu, 0xFFFF'FFFFu}) expect_close(octets);
  }
}

TEST(OctetTime, ASlowerClockTakesSoMuchLongerInARowHoweverShortTheFrames) {
  // 84 octets at 800 Gb/s: 840 ps, and by a clock that is 150 ppm slower 840.126 ps.
  const OctetTime slower = OctetTime(800_Gbps).slower(150'000);
  OctetTime::Rest rest = OctetTime::Rest::kept();
  Duration row{};
  for (int i = 0; i < 1'000'000; ++i) row = row + slower.of(84, rest);
  EXPECT_NEAR(static_cast<double>(row.ps), 840'126'000.0, 1.0);
  EXPECT_EQ(OctetTime(100_Gbps).slower(100'000).of(1'250'000), 100'010'000_ps);
}

TEST(OctetTime, ARestThatIsNotKeptRoundsEachFrameByItself) {
  const OctetTime time(3_Gbps);
  OctetTime::Rest rest;
  for (int i = 0; i < 100; ++i) ASSERT_EQ(time.of(2, rest), time.of(2));
}

TEST(OctetTime, ReachesDownToTwoKilobitsPerSecond) {
  EXPECT_EQ(OctetTime(2000_bps).of(1), 4_ms);
  EXPECT_EQ(OctetTime(2000_bps).of(10'000), 40_s);
}

TEST(OctetTime, NothingTakesNoTime) {
  EXPECT_EQ(OctetTime(800_Gbps).of(0), 0_ps);
  EXPECT_EQ(OctetTime().of(1500), 0_ps);
}

}  // namespace
}  // namespace railyard
