// What goes wrong with collectives and what shares their fabric, as topologies/scenarios/ has it: symptom, cause as
// counters show it, and that the fix which the file names heals it.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

report::CollectiveReport collective_named(const report::Report& r, const std::string& name) {
  for (const report::CollectiveReport& c : r.collectives)
    if (c.name == name) return c;
  throw std::out_of_range("no collective is called " + name);
}

std::uint64_t xoffs_at(const report::Report& r, const std::string& prefix) {
  std::uint64_t n = 0;
  for (const report::PortReport& p : r.ports)
    if (p.is_switch && p.node.starts_with(prefix))
      for (const ClassCounters& c : p.counters.classes) n += c.xoff_sent;
  return n;
}

// ---- A pair passes, 32 do not --------------------------------------------------------------------------------------

TEST(CollectiveDeployment, APairPassesWhereAnAllReduceOf32Collapses) {
  Scenario s = Scenario::ready("roce-pair-passes");
  s.run_to_the_end();
  s.expect_books_balance();
  const report::Report r = s.report();
  const report::CollectiveReport pair = collective_named(r, "pair");
  EXPECT_GT(pair.share_of_limit(), 0.98) << "a pair passes";
  EXPECT_EQ(pair.retransmitted_packets, 0u);
  const report::CollectiveReport all = collective_named(r, "all");
  EXPECT_LT(all.share_of_limit(), 0.02) << "symptom";
  EXPECT_GT(*all.max_ns, 67'000'000) << "somebody waited for an ACK timeout of 4.096 us x 2^14";
  EXPECT_TRUE(all.verified) << "slow, and right";
  EXPECT_GT(all.local_ack_timeout_err, 0u) << "cause";
  EXPECT_GT(s.drops(DropReason::kEgressFull), 1000u);
  EXPECT_EQ(xoffs_at(r, "spine"), 0u) << "the spines pause nobody";
  EXPECT_TRUE(s.shows_its_diagnosis());

  Scenario fixed = Scenario::healed("roce-pair-passes");
  fixed.run_to_the_end();
  EXPECT_EQ(fixed.dropped(), 0u);
  EXPECT_FALSE(fixed.shows_its_diagnosis());
  EXPECT_GT(xoffs_at(fixed.report(), "spine"), 0u);
  const report::CollectiveReport after = collective_named(fixed.report(), "all");
  EXPECT_EQ(after.retransmitted_packets, 0u);
  EXPECT_LT(*after.max_ns, *all.max_ns / 20);
}

TEST(CollectiveDeployment, WithShortTimeoutsItStandsStillAndSaysWhere) {
  Scenario s = Scenario::ready("roce-pair-passes",
                               {"hosts.default.roce.ack-timeout=4", "switches.spine.buffer=4MiB"});
  s.run_to_the_end();
  EXPECT_TRUE(collective_named(s.report(), "pair").verified);
  const report::CollectiveReport all = collective_named(s.report(), "all");
  EXPECT_FALSE(all.completed);
  EXPECT_NE(all.stalled.find("RETRY_EXC_ERR"), std::string::npos) << all.stalled;
}

// ---- Polarisation of elephants -------------------------------------------------------------------------------------

// Jain's index of what a switch made of its uplinks.
double jain_at(const report::Report& r, const std::string& name) {
  for (const report::PathGroupReport& g : r.path_groups)
    if (g.node == name) return g.jain_index();
  throw std::out_of_range("no equal paths at " + name);
}

TEST(CollectiveDeployment, ElephantsThroughTiersThatHashAlikeUseHalfOfThem) {
  for (const int seed : {1, 2, 3}) {
    const auto run = [&](const std::string& set, bool shows) {
      Scenario s = Scenario::ready("roce-polarisation", {"run.seed=" + std::to_string(seed), set});
      s.run_to_the_end();
      EXPECT_EQ(s.shows_its_diagnosis(), shows) << set;
      EXPECT_EQ(s.dropped(), 0u);
      return s.report();
    };
    const report::Report alike = run("switches.default.ecmp.seed=7", true);
    const double polarised = alike.traffic.at(0).fct_ns.max;
    EXPECT_GT(alike.traffic.at(0).slowdown.max, 1.9) << "symptom: half of the link";
    EXPECT_NEAR(jain_at(alike, "a1"), 0.5, 0.001) << "cause: one of two";
    EXPECT_NEAR(jain_at(alike, "a2"), 0.5, 0.001);
    EXPECT_GT(jain_at(alike, "leaf1"), 0.9) << "the first tier does what it should";

    const report::Report seeds = run("switches.default.ecmp={ fields: [addresses, ports, destination-qp] }", false);
    EXPECT_LT(seeds.traffic.at(0).fct_ns.max, 0.7 * polarised);
    EXPECT_GT(jain_at(seeds, "a1"), 0.9);
    const report::Report adaptive = run(fix_of("roce-polarisation"), false);
    EXPECT_LT(adaptive.traffic.at(0).fct_ns.max, 0.52 * polarised);
    EXPECT_LT(adaptive.traffic.at(0).slowdown.max, 1.02) << "all that is there";
  }
}

// ---- A storage burst -----------------------------------------------------------------------------------------------

TEST(CollectiveDeployment, AStorageBurstLeavesTrainingAloneFromAClassOfItsOwn) {
  const auto run = [](const std::string& set, bool shows) {
    Scenario s = Scenario::ready("storage-burst", {set});
    s.run_to_the_end();
    EXPECT_EQ(s.shows_its_diagnosis(), shows) << set;
    EXPECT_EQ(s.dropped(), 0u);
    return s.report();
  };
  const double calm = static_cast<double>(*collective_named(run("traffic.storage=", false), "train").p99_ns);
  const report::Report mixed = run("traffic.storage.dscp=26", true);
  const report::CollectiveReport disturbed = collective_named(mixed, "train");
  EXPECT_TRUE(disturbed.verified);
  EXPECT_GT(static_cast<double>(*disturbed.p99_ns), 1.10 * calm) << "symptom";
  for (const report::PortReport& p : mixed.ports)
    if (p.node == "leaf1" && p.port == 1) {
      EXPECT_GT(p.counters.classes[3].ecn_marked, 1000u) << "cause: one queue";
    }

  const report::Report apart = run(fix_of("storage-burst"), false);
  const report::CollectiveReport alone = collective_named(apart, "train");
  EXPECT_LE(static_cast<double>(*alone.p99_ns), 1.10 * calm);
  EXPECT_LT(alone.job->utilisation, 1);
  EXPECT_GT(alone.job->utilisation, disturbed.job->utilisation);
  for (const report::PortReport& p : apart.ports)
    if (p.node == "leaf1" && p.port == 1) {
      EXPECT_EQ(p.counters.classes[3].ecn_marked, 0u);
      EXPECT_GT(p.counters.classes[4].ecn_marked, 1000u);
    }
  for (const report::TrafficReport& t : apart.traffic)
    if (t.name == "storage") {
      EXPECT_EQ(t.complete, t.flows);
    }
}

}  // namespace
}  // namespace railyard::test
