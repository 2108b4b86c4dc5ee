// HPCC against acknowledgements worked out by hand, and what it does to a QP.
#include "transports/roce/congestion/hpcc.h"

#include <gtest/gtest.h>

#include "dataplane/base/units.h"
#include "tests/transports/roce/pair.h"

namespace railyard::roce {
namespace {

using namespace literals;

// 100 Gb/s and 10 us: W_init is 125000 octets, 1000 units of txBytes fill 128000 x 8 / 100 Gb/s = 10.24 us.
HpccConfig worked_out() { return {.line = 100_Gbps, .base_rtt = 10_us, .eta = {95, 100}, .additive = 100_B}; }

constexpr std::uint32_t k100Gbps = HopTelemetry::rate_of(BitRate{100'000'000'000});

PathTelemetry one_hop(std::uint32_t at_ns, std::uint32_t sent, std::uint32_t queue) {
  PathTelemetry t;
  t.hops = 1;
  t.path = 7;
  t.hop[0] = {at_ns, sent, queue, k100Gbps};
  return t;
}

TEST(Hpcc, BeginsWithTheBandwidthDelayProduct) {
  const Hpcc hpcc(worked_out());
  EXPECT_DOUBLE_EQ(hpcc.window(), 125'000);
  HpccConfig by_flows = worked_out();
  by_flows.additive = {};
  by_flows.flows = 50;
  EXPECT_NEAR(Hpcc(by_flows).additive(), 125'000 * 0.05 / 50, 1e-9);
  // The paper's 80 octets.
  EXPECT_NEAR(Hpcc({.line = 100_Gbps}).additive(), 81.25, 1e-9);
}

TEST(Hpcc, TheFirstAcknowledgementIsOnlyKept) {
  Hpcc hpcc(worked_out());
  hpcc.on_telemetry(one_hop(1000, 0, 5000), Psn(1), Psn(30));
  EXPECT_DOUBLE_EQ(hpcc.window(), 125'000);
  EXPECT_DOUBLE_EQ(hpcc.utilization(), 1);
}

// Algorithm 1, lines 2 to 10: u' = min(qlen) / (B T) + txRate / B, and U is an average over T.
TEST(Hpcc, MeasuresTheInflightOctets) {
  Hpcc hpcc(worked_out());
  hpcc.on_telemetry(one_hop(1000, 0, 0), Psn(1), Psn(30));
  // 2 us later 100 units more: 12800 x 8 / 2 us = 51.2 Gb/s, tau / T is 1/5.
  hpcc.on_telemetry(one_hop(3000, 100, 0), Psn(2), Psn(31));
  EXPECT_NEAR(hpcc.utilization(), 0.8 * 1 + 0.2 * 0.512, 1e-12);
  // A whole T later: only this counts. The queue is min(1000, 0) the first time, then min(3000, 1000) x 80 / 125000.
  hpcc.on_telemetry(one_hop(13'000, 100 + 500, 1000), Psn(3), Psn(32));
  EXPECT_NEAR(hpcc.utilization(), 0.512, 1e-12);
  hpcc.on_telemetry(one_hop(23'000, 600 + 500, 3000), Psn(4), Psn(33));
  EXPECT_NEAR(hpcc.utilization(), 0.512 + 80'000.0 / 125'000, 1e-12);
  // More than T: no more than T counts.
  hpcc.on_telemetry(one_hop(63'000, 1100 + 2000, 0), Psn(5), Psn(34));
  EXPECT_NEAR(hpcc.utilization(), 0.512, 1e-12);
}

TEST(Hpcc, TheBusiestHopCounts) {
  Hpcc hpcc(worked_out());
  PathTelemetry t;
  t.hops = 3;
  for (HopTelemetry& h : t.hop) h.rate = k100Gbps;
  t.hop[1].rate = k100Gbps / 4;
  hpcc.on_telemetry(t, Psn(1), Psn(30));
  for (std::size_t i = 0; i < 3; ++i) t.hop[i].at_ns += 10'000;
  t.hop[0].sent += 500;  // 51.2 of 100 Gb/s
  t.hop[1].sent += 150;  // 15.36 of 25
  t.hop[2].sent += 200;
  hpcc.on_telemetry(t, Psn(2), Psn(31));
  EXPECT_NEAR(hpcc.utilization(), 0.6144, 1e-12);
}

// Lines 11 to 18. Within a round trip W follows W^c again and again; W^c moves once, when the first packet is
// acknowledged that was sent after it moved last.
TEST(Hpcc, ReferenceWindowMovesOnceARoundTrip) {
  Hpcc hpcc(worked_out());
  hpcc.on_telemetry(one_hop(0, 0, 0), Psn(1), Psn(30));
  auto busy = [&, at = 0u, sent = 0u](std::uint32_t seq, std::uint32_t next) mutable {
    hpcc.on_telemetry(one_hop(at += 10'000, sent += 977, 1563), Psn(seq), Psn(next));
  };
  busy(2, 31);  // no queue yet: 977 x 128 x 8 / 10 us = 100.0448 Gb/s; before PSN 30
  const double u1 = 1.000448;
  EXPECT_NEAR(hpcc.utilization(), u1, 1e-12);
  EXPECT_NEAR(hpcc.window(), 125'000 / (u1 / 0.95) + 100, 1e-6);
  EXPECT_DOUBLE_EQ(hpcc.reference_window(), 125'000);
  busy(30, 40);  // a queue of 125040 octets: twice what should be; not behind PSN 30
  const double u2 = 1.000448 + 1563 * 80 / 125'000.0;
  EXPECT_NEAR(hpcc.window(), 125'000 / (u2 / 0.95) + 100, 1e-6);
  EXPECT_DOUBLE_EQ(hpcc.reference_window(), 125'000);
  busy(31, 45);
  const double w1 = 125'000 / (u2 / 0.95) + 100;
  EXPECT_NEAR(hpcc.window(), w1, 1e-6);
  EXPECT_NEAR(hpcc.reference_window(), w1, 1e-6);
  busy(45, 50);
  EXPECT_NEAR(hpcc.window(), w1 / (u2 / 0.95) + 100, 1e-6) << "from the new W^c";
  EXPECT_NEAR(hpcc.reference_window(), w1, 1e-6);
}

TEST(Hpcc, AdditiveForMaxStageRoundTripsThenByUtilization) {
  HpccConfig config = worked_out();
  config.max_stage = 2;
  Hpcc hpcc(config);
  hpcc.on_telemetry(one_hop(0, 0, 0), Psn(1), Psn(10));
  std::uint32_t at = 0, sent = 0, psn = 10;
  const auto round_trip = [&](std::uint32_t units) {
    hpcc.on_telemetry(one_hop(at += 10'000, sent += units, 0), Psn(psn + 1), Psn(psn + 10));
    psn += 10;
  };
  round_trip(1954);  // 200.0896 Gb/s
  double w = 125'000 / (2.000896 / 0.95) + 100;
  EXPECT_NEAR(hpcc.reference_window(), w, 1e-6);
  round_trip(500);  // half: + W_AI
  EXPECT_NEAR(hpcc.reference_window(), w += 100, 1e-6);
  round_trip(500);
  EXPECT_NEAR(hpcc.reference_window(), w += 100, 1e-6);
  round_trip(500);  // the third in a row
  EXPECT_NEAR(hpcc.reference_window(), w = w / (0.512 / 0.95) + 100, 1e-6);
  round_trip(500);
  EXPECT_NEAR(hpcc.reference_window(), w += 100, 1e-6);
}

TEST(Hpcc, NeverMoreThanTheLinkNorLessThanOneIncrease) {
  Hpcc hpcc(worked_out());
  hpcc.on_telemetry(one_hop(0, 0, 0), Psn(1), Psn(10));
  hpcc.on_telemetry(one_hop(10'000, 1, 0), Psn(11), Psn(20));
  EXPECT_DOUBLE_EQ(hpcc.window(), 125'000);
  for (std::uint32_t i = 2; i < 200; ++i)
    hpcc.on_telemetry(one_hop(10'000 * i, 4000 * i, 100'000), Psn(10 * i + 1), Psn(10 * i + 10));
  EXPECT_GE(hpcc.window(), 100);
  EXPECT_LT(hpcc.window(), 102);
}

TEST(Hpcc, AnotherPathBeginsAnewAndWhatIsOlderIsIgnored) {
  Hpcc hpcc(worked_out());
  hpcc.on_telemetry(one_hop(100'000, 0, 0), Psn(1), Psn(10));
  PathTelemetry other = one_hop(110'000, 5000, 5000);
  other.path = 8;
  hpcc.on_telemetry(other, Psn(2), Psn(11));
  EXPECT_DOUBLE_EQ(hpcc.window(), 125'000);
  other.hop[0].at_ns = 109'000;
  other.hop[0].sent = 100'000;
  hpcc.on_telemetry(other, Psn(3), Psn(12));
  EXPECT_DOUBLE_EQ(hpcc.utilization(), 1) << "older than the last one";
  other.hop[0] = {120'000, 5000 + 977, 0, k100Gbps};
  hpcc.on_telemetry(other, Psn(4), Psn(13));
  EXPECT_NEAR(hpcc.utilization(), 1.000448, 1e-12);
}

TEST(Hpcc, CountersWrap) {
  Hpcc hpcc(worked_out());
  hpcc.on_telemetry(one_hop(0xFFFF'F000u, 0xFFFF'FFF0u, 0), Psn(1), Psn(10));
  hpcc.on_telemetry(one_hop(0xFFFF'F000u + 10'000, 0xFFFF'FFF0u + 977, 0), Psn(2), Psn(11));
  EXPECT_NEAR(hpcc.utilization(), 1.000448, 1e-12);
}

TEST(Hpcc, PacesByWindowOverT) {
  Hpcc hpcc(worked_out());
  const Instant now = Instant{} + 100_us;
  EXPECT_EQ(hpcc.pace(now, now, 4000), now) << "the link paces";
  // The window is counted in the longest packets, rounded up: 125000 / 4000 = 31.25.
  EXPECT_EQ(hpcc.on_heard(now, {}), 32u);
  hpcc.on_telemetry(one_hop(0, 0, 0), Psn(1), Psn(10));
  hpcc.on_telemetry(one_hop(10'000, 1954, 0), Psn(11), Psn(20));
  const double w = 125'000 / (2.000896 / 0.95) + 100;
  EXPECT_EQ(hpcc.on_heard(now, {}), 15u);  // 59449 / 4000
  const auto gap = Duration{static_cast<std::int64_t>(4000 * 10e6 / w + 0.5)};
  EXPECT_EQ(hpcc.pace(now, now - 1_us, 4000), now + gap);
  EXPECT_EQ(hpcc.pace(now, now + 1_us, 4000), now + 1_us + gap);
}

// The wire of the pair has no switches: telemetry goes there without hops and comes back so.
TEST(HpccOfAQp, EveryDataPacketCarriesTelemetryAndEveryAckReturnsIt) {
  PairConfig config = rc_config();
  config.engine.congestion = worked_out();
  Pair pair(config);
  pair.write_and_expect(3000);
  std::size_t data = 0, acks = 0;
  for (const Seen& s : pair.log()) {
    (s.from == 0 ? data : acks) += 1;
    ASSERT_TRUE(s.telemetry.has_value()) << s.name();
    EXPECT_EQ(s.telemetry->echo, s.from);
    EXPECT_EQ(s.telemetry->hops, 0);
  }
  EXPECT_EQ(data, 12u);
  EXPECT_EQ(acks, 12u) << "ack-every is 1";
}

TEST(HpccOfAQp, ReadsAtomicsAndOtherControlsCarryNone) {
  PairConfig config = rc_config();
  config.engine.congestion = worked_out();
  Pair pair(config);
  pair.post(0, pair.read(0, 1, 0, 0, 1000));
  pair.post(0, pair.fetch_add(0, 2, 2048, 0, 1));
  pair.run();
  EXPECT_EQ(pair.sent_text(0), "1:SUCCESS 2:SUCCESS");
  for (const Seen& s : pair.log()) EXPECT_FALSE(s.telemetry.has_value()) << s.name();
  Pair without(rc_config());
  without.write_and_expect(3000);
  for (const Seen& s : without.log()) EXPECT_FALSE(s.telemetry.has_value()) << s.name();
}

}  // namespace
}  // namespace railyard::roce
