// The failures that RoCE deployments meet, as topologies/scenarios/ has them: symptom, cause as counters show it, and
// that the fix which the file names heals it.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "control/report/verdict.h"
#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

report::FlowReport flow_named(Scenario& s, const std::string& name) {
  for (const report::FlowReport& f : s.report().flows)
    if (f.name == name) return f;
  throw std::out_of_range("no flow is called " + name);
}

// Of all flows of a traffic together.
report::TrafficReport traffic_named(Scenario& s, const std::string& name) {
  for (const report::TrafficReport& t : s.report().traffic)
    if (t.name == name) return t;
  throw std::out_of_range("no traffic is called " + name);
}

std::uint64_t xoffs_of_all(Scenario& s) {
  std::uint64_t n = 0;
  for (const report::PortReport& p : s.report().ports)
    for (const ClassCounters& c : p.counters.classes) n += c.xoff_sent;
  return n;
}

// ---- MTU mismatch --------------------------------------------------------------------------------------------------

TEST(RoceDeployment, AnMtuMismatchPassesSmallMessagesOnly) {
  Scenario s = Scenario::ready("roce-mtu-mismatch");
  s.run_to_the_end();
  EXPECT_TRUE(flow_named(s, "small/h1->h2").fct_ns) << "symptom: small ones pass";
  const report::FlowReport large = flow_named(s, "large/h1->h2");
  EXPECT_EQ(large.roce->messages, 0u) << "and large ones never do";
  EXPECT_EQ(large.roce->status, "RETRY_EXC_ERR");
  EXPECT_EQ(s.drops(DropReason::kTooBig), large.lost) << "cause";
  EXPECT_GT(large.lost, 0u);
  EXPECT_TRUE(s.shows_its_diagnosis());
  s.expect_books_balance();

  Scenario fixed = Scenario::healed("roce-mtu-mismatch");
  fixed.run_to_the_end();
  EXPECT_TRUE(flow_named(fixed, "large/h1->h2").fct_ns);
  EXPECT_FALSE(fixed.shows_its_diagnosis());
  EXPECT_EQ(fixed.dropped(), 0u);
}

// ---- PFC priority misaligned ---------------------------------------------------------------------------------------

TEST(RoceDeployment, AMisalignedPfcPriorityDropsInThePlaceOfPauses) {
  Scenario s = Scenario::ready("roce-pfc-misaligned");
  s.run_to_the_end();
  const report::TrafficReport incast = traffic_named(s, "incast");
  EXPECT_GT(incast.retransmitted, incast.packets / 10) << "symptom";
  EXPECT_GT(s.at("leaf1:1", 3).drops[static_cast<std::size_t>(DropReason::kEgressFull)], 0u) << "cause";
  EXPECT_EQ(xoffs_of_all(s), 0u) << "nobody may pause this class";
  EXPECT_TRUE(s.shows_its_diagnosis());
  s.expect_books_balance();

  for (const std::vector<std::string>& fix :
       {std::vector<std::string>{fix_of("roce-pfc-misaligned")},
        std::vector<std::string>{"qos.default.classes.3={ lossless: true, alpha: 1/8 }"}}) {
    Scenario fixed = Scenario::ready("roce-pfc-misaligned", fix);
    fixed.run_to_the_end();
    EXPECT_EQ(fixed.dropped(), 0u) << fix[0];
    EXPECT_FALSE(fixed.shows_its_diagnosis()) << fix[0];
    EXPECT_GT(xoffs_of_all(fixed), 0u) << fix[0];
    const report::TrafficReport after = traffic_named(fixed, "incast");
    EXPECT_EQ(after.complete, 8u) << fix[0];
    EXPECT_EQ(after.retransmitted, 0u) << fix[0];
    // Eight share 98 % of the link: 4 MB each takes eight times as long as alone.
    EXPECT_NEAR(after.slowdown.max, 8, 0.3) << fix[0];
  }
}

// ---- ECN thresholds, both ways -------------------------------------------------------------------------------------

constexpr const char* kSane = "qos.default.classes.3.ecn={ kmin: 400KB, kmax: 1600KB, pmax: 20% }";

