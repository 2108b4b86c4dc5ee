// Swift against sequences worked out by hand, and what it does to a QP.
#include "transports/roce/congestion/swift.h"

#include <stdexcept>

#include <gtest/gtest.h>

#include "dataplane/base/units.h"
#include "tests/transports/roce/pair.h"

namespace railyard::roce {
namespace {

using namespace literals;

Instant after(Duration d) { return Instant{} + d; }

SwiftConfig hand_worked() {
  return {.base_target = 20_us, .fs_range = {}, .ai = 1, .beta = {4, 5}, .max_mdf = {1, 2}, .initial_cwnd = 10};
}

TEST(Swift, GrowsByAiARoundTrip) {
  Swift swift(hand_worked());
  swift.on_ack(after(10_us), 10_us, 1);
  EXPECT_DOUBLE_EQ(swift.cwnd(), 10.1);  // 10 + 1 / 10
  swift.on_ack(after(11_us), 19_us, 4);
  EXPECT_DOUBLE_EQ(swift.cwnd(), 10.1 + 4 / 10.1);
}

TEST(Swift, ShrinksByHowFarItIsOverTheTargetOnceARoundTrip) {
  Swift swift(hand_worked());
  swift.on_ack(after(100_us), 40_us, 1);
  EXPECT_DOUBLE_EQ(swift.cwnd(), 6);  // 10 x (1 - 0.8 x 20/40)
  swift.on_ack(after(120_us), 40_us, 1);
  EXPECT_DOUBLE_EQ(swift.cwnd(), 6) << "within the round trip";
  swift.on_ack(after(140_us), 25_us, 1);
  EXPECT_DOUBLE_EQ(swift.cwnd(), 6 * 0.84);  // 1 - 0.8 x 5/25
  swift.on_ack(after(300_us), 200_us, 1);
  EXPECT_DOUBLE_EQ(swift.cwnd(), 6 * 0.84) << "the round trip is longer now";
  swift.on_ack(after(400_us), 200_us, 1);
  EXPECT_DOUBLE_EQ(swift.cwnd(), 6 * 0.84 * 0.5) << "1 - 0.8 x 180/200 = 0.28, but not more than max_mdf";
  swift.on_ack(after(401_us), 20_us, 1);
  EXPECT_DOUBLE_EQ(swift.cwnd(), 6 * 0.84 * 0.5) << "at the target it does not grow, and not shrink again so soon";
}

TEST(Swift, LessThanOnePacketIsPaced) {
  SwiftConfig config = hand_worked();
  config.initial_cwnd = 1;
  Swift swift(config);
  EXPECT_EQ(swift.pacing_delay(), Duration{});
  swift.on_ack(after(100_us), 80_us, 1);
  EXPECT_DOUBLE_EQ(swift.cwnd(), 0.5);
  EXPECT_EQ(swift.pacing_delay(), 160_us);
  swift.on_ack(after(110_us), 10_us, 1);
  EXPECT_DOUBLE_EQ(swift.cwnd(), 1.5) << "below one packet: ai for each";
}

TEST(Swift, LossTakesMaxMdfAndTimeoutsInARowAll) {
  Swift swift(hand_worked());
  swift.on_fast_recovery(after(10_us));
  EXPECT_DOUBLE_EQ(swift.cwnd(), 5);
  swift.on_retransmit_timeout(after(1_ms));
  EXPECT_DOUBLE_EQ(swift.cwnd(), 2.5);
  swift.on_retransmit_timeout(after(2_ms));
  swift.on_retransmit_timeout(after(3_ms));
  EXPECT_DOUBLE_EQ(swift.cwnd(), 0.625);
  swift.on_retransmit_timeout(after(4_ms));
  EXPECT_DOUBLE_EQ(swift.cwnd(), 0.001) << "the fourth";
}

// fs_alpha = 30 / (1/sqrt(0.25) - 1/sqrt(100)) = 30 / 1.9 us, fs_beta = -fs_alpha / 10.
TEST(Swift, TheTargetScalesWithFlowsAndHops) {
  SwiftConfig config = hand_worked();
  config.hop_scale = 2_us;
  config.hops = 3;
  config.fs_range = 30_us;
  config.fs_min_cwnd = {1, 4};
  config.fs_max_cwnd = 100;
  const auto target = [&](double cwnd) { return Swift(config, cwnd).target_delay(); };
  EXPECT_EQ(target(100), 26_us);
  EXPECT_EQ(target(400), 26_us) << "never less";
  EXPECT_EQ(target(0.25), 56_us);
  EXPECT_EQ(target(0.01), 56_us) << "never more";
  EXPECT_NEAR(static_cast<double>(target(4).ps), 26e6 + 30e6 / 1.9 * 0.4, 1);  // 1/2 - 1/10
  EXPECT_NEAR(static_cast<double>(target(1).ps), 26e6 + 30e6 / 1.9 * 0.9, 1);
}

TEST(Swift, TheWindowIsClamped) {
  SwiftConfig config = hand_worked();
  config.max_cwnd = 12;
  config.min_cwnd = 4;
  Swift swift(config);
  swift.on_ack(after(1_us), 1_us, 100);
  EXPECT_DOUBLE_EQ(swift.cwnd(), 12);
  for (int i = 1; i < 10; ++i) swift.on_ack(after(1_ms * i), 200_us, 1);
  EXPECT_DOUBLE_EQ(swift.cwnd(), 4);
}

// ---- At a QP -------------------------------------------------------------------------------------------------------

PairConfig by_swift(bool selective) {
  PairConfig config = rc_config(PathMtu::k1024);
  SwiftConfig swift = hand_worked();
  swift.initial_cwnd = 64;
  swift.min_cwnd = 4;
  config.engine.congestion = swift;
  if (selective) config.selective_repeat = {.rto_low = 1_ms, .rto_high = 1_ms};
  return config;
}
double cwnd(Pair& pair) {
  const Qp* const qp = pair.engine(0).qp(pair.end(0).qp);
  const Swift* const swift = qp != nullptr ? qp->congestion.get<Swift>() : nullptr;
  return swift != nullptr ? swift->cwnd() : throw std::logic_error("the QP has no Swift");
}

TEST(SwiftAtAQp, ALongRoundTripShrinksTheWindowAndAShortOneLetsItGrow) {
  for (const bool selective : {false, true}) {
    SCOPED_TRACE(selective);
    Pair pair(by_swift(selective));
    Duration late = 100_us;
    std::int64_t in_flight = 0, most = 0, seen = 0;
    pair.fate = [&](const Seen& s) {
      if (s.from == 0) most = std::max(most, ++in_flight);
      if (s.from == 1) in_flight -= std::int64_t{s.psn()} - 0xFF - seen, seen = std::int64_t{s.psn()} - 0xFF;
      return Fate{.late = late};
    };
    pair.write_and_expect(500'000);
    EXPECT_EQ(most, 64) << "the window it begins with";
    const double small = cwnd(pair);
    EXPECT_LT(small, 20);
    late = {};
    pair.write_and_expect(900'000);
    EXPECT_GT(cwnd(pair), small + 5);
    EXPECT_EQ(pair.counters(0).retransmitted_packets.read(), 0u);
  }
}

TEST(SwiftAtAQp, LossShrinksItToo) {
  for (const bool selective : {false, true}) {
    SCOPED_TRACE(selective);
    Pair pair(by_swift(selective));
    pair.fate = lose_first(0, psn_is(0x105));
    pair.write_and_expect(30'000);
    EXPECT_LT(cwnd(pair), 40);
    EXPECT_GT(cwnd(pair), 30);
  }
}

TEST(SwiftAtAQp, LessThanOnePacketInFlightIsSentInTurnsLongerThanARoundTrip) {
  PairConfig config = by_swift(false);
  SwiftConfig swift = hand_worked();
  swift.initial_cwnd = 1;
  config.engine.congestion = swift;
  Pair pair(config);
  pair.fate = [](const Seen&) { return Fate{.late = 49_us}; };  // a round trip of 100 us
  pair.write_and_expect(1024 * 8);
  std::vector<Instant> sent;
  for (const Seen& s : pair.log())
    if (s.from == 0) sent.push_back(s.at);
  ASSERT_EQ(sent.size(), 8u);
  EXPECT_LT(sent[1] - sent[0], 105_us);
  EXPECT_GT(sent[3] - sent[2], 190_us) << "half a packet a round trip";
  EXPECT_GT(sent[5] - sent[4], sent[3] - sent[2]);
}

}  // namespace
}  // namespace railyard::roce
