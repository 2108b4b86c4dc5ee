#include "dataplane/base/time.h"

#include <concepts>
#include <cstdint>

#include <gtest/gtest.h>

#include "dataplane/base/units.h"

namespace railyard {
namespace {

using namespace literals;

template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept Subtractable = requires(A a, B b) {
  a - b;
};
template <class A, class B>
concept Multipliable = requires(A a, B b) {
  a* b;
};
template <class A, class B>
concept Comparable = requires(A a, B b) {
  a < b;
};

// What the algebra of points and spans allows, and what it does not.
static_assert(std::same_as<decltype(Instant{} + Duration{}), Instant>);
static_assert(std::same_as<decltype(Duration{} + Instant{}), Instant>);
static_assert(std::same_as<decltype(Instant{} - Duration{}), Instant>);
static_assert(std::same_as<decltype(Instant{} - Instant{}), Duration>);
static_assert(std::same_as<decltype(Duration{} + Duration{}), Duration>);
static_assert(std::same_as<decltype(Duration{} / Duration{1}), std::int64_t>);
static_assert(!Addable<Instant, Instant>);
static_assert(!Subtractable<Duration, Instant>);
static_assert(!Multipliable<Instant, std::int64_t>);
static_assert(!Multipliable<Duration, Duration>);
static_assert(!Comparable<Instant, Duration>);
// A bare number has no unit.
static_assert(!std::convertible_to<std::int64_t, Duration> && !std::convertible_to<std::int64_t, Instant>);
static_assert(!Addable<Duration, std::int64_t> && !Addable<Instant, std::int64_t>);
static_assert(!std::convertible_to<Duration, Instant> && !std::convertible_to<Instant, Duration>);

TEST(Time, LiteralsAreTheSamePicosecondsUnderEveryUnit) {
  EXPECT_EQ((1_ps).ps, 1);
  EXPECT_EQ(1_ns, 1000_ps);
  EXPECT_EQ(1_us, 1000_ns);
  EXPECT_EQ(1_ms, 1000_us);
  EXPECT_EQ(1_s, 1000_ms);
}

TEST(Time, SpansAddSubtractAndScale) {
  Duration d = 3_us;
  d += 500_ns;
  EXPECT_EQ(d, 3500_ns);
  d -= 4_us;
  EXPECT_EQ(d, Duration{-500'000});
  EXPECT_EQ(3 * 7_ns, 21_ns);
  EXPECT_EQ(7_ns * 3, 21_ns);
  EXPECT_EQ(10_ns / 4, 2500_ps);
  EXPECT_EQ(10_us / 3_us, 3);  // whole slots that fit
}

TEST(Time, APointMovedBySpansAndBackIsWhereItWas) {
  const Instant start{123'456'789};
  EXPECT_EQ(start + 5_us - 5_us, start);
  EXPECT_EQ(5_us + start, start + 5_us);
  EXPECT_EQ((start + 5_us) - start, 5_us);
  EXPECT_EQ(start - (start + 5_us), Duration{} - 5_us);
  EXPECT_LT(start, start + 1_ps);
  EXPECT_GT(start, start - 1_ps);
}

TEST(Time, NeverIsAfterEverythingAndStaysNever) {
  constexpr Instant kNever = Instant::never();
  EXPECT_GT(kNever, Instant{} + 100 * 24 * 3600 * 1_s);
  EXPECT_EQ(kNever + 0_ps, kNever);
  EXPECT_EQ(kNever + 1_ps, kNever);
  EXPECT_EQ(kNever + 1_s, kNever);
  EXPECT_EQ(1_s + kNever, kNever);
}

TEST(Time, TheLastWindowEndsAtNeverAndNotBeforeItBegins) {
  const Instant last = Instant::never() - 1_ns;
  EXPECT_EQ(last + 1_ns, Instant::never());
  EXPECT_EQ(last + 1_us, Instant::never());
  EXPECT_EQ(last + 999_ps, Instant::never() - 1_ps);
}

TEST(Time, SixtyFourBitsOfPicosecondsLast106Days) {
  constexpr Duration kDay = 24 * 3600 * 1_s;
  EXPECT_EQ((Instant{} + 106 * kDay) - Instant{}, 106 * kDay);
  EXPECT_LT(Instant{} + 106 * kDay, Instant::never());
  EXPECT_GT(Instant{} + 106 * kDay, Instant::never() - kDay);
}

TEST(Time, ReportsInSecondsAndWholeNanoseconds) {
  EXPECT_DOUBLE_EQ(seconds(1500_ms), 1.5);
  EXPECT_DOUBLE_EQ(seconds(1_ps), 1e-12);
  EXPECT_EQ(nanoseconds(1999_ps), 1);
  EXPECT_EQ(nanoseconds(2_us), 2000);
}

}  // namespace
}  // namespace railyard