TEST(RoceDeployment, EcnThresholdsAboveXoffLeaveItToPfc) {
  Scenario s = Scenario::ready("roce-ecn-thresholds");
  s.run_until(10_ms);
  const std::uint64_t before = xoffs_of_all(s);
  EXPECT_GT(before, 500u) << "symptom";
  EXPECT_EQ(traffic_named(s, "incast").cnps, 0u) << "cause: DCQCN hears of nothing";
  EXPECT_EQ(s.at("leaf1:1", 3).ecn_marked, 0u);
  EXPECT_EQ(report::ce_and_xoff(s.report()).ce_first, 0u);
  EXPECT_TRUE(s.shows_its_diagnosis());

  Scenario fixed = Scenario::healed("roce-ecn-thresholds");
  fixed.run_until(10_ms);
  EXPECT_GT(traffic_named(fixed, "incast").cnps, 0u);
  // Everybody begins at line rate: the first burst may reach XOFF, behind the first mark.
  EXPECT_LT(xoffs_of_all(fixed), before / 10);
  const report::CeAndXoff order = report::ce_and_xoff(fixed.report());
  EXPECT_EQ(order.ce_first, order.queues);
  EXPECT_FALSE(fixed.shows_its_diagnosis());
}

TEST(RoceDeployment, EcnThresholdsFarTooLowStarveTheLink) {
  const auto delivered = [](const std::string& ecn) {
    Scenario s = Scenario::ready("roce-ecn-thresholds", {ecn});
    s.run_until(10_ms);
    EXPECT_EQ(s.dropped(), 0u);
    return static_cast<double>(traffic_named(s, "incast").delivered_bytes) * 8 / 10e-3 / 100e9;
  };
  const std::string far_too_low = "qos.default.classes.3.ecn={ kmin: 1KB, kmax: 2KB, pmax: 100% }";
  Scenario low = Scenario::ready("roce-ecn-thresholds", {far_too_low});
  low.run_until(10_ms);
  EXPECT_GT(low.at("leaf1:1", 3).ecn_marked, low.at("leaf1:1", 3).tx_packets / 5) << "cause: marks without a queue";
  EXPECT_FALSE(low.shows_its_diagnosis()) << "the opposite mistake";
  const double starved = delivered(far_too_low);
  const double sane = delivered(kSane);
  EXPECT_LT(starved, 0.5) << "symptom, of the link's rate";
  EXPECT_GT(sane, 0.75);
}

// ---- Mixed traffic on one priority ---------------------------------------------------------------------------------

TEST(RoceDeployment, TrafficThatIgnoresMarksTakesItAllFromTheSameClass) {
  // While both are there, from 1 ms on.
  const auto shares = [](Scenario s, std::uint64_t& cnps, bool shows) {
    s.run_until(1_ms);
    const auto train = static_cast<double>(traffic_named(s, "train").delivered_bytes);
    s.run_until(10_ms);
    cnps = traffic_named(s, "train").cnps;
    EXPECT_EQ(s.shows_its_diagnosis(), shows);
    return (static_cast<double>(traffic_named(s, "train").delivered_bytes) - train) * 8 / 9e-3 / 100e9;
  };
  std::uint64_t cnps = 0;
  EXPECT_LT(shares(Scenario::ready("roce-mixed-priority"), cnps, true), 0.15) << "symptom: a small part of the link";
  EXPECT_GT(cnps, 100u) << "cause: who listens to marks is slowed down";
  // With a class of its own DWRR gives half of the link to each, DCQCN takes most of its half.
  EXPECT_GT(shares(Scenario::healed("roce-mixed-priority"), cnps, false), 0.4);
}

// ---- Incast that exhausts the headroom -----------------------------------------------------------------------------

