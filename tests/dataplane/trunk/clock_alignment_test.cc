#include "dataplane/trunk/clock_alignment.h"

#include <gtest/gtest.h>

namespace railyard {
namespace {

using namespace literals;

// A far end whose clock is ahead of ours by `offset`; the way there and back takes what it takes.
PingExchange exchange(Duration at, Duration offset, Duration there, Duration back, Duration thinks = 3_ms) {
  const Instant sent = Instant{} + at;
  const Instant arrives = sent + there;
  return {sent, arrives + offset, arrives + thinks + offset, arrives + thinks + back};
}

TEST(ClockAlignment, EqualWaysTellTheOffsetExactly) {
  ClockAlignment a;
  EXPECT_FALSE(a.known());
  a.add(exchange(10_ms, 7_s, 40_us, 40_us));
  EXPECT_EQ(a.offset(), 7_s);
  EXPECT_EQ(a.round_trip(), 80_us);
  EXPECT_EQ(a.ours(Instant{} + 8_s), Instant{} + 1_s);
}

TEST(ClockAlignment, TheShortestRoundTripIsBelieved) {
  ClockAlignment a;
  a.add(exchange(10_ms, 7_s, 500_us, 40_us));
  a.add(exchange(20_ms, 7_s, 20_us, 22_us));
  a.add(exchange(30_ms, 7_s, 40_us, 900_us));
  EXPECT_EQ(a.round_trip(), 42_us);
  EXPECT_EQ(a.offset(), 7_s - 1_us);
  EXPECT_EQ(a.jumps(), 0u);
}

TEST(ClockAlignment, AClockThatIsSetBackIsBelievedAtOnce) {
  ClockAlignment a;
  for (int i = 1; i < 40; ++i) a.add(exchange(10_ms * i, 7_s, 20_us, 20_us));
  a.add(exchange(400_ms, 7_s - 2_ms, 100_us, 100_us));
  EXPECT_EQ(a.offset(), 7_s - 2_ms) << "though its round trip is longer";
  EXPECT_EQ(a.jumps(), 1u);
}

// Our clock slips by 2 ms while an exchange is under way: what comes of it is less than nothing.
TEST(ClockAlignment, AClockThatIsSetBackWithinAnExchangeTellsNothing) {
  ClockAlignment a;
  PingExchange slipped = exchange(10_ms, 7_s, 20_us, 20_us);
  slipped.received = slipped.received - 2_ms;
  a.add(slipped);
  EXPECT_FALSE(a.known()) << "also if it is the first";
  for (int i = 2; i < 40; ++i) a.add(exchange(10_ms * i, 7_s, 20_us, 20_us));
  slipped = exchange(400_ms, 7_s, 20_us, 20_us);
  slipped.received = slipped.received - 2_ms;
  a.add(slipped);
  EXPECT_EQ(a.round_trip(), 40_us);
  EXPECT_EQ(a.offset(), 7_s);
  a.add(exchange(410_ms, 7_s + 2_ms, 30_us, 30_us));
  EXPECT_EQ(a.offset(), 7_s + 2_ms) << "the next one does";
  EXPECT_EQ(a.round_trip(), 60_us);
  EXPECT_EQ(a.jumps(), 1u);
}

TEST(ClockAlignment, ClocksMayDriftLikeRealOnes) {
  ClockAlignment a;
  for (int i = 1; i <= 200; ++i) a.add(exchange(10_ms * i, 7_s + 1_us * i, 20_us, 20_us));  // 100 ppm
  EXPECT_EQ(a.jumps(), 0u);
  EXPECT_LE((7_s + 200_us - a.offset()).ps, (32_us).ps);
}

}  // namespace
}  // namespace railyard
