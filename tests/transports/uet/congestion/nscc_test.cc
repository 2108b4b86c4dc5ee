// NSCC against sequences worked out by hand from its pseudo-code (uet §9.1..§9.4), at 100 Gb/s and 12 us: BDP 150 000
// octets, a = 1, target 9 us, b = 0.75.
#include "transports/uet/congestion/nscc.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace railyard::uet {
namespace {

using namespace literals;

constexpr double kPayload = 4096;
constexpr std::uint32_t kPacket = 4160;
constexpr NsccConfig kReference = NsccConfig::of({});

Instant at(Duration d) { return Instant{} + d; }
AckSignals ack(std::uint64_t newly, Duration queueing, bool ecn = false) {
  return {.newly = newly, .rtt = 12_us + queueing, .ecn = ecn};
}
// One that has `cwnd` octets, begun at 0, with `sent` in flight and a quick adapt period that began then.
Nscc begun(double cwnd, std::uint32_t sent) {
  Nscc nscc(kReference);
  nscc.on_sent(at({}), sent);
  nscc.on_loss(static_cast<std::uint32_t>(nscc.cwnd() - cwnd));
  nscc.on_nothing_in_flight();
  nscc.on_sent(at({}), sent);
  nscc.on_ack(at({}), {});
  return nscc;
}

TEST(NsccConfig, FollowsFromTheNetwork) {
  EXPECT_EQ(kReference.target, 9_us);
  EXPECT_DOUBLE_EQ(kReference.alpha, 4 * 1 * 0.75 * kPayload / 9e6);
  EXPECT_DOUBLE_EQ(kReference.fi, 5 * kPayload);
  EXPECT_DOUBLE_EQ(kReference.eta, 0.15 * kPayload);
  EXPECT_DOUBLE_EQ(kReference.fi_scale, 0.25);
  EXPECT_EQ(kReference.qa_threshold, 36_us);
  EXPECT_EQ(kReference.adjust_period, 12_us);
  EXPECT_DOUBLE_EQ(kReference.adjust_bytes, 8.0 * kPacket);
  EXPECT_DOUBLE_EQ(kReference.min_wnd, kPacket);
  EXPECT_DOUBLE_EQ(Nscc(kReference).cwnd(), 225'000) << "1.5 x BDP";
}

// On an idle path that is shorter than was thought, the window is that of the path; where round trips contain the time of
// programs, one that was quick says nothing of the others.
TEST(Nscc, ARoundTripThatIsShorterMakesTheLargestWindowSmallerUnlessTheBaseRttIsKept) {
  for (const bool keeps : {false, true}) {
    NsccConfig config = kReference;
    config.keeps_base_rtt = keeps;
    Nscc nscc(config);
    nscc.on_sent(at({}), kPacket);
    nscc.on_ack(at(3_us), {.newly = kPacket, .rtt = 3_us});
    EXPECT_EQ(nscc.base_rtt(), keeps ? 12_us : 3_us);
    EXPECT_DOUBLE_EQ(nscc.cwnd(), keeps ? 225'000 : 225'000.0 / 4);
  }
}

TEST(NsccConfig, ScalesWithRateAndRoundTrip) {
  const NsccConfig c = NsccConfig::of({.rate = 400_Gbps, .base_rtt = 6_us, .mtu = 2048, .trimming = false});
  EXPECT_EQ(c.target, 6_us) << "one round trip where nobody trims";
  EXPECT_DOUBLE_EQ(c.alpha, 4 * 2 * 0.5 * 2048 / 6e6);  // a = 2, b = 0.5
  EXPECT_DOUBLE_EQ(c.fi_scale, 0.5);
  EXPECT_DOUBLE_EQ(Nscc(c).max_wnd(), 450'000);
}

TEST(Nscc, AllowsWhatFitsItsWindow) {
  Nscc nscc(kReference);
  EXPECT_TRUE(nscc.allows(225'000));
  EXPECT_FALSE(nscc.allows(225'001));
  nscc.on_sent(at({}), 220'840);
  EXPECT_TRUE(nscc.allows(kPacket));
  EXPECT_FALSE(nscc.allows(kPacket + 1));
  nscc.on_ack(at(20_us), ack(10'000, 8_us));
  EXPECT_DOUBLE_EQ(nscc.in_flight(), 210'840);
}

TEST(Nscc, GrowsInProportionToHowFarItIsBelowTheTarget) {
  Nscc nscc = begun(100'000, 40'000);
  nscc.on_ack(at(10_us), ack(20'000, 4_us));
  EXPECT_DOUBLE_EQ(nscc.cwnd(), 100'000) << "neither 8 packets nor a period";
  nscc.on_ack(at(11_us), ack(20'000, 4_us));
  // inc = 40 000 x alpha x 5 us; alpha x us = 12 288 / 9
  EXPECT_NEAR(nscc.cwnd(), 100'000 + 40'000 * 12'288.0 / 9 * 5 / 100'000, 1e-6);
}

TEST(Nscc, AddsEtaOnceAPeriod) {
  Nscc nscc = begun(100'000, 40'000);
  nscc.on_ack(at(13_us), ack(0, 9_us - 1_ps));
  EXPECT_NEAR(nscc.cwnd(), 100'000 + 614.4, 1e-6);
  nscc.on_ack(at(24_us), ack(0, 4_us));
  EXPECT_NEAR(nscc.cwnd(), 100'000 + 614.4, 1e-6);
  nscc.on_ack(at(26_us), ack(0, 4_us));
  EXPECT_NEAR(nscc.cwnd(), 100'000 + 2 * 614.4, 1e-6);
}

TEST(Nscc, GrowsFairlyWhenTheQueueIsLongAndNobodyMarks) {
  Nscc nscc = begun(100'000, 40'000);
  nscc.on_ack(at(11_us), ack(40'000, 10_us));
  EXPECT_DOUBLE_EQ(nscc.cwnd(), 100'000 + 40'000 * 5 * kPayload / 100'000);
}

TEST(Nscc, GrowsFastAfterAWindowWithoutQueue) {
  Nscc nscc = begun(20'000, 0);
  Instant now = at(1_us);
  nscc.on_ack(now, ack(20'000, 0_us));
  EXPECT_DOUBLE_EQ(nscc.cwnd(), 20'000) << "not more than a window yet";
  nscc.on_ack(now, ack(4'000, 999_ns));
  EXPECT_DOUBLE_EQ(nscc.cwnd(), 21'000) << "a quarter of what arrives";
  nscc.on_ack(now, ack(4'000, 0_us));
  EXPECT_DOUBLE_EQ(nscc.cwnd(), 22'000);
  const double before = nscc.cwnd();
  nscc.on_ack(now, ack(4'000, 1_us));
  EXPECT_DOUBLE_EQ(nscc.cwnd(), before) << "a queue ends it";
}

TEST(Nscc, MarkedBelowTheTargetDoesNothing) {
  Nscc nscc = begun(100'000, 40'000);
  nscc.on_ack(at(10_us), ack(40'000, 8_us, true));
  EXPECT_DOUBLE_EQ(nscc.cwnd(), 100'000);
}

TEST(Nscc, DecreasesByHowFarTheAverageIsOverTheTargetOnceARoundTrip) {
  Nscc nscc = begun(100'000, 0);
  double average = 0;
  int n = 0;
  for (; average <= 9e6; ++n) {
    EXPECT_DOUBLE_EQ(nscc.cwnd(), 100'000) << "an average: one sample is not enough";
    average += 0.0125 * (27e6 - average);
    nscc.on_ack(at(1_us), ack(1'000'000, 27_us, true));
  }
  EXPECT_EQ(n, 33);
  const double once = 100'000 * (1 - 0.8 * (average - 9e6) / average);
  EXPECT_NEAR(nscc.cwnd(), once, 1e-6);
  nscc.on_ack(at(13_us), ack(1'000'000, 27_us, true));
  EXPECT_NEAR(nscc.cwnd(), once + 614.4, 1e-6) << "within the round trip; eta is due";
  average += 0.0125 * (27e6 - average);
  average += 0.0125 * (27e6 - average);
  nscc.on_ack(at(14_us), ack(1'000'000, 27_us, true));
  EXPECT_NEAR(nscc.cwnd(), (once + 614.4) * (1 - 0.8 * (average - 9e6) / average), 1e-6);
}

TEST(Nscc, OneDecreaseLeavesHalf) {
  NsccConfig config = kReference;
  config.delay_weight = 1;
  Nscc nscc(config);
  nscc.on_sent(at({}), 1000);
  nscc.on_ack(at(1_us), ack(1000, 100_us, true));
  EXPECT_DOUBLE_EQ(nscc.cwnd(), 112'500);
}

TEST(Nscc, ASmallerSampleIsTheBaseFromThenOn) {
  Nscc nscc(kReference);
  nscc.on_ack(at(1_us), {.newly = 0, .rtt = 8_us});
  EXPECT_EQ(nscc.base_rtt(), 8_us);
  EXPECT_DOUBLE_EQ(nscc.max_wnd(), 150'000);
  EXPECT_DOUBLE_EQ(nscc.cwnd(), 150'000);
}

TEST(Nscc, ATrimTakesItsPacketOffTheWindow) {
  Nscc nscc = begun(100'000, 50'000);
  nscc.on_trimmed(at(1_us), kPacket, true);
  EXPECT_DOUBLE_EQ(nscc.cwnd(), 100'000 - kPacket);
  EXPECT_DOUBLE_EQ(nscc.in_flight(), 50'000 - kPacket);
  EXPECT_EQ(nscc.average_delay(), 12_us * 125 / 10'000) << "as if the queue had been a round trip long";
  nscc.on_trimmed(at(1_us), kPacket, false);
  EXPECT_DOUBLE_EQ(nscc.cwnd(), 100'000 - kPacket) << "at the last hop, where the receiver grants";
}

TEST(Nscc, QuickAdaptFallsToWhatWasDeliveredAndThenIgnoresWhatIsInFlight) {
  Nscc nscc = begun(200'000, 200'000);
  nscc.on_ack(at(5_us), ack(20'000, 8_us));
  nscc.on_trimmed(at(6_us), kPacket, true);
  EXPECT_DOUBLE_EQ(nscc.cwnd(), 200'000 - kPacket) << "not before a round trip and target have passed";
  nscc.on_trimmed(at(21_us) + 1_ps, kPacket, true);
  EXPECT_DOUBLE_EQ(nscc.cwnd(), 20'000) << "20 000 of 225 000 were delivered";
  const double ignored = nscc.in_flight();
  EXPECT_DOUBLE_EQ(ignored, 180'000 - 2 * kPacket);
  nscc.on_trimmed(at(22_us), kPacket, true);
  nscc.on_ack(at(22_us), ack(10'000, 50_us, true));
  EXPECT_DOUBLE_EQ(nscc.cwnd(), 20'000) << "was in flight before";
  nscc.on_ack(at(23_us), ack(static_cast<std::uint64_t>(ignored), 8_us));
  const double before = nscc.cwnd();
  nscc.on_trimmed(at(24_us), kPacket, true);
  EXPECT_DOUBLE_EQ(nscc.cwnd(), before - kPacket) << "was not";
}

TEST(Nscc, QuickAdaptLeavesAloneWhoDeliversAnEighth) {
  Nscc nscc = begun(200'000, 200'000);
  nscc.on_ack(at(5_us), ack(28'125, 8_us));
  nscc.on_trimmed(at(22_us), kPacket, true);
  EXPECT_GT(nscc.cwnd(), 190'000);
}

TEST(Nscc, ALossTakesItsPacketAndNoMoreThanToTheLeast) {
  Nscc nscc = begun(10'000, 9'000);
  nscc.on_loss(kPacket);
  EXPECT_DOUBLE_EQ(nscc.cwnd(), 10'000 - kPacket);
  EXPECT_DOUBLE_EQ(nscc.in_flight(), 9'000 - kPacket);
  nscc.on_loss(kPacket);
  EXPECT_DOUBLE_EQ(nscc.cwnd(), kPacket);
  nscc.on_loss(kPacket);
  EXPECT_DOUBLE_EQ(nscc.in_flight(), 0) << "never less";
}

TEST(Nscc, TheReceiversPenaltyShrinksTheWindow) {
  Nscc nscc = begun(100'000, 60'000);
  nscc.on_ack(at(1_us), {.newly = 10'000, .rtt = 12_us, .rcv_cwnd_pend = 64});
  EXPECT_DOUBLE_EQ(nscc.cwnd(), 50'000 - 64 * 10'000 / 128.0) << "to what is in flight, and half of what has arrived";
  nscc.on_ack(at(2_us), {.newly = 40'000, .rtt = 12_us, .rcv_cwnd_pend = 64, .restore_cwnd = true});
  EXPECT_GT(nscc.cwnd(), 45'000) << "over";
}

// ---- A window below a packet -----------------------------------------------------------------------------------------

// One that may have a part of a packet, and has a whole one, sent and trimmed at `now`.
Nscc one_packet(Instant now) {
  NsccConfig config = kReference;
  config.min_wnd = kPacket / 16.0;
  config.max_wnd_bdps = config.first_wnd_bdps = 0;  // a packet at most, so at first
  Nscc nscc(config);
  nscc.on_sent(now, kPacket);
  return nscc;
}

TEST(NsccInParts, TheOnlyPacketIsTrimmedAndHalfAWindowIsLeft) {
  Nscc nscc = one_packet(at({}));
  EXPECT_DOUBLE_EQ(nscc.cwnd(), kPacket);
  EXPECT_EQ(nscc.next_at(), Instant{}) << "a whole packet is not paced";
  nscc.on_trimmed(at(10_us), kPacket, true);
  EXPECT_DOUBLE_EQ(nscc.cwnd(), kPacket / 2.0);
  EXPECT_FALSE(nscc.allows(kPacket)) << "not beside another";
  EXPECT_EQ(nscc.next_at(), at(24_us)) << "two round trips after the one before";
  for (int i = 0; i < 10; ++i) {
    nscc.on_sent(nscc.next_at(), kPacket);
    nscc.on_trimmed(nscc.next_at(), kPacket, true);
  }
  EXPECT_DOUBLE_EQ(nscc.cwnd(), kPacket / 16.0) << "the least";
}

// Where nobody trims, too.
TEST(NsccInParts, TheOnlyPacketIsLostAndHalfAWindowIsLeft) {
  Nscc nscc = one_packet(at({}));
  nscc.on_sent(at({}), kPacket);
  nscc.on_loss(kPacket);
  EXPECT_DOUBLE_EQ(nscc.cwnd(), kPacket) << "another one was under way";
  nscc.on_loss(kPacket);
  EXPECT_DOUBLE_EQ(nscc.cwnd(), kPacket / 2.0);
  nscc.on_sent(at(24_us), kPacket);
  nscc.on_loss(kPacket);
  EXPECT_DOUBLE_EQ(nscc.cwnd(), kPacket / 4.0);
}

TEST(NsccInParts, WhatWasInFlightWhenItWasHalvedIsNotListenedTo) {
  Nscc nscc = one_packet(at({}));
  nscc.on_trimmed(at(10_us), kPacket, true);
  nscc.on_sent(at(24_us), kPacket);
  nscc.on_sent(at(24_us), kPacket);
  nscc.on_trimmed(at(34_us), kPacket, true);
  EXPECT_DOUBLE_EQ(nscc.cwnd(), kPacket / 4.0);
  nscc.on_trimmed(at(34_us), kPacket, true);
  EXPECT_DOUBLE_EQ(nscc.cwnd(), kPacket / 4.0);
}

TEST(NsccInParts, GrowsWithEachPacketThatArrivesWhateverItsDelayAndMark) {
  Nscc nscc = one_packet(at({}));
  nscc.on_trimmed(at(10_us), kPacket, true);
  nscc.on_sent(at(24_us), kPacket);
  nscc.on_ack(at(60_us), ack(kPacket, 24_us, true));
  EXPECT_DOUBLE_EQ(nscc.cwnd(), kPacket * 0.75);
  EXPECT_EQ(nscc.next_at(), at(24_us + 36_us * 4 / 3)) << "of the round trip that was measured";
  nscc.on_ack(at(100_us), ack(kPacket, 0_us));
  EXPECT_DOUBLE_EQ(nscc.cwnd(), kPacket);
  EXPECT_EQ(nscc.next_at(), Instant{}) << "a whole packet: a window as any other";
}

// What does not fit the queue is lost, and that is found out late.
TEST(NsccInParts, WithoutTrimmingMarkedPacketsLetItStay) {
  NsccConfig config = NsccConfig::of({.packet_octets = kPacket, .trimming = false});
  config.min_wnd = kPacket / 16.0;
  config.max_wnd_bdps = config.first_wnd_bdps = 0;
  Nscc nscc(config);
  nscc.on_sent(at({}), kPacket);
  nscc.on_loss(kPacket);
  nscc.on_sent(at(24_us), kPacket);
  nscc.on_ack(at(60_us), ack(kPacket, 24_us, true));
  EXPECT_DOUBLE_EQ(nscc.cwnd(), kPacket / 2.0);
  nscc.on_sent(at(100_us), kPacket);
  nscc.on_ack(at(120_us), ack(kPacket, 8_us));
  EXPECT_DOUBLE_EQ(nscc.cwnd(), kPacket * 0.75);
}

TEST(NsccInParts, ATrimAmongOthersLeavesAWholePacket) {
  Nscc nscc = one_packet(at({}));
  nscc.on_sent(at({}), kPacket);
  nscc.on_trimmed(at(10_us), kPacket, true);
  EXPECT_DOUBLE_EQ(nscc.cwnd(), kPacket);
}

TEST(NsccInParts, TheReferenceHasNone) {
  Nscc nscc = begun(kPacket, 0);
  for (int i = 0; i < 10; ++i) {
    nscc.on_sent(at(i * 20_us), kPacket);
    nscc.on_trimmed(at(i * 20_us + 10_us), kPacket, true);
    EXPECT_DOUBLE_EQ(nscc.cwnd(), kPacket);
    EXPECT_EQ(nscc.next_at(), Instant{});
  }
  nscc.on_sent(at(300_us), kPacket);
  nscc.on_loss(kPacket);
  EXPECT_DOUBLE_EQ(nscc.cwnd(), kPacket);
}

TEST(Nscc, NothingDependsOnWhenAFlowBegins) {
  const auto run = [](Duration start) {
    Nscc nscc(kReference);
    Instant now = at(start);
    nscc.on_sent(now, 200'000);
    nscc.on_loss(100'000);
    for (int i = 0; i < 100; ++i) {
      now = now + 700_ns;
      nscc.on_sent(now, kPacket);
      nscc.on_ack(now, ack(kPacket, Duration{(i * 37 % 20) * 1'000'000}, i % 3 == 0));
      if (i % 10 == 0) nscc.on_trimmed(now, kPacket, true);
    }
    return nscc.cwnd();
  };
  EXPECT_EQ(run({}), run(1_s));
}

}  // namespace
}  // namespace railyard::uet