TEST(RoceDeployment, AnIncastExhaustsHeadroomForShorterCables) {
  Scenario s = Scenario::ready("roce-incast-headroom");
  s.run_to_the_end();
  EXPECT_GT(s.drops(DropReason::kHeadroomFull), 1000u) << "symptom and cause: a lossless class loses";
  EXPECT_EQ(s.drops(DropReason::kHeadroomFull), s.dropped());
  EXPECT_TRUE(s.shows_its_diagnosis());
  EXPECT_GT(traffic_named(s, "incast").retransmitted, 1000u);
  for (const report::Verdict& v : s.report().verdicts())
    if (v.name == "lossless") {
      EXPECT_EQ(v.answer, report::Verdict::Answer::kFail);
    }

  Scenario pair = Scenario::ready("roce-incast-headroom", {"traffic.incast.fan-in=1"});
  pair.run_to_the_end();
  EXPECT_EQ(pair.dropped(), 0u) << "a pair passes";
  EXPECT_FALSE(pair.shows_its_diagnosis());

  Scenario fixed = Scenario::healed("roce-incast-headroom");
  fixed.run_to_the_end();
  EXPECT_EQ(fixed.dropped(), 0u);
  EXPECT_EQ(traffic_named(fixed, "incast").retransmitted, 0u);
  EXPECT_EQ(traffic_named(fixed, "incast").complete, 16u);
  EXPECT_FALSE(fixed.shows_its_diagnosis());
}

// ---- One drop ------------------------------------------------------------------------------------------------------

TEST(RoceDeployment, OneDropStallsGoBackNForAnAckTimeout) {
  Scenario s = Scenario::ready("roce-one-drop");
  s.run_to_the_end();
  const report::FlowReport f = flow_named(s, "t/h1->h2");
  EXPECT_EQ(f.lost, 1u);
  EXPECT_EQ(f.roce->local_ack_timeout_err, 1u) << "cause";
  EXPECT_TRUE(s.shows_its_diagnosis());
  // 4.096 us x 2^14 = 67.1 ms, and ten messages of 84 us.
  EXPECT_NEAR(static_cast<double>(*f.fct_ns), 67.1e6 + 0.85e6, 0.5e6) << "symptom";

  Scenario fixed = Scenario::healed("roce-one-drop");
  fixed.run_to_the_end();
  EXPECT_LT(*flow_named(fixed, "t/h1->h2").fct_ns, 1'300'000);
  EXPECT_FALSE(fixed.shows_its_diagnosis()) << "the packet is lost, and the wait is short";
}

TEST(RoceDeployment, OneDropInTheMiddleSendsEverythingBehindItAgainOrOnlyItself) {
  const auto again = [](const std::string& recovery) {
    Scenario s = Scenario::ready("roce-one-drop", {"faults.one.match.nth=300", "traffic.t.outstanding=8",
                                                   "hosts.default.roce.loss-recovery=" + recovery});
    s.run_to_the_end();
    const report::FlowReport f = flow_named(s, "t/h1->h2");
    EXPECT_EQ(f.lost, 1u);
    EXPECT_EQ(f.roce->local_ack_timeout_err, 0u);
    EXPECT_FALSE(s.shows_its_diagnosis());
    EXPECT_EQ(f.roce->verified, 10u);
    return f.roce->retransmitted_packets;
  };
  EXPECT_GT(again("go-back-n"), 5u);
  EXPECT_EQ(again("selective-repeat"), 1u);
}

// ---- A degraded link -----------------------------------------------------------------------------------------------

TEST(RoceDeployment, CrcErrorsHalveTheBandwidth) {
  Scenario s = Scenario::ready("roce-degraded-link");
  s.run_to_the_end();
  const report::FlowReport f = flow_named(s, "t/h1->h2");
  EXPECT_LT(*f.share(), 0.6) << "symptom";
  EXPECT_EQ(s.drops(DropReason::kFcsError), s.dropped()) << "cause";
  EXPECT_TRUE(s.shows_its_diagnosis());
  // A frame of 4096 + 62 octets, and of the first of each message 16 more, at 5e-7 per bit.
  const double hit = 1 - std::pow(1 - 5e-7, 8 * (4096 + 62));
  EXPECT_NEAR(static_cast<double>(f.lost) / static_cast<double>(f.packets), hit, hit * 0.15);

  Scenario fixed = Scenario::healed("roce-degraded-link");
  fixed.run_to_the_end();
  EXPECT_GT(*flow_named(fixed, "t/h1->h2").share(), 0.99);
  EXPECT_FALSE(fixed.shows_its_diagnosis());

  Scenario selective = Scenario::ready("roce-degraded-link", {"hosts.default.roce.loss-recovery=selective-repeat"});
  selective.run_to_the_end();
  EXPECT_GT(*flow_named(selective, "t/h1->h2").share(), *f.share() * 1.4);
}

}  // namespace
}  // namespace railyard::test
