// Ranks that share a host: what they exchange over its scale-up network, and what still takes the fabric.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "control/report/verdict.h"
#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

// `hosts` hosts with four NICs on four rails, one leaf each, under two spines.
std::string rails(int hosts, const std::string& keys, const std::string& scale_up = "{ rate: 3600Gbps }") {
  return "name: rails\ntopology: { preset: rail-optimized, hosts: " + std::to_string(hosts) +
         ", rails: 4, spines: 2 }\nhosts: { default: { scale-up: " + scale_up +
         " } }\ncollectives:\n  - { name: c, " + keys + " }\n";
}

report::Report run_right(const std::string& lab, const std::vector<std::string>& sets = {}) {
  Scenario s(lab, sets);
  s.run_to_the_end();
  s.expect_books_balance();
  report::Report r = s.report();
  for (const report::CollectiveReport& c : r.collectives) {
    EXPECT_TRUE(c.completed) << c.name << ": " << c.stalled;
    EXPECT_TRUE(c.verified) << c.name << ": " << c.wrong;
  }
  return r;
}

// Octets that switches sent to other switches.
std::uint64_t between_switches(const report::Report& r) {
  std::uint64_t octets = 0;
  for (const report::PortReport& p : r.ports)
    if (p.is_switch && (p.node.starts_with("spine") || p.peer.starts_with("spine")))
      for (const ClassCounters& c : p.counters.classes) octets += c.tx_octets;
  return octets;
}

TEST(ScaleUp, RanksOfOneHostNeedNoNic) {
  for (const char* payload : {"run.payload=elided", "run.payload=real"}) {
    const report::Report r = run_right(rails(1, "size: 64KiB, chunk: 8KiB, repeats: 3"), {payload});
    const report::CollectiveReport& c = r.collectives.at(0);
    EXPECT_EQ(c.fabric_bytes, 0u);
    EXPECT_EQ(c.packets, 0u);
    ASSERT_TRUE(c.scale_up.has_value());
    EXPECT_EQ(c.scale_up->bytes, 3u * 4 * 2 * 3 * 64 * 1024 / 4);
    for (const report::PortReport& p : r.ports)
      for (const ClassCounters& k : p.counters.classes) EXPECT_EQ(k.tx_packets, 0u) << p.node;
  }
}

// Two ranks: each sends the other half of its data twice. Rate and latency are what was said.
TEST(ScaleUp, APipeTakesItsLatencyAndItsOctetsTime) {
  const report::Report r = run_right(
      rails(1, "size: 1MiB, chunk: 512KiB, ranks: [\"h1:1\", \"h1:2\"]", "{ rate: 400Gbps, latency: 2us }"));
  const double octets = 2 * 512 * 1024 * 8 / 400e9 * 1e9;
  EXPECT_NEAR(static_cast<double>(*r.collectives[0].median_ns), octets + 2 * 2000, 1);
  EXPECT_EQ(r.collectives[0].scale_up->latency_ns.max, 2000u);
  EXPECT_NEAR(static_cast<double>(r.collectives[0].scale_up->busy_ns), octets, 1);
  EXPECT_NEAR(r.collectives[0].limit_bps, 400e9, 1) << "all of a rank's data in each direction, no framing";
}

TEST(ScaleUp, EveryOperationOverHostsAndRails) {
  for (const char* payload : {"run.payload=elided", "run.payload=real"})
    for (const char* pxn : {"collectives.c.pxn=false", "collectives.c.pxn=true"})
      for (const char* keys :
           {"channels: 4", "collective: all-reduce, algorithm: tree, channels: 2",
            "collective: all-reduce, algorithm: halving-doubling", "collective: all-reduce, algorithm: hierarchical-ring",
            "collective: reduce-scatter, channels: 2", "collective: reduce-scatter, algorithm: halving",
            "collective: all-gather, channels: 3", "collective: all-gather, algorithm: doubling",
            "collective: broadcast, root: 5", "collective: all-to-all", "forward: 10us, backward: 20us, buckets: 3"}) {
        SCOPED_TRACE(std::string(payload) + " " + pxn + " " + keys);
        const report::Report r =
            run_right(rails(4, std::string("size: 192KiB, chunk: 4KiB, repeats: 3, ") + keys), {payload, pxn});
        EXPECT_GT(r.collectives.at(0).scale_up->bytes, 0u);
        const report::CollectiveReport& c = r.collectives.at(0);
        EXPECT_GT(c.fabric_bytes, 0u);
        EXPECT_GT(c.limit_bps, 0);
        EXPECT_LE(c.busbw_bps, c.limit_bps) << "no busier than the busiest NIC can be";
      }
}

// A ring through four hosts of four: three of four hops stay in their host, and each channel leaves by another rail.
TEST(ScaleUp, RingsLeaveTheirHostsByAllRails) {
  const std::string ring = "size: 16MiB, chunk: 8KiB, channels: ";
  const report::CollectiveReport one = run_right(rails(4, ring + "1")).collectives.at(0);
  const report::CollectiveReport four = run_right(rails(4, ring + "4")).collectives.at(0);
  EXPECT_EQ(one.fabric_bytes * 3, one.scale_up->bytes);
  EXPECT_EQ(four.fabric_bytes, one.fabric_bytes);
  EXPECT_GT(four.busbw_bps, 3.5 * one.busbw_bps) << "four NICs in the place of one";
  // A NIC carries a quarter of what its rank sends; one channel's all of it.
  EXPECT_NEAR(four.limit_bps, 4 * one.limit_bps, 1e-6 * four.limit_bps);
  EXPECT_LT(four.share_of_limit(), 1);
  EXPECT_GT(four.share_of_limit(), 0.85);
  const report::CollectiveReport out = run_right(rails(4, ring + "4", "off")).collectives.at(0);
  EXPECT_FALSE(out.scale_up.has_value());
  EXPECT_EQ(out.fabric_bytes, four.fabric_bytes + four.scale_up->bytes);
  EXPECT_LT(out.busbw_bps, out.limit_bps);
}

// As published for NCCL: trees are quicker with small data, and rings have at least their bandwidth with large ones. How
// many channels there are does not change that.
TEST(ScaleUp, RingsAndTreesRankAsPublished) {
  const auto busbw = [](const std::string& keys) {
    return run_right(rails(4, keys)).collectives.at(0).busbw_bps;
  };
  EXPECT_GT(busbw("size: 64KiB, algorithm: tree"), busbw("size: 64KiB, algorithm: ring"));
  const double tree = busbw("size: 64MiB, algorithm: tree");
  EXPECT_GT(busbw("size: 64MiB, algorithm: ring"), tree);
  EXPECT_GT(busbw("size: 64MiB, algorithm: tree, channels: 4"), 0.95 * tree);
}

TEST(ScaleUp, HierarchicalBeginsWithinHosts) {
  const report::CollectiveReport c =
      run_right(rails(4, "size: 4MiB, chunk: 64KiB, algorithm: hierarchical-ring")).collectives.at(0);
  // In each host a reduce-scatter and an all-gather of 3/4 each; across, of a quarter of the data, 2 x 3/4.
  EXPECT_EQ(c.scale_up->bytes, 16u * 2 * 3 * (4u << 20) / 4);
  EXPECT_EQ(c.fabric_bytes, 16u * 2 * 3 * (1u << 20) / 4);
}

// Everything that is for another rail goes along it, from the GPU that is on it.
TEST(ScaleUp, PxnSparesTheSpines) {
  Scenario s = Scenario::ready("pxn");
  s.run_until(5_ms);
  const std::uint64_t by_spines = between_switches(s.report());
  EXPECT_GT(by_spines, 16u * 3 * 3 * (4u << 20) / 16) << "three hosts, and three rails of each";
  s.run_to_the_end();
  s.expect_books_balance();
  const report::Report r = s.report();
  EXPECT_EQ(between_switches(r), by_spines) << "nothing of pxn";
  const report::CollectiveReport& direct = r.collectives.at(0);
  const report::CollectiveReport& pxn = r.collectives.at(1);
  EXPECT_TRUE(direct.verified && pxn.verified);
  EXPECT_EQ(direct.fabric_bytes, pxn.fabric_bytes);
  EXPECT_EQ(direct.scale_up->bytes, 16u * 3 * (4u << 20) / 16);
  EXPECT_EQ(pxn.scale_up->bytes, direct.scale_up->bytes + 16u * 3 * 3 * (4u << 20) / 16);
  EXPECT_LT(static_cast<double>(*pxn.median_ns), 0.5 * static_cast<double>(*direct.median_ns));
}

TEST(ScaleUp, ItsLatencyIsHeldAgainstABudget) {
  const auto verdict = [](const std::vector<std::string>& sets) {
    for (const report::Verdict& v : run_right(rails(2, "size: 64KiB, chunk: 4KiB"), sets).verdicts())
      if (v.name == "scale-up-latency") return v.answer;
    return report::Verdict::Answer::kOpen;
  };
  EXPECT_EQ(verdict({}), report::Verdict::Answer::kOpen) << "there is none";
  EXPECT_EQ(verdict({"run.budgets.scale-up=1us"}), report::Verdict::Answer::kPass);
  EXPECT_EQ(verdict({"hosts.default.scale-up.latency=1100ns", "run.budgets.scale-up=1us"}),
            report::Verdict::Answer::kFail);
  EXPECT_EQ(verdict({"hosts.default.scale-up.latency=1100ns", "run.budgets.scale-up=2us"}),
            report::Verdict::Answer::kPass);
  EXPECT_EQ(verdict({"hosts.default.scale-up=off", "run.budgets.scale-up=1us"}), report::Verdict::Answer::kOpen);
}

TEST(ScaleUp, LossInTheFabricCostsNoData) {
  for (const char* payload : {"run.payload=elided", "run.payload=real"}) {
    const report::Report r = run_right(
        rails(4, "collective: all-to-all, pxn: true, size: 512KiB, chunk: 8KiB, repeats: 4"),
        {payload, "hosts.default.roce.ack-timeout=4", "faults=[{ name: lossy, on: leaf-r2, loss: 1% }]"});
    EXPECT_GT(r.collectives.at(0).retransmitted_packets, 5u);
  }
}

// Two jobs over the same hosts, flows and frames beside them: NICs that do what is due together.
std::uint64_t digest_in_hosts(std::size_t workers) {
  EngineConfig config;
  config.workers = workers;
  config.digest = true;
  Scenario s(R"(
name: everything
topology: { preset: rail-optimized, hosts: 4, rails: 4, spines: 2 }
hosts: { default: { scale-up: { rate: 800Gbps, latency: 300ns }, roce: { ack-timeout: 5, ack-every: 16 } } }
collectives:
  - { name: sum, size: 1MiB, chunk: 32KiB, channels: 4, repeats: 3, reduce-rate: 400Gbps }
  - { name: swap, collective: all-to-all, pxn: true, size: 512KiB, repeats: 3, gap: 3us }
traffic:
  - { name: messages, from: "h1:1", to: "h2:1", transport: roce, bytes: 4MB }
  - { name: frames, from: "h3:2", to: "h1:2", bytes: 1MiB }
faults:
  - { name: lossy, on: spine1:2, loss: 0.1% }
)",
             {}, config);
  s.run_collectives();
  return s.digest();
}

TEST(ScaleUp, OneResultOnAnyNumberOfWorkers) {
  const std::uint64_t one = digest_in_hosts(1);
  for (std::size_t workers = 2; workers <= 4; ++workers) EXPECT_EQ(digest_in_hosts(workers), one) << workers;
}

// ---- Stragglers ----------------------------------------------------------------------------------------------------

TEST(Stragglers, OneSlowRankHoldsBackItsJobAndNoOther) {
  Scenario s = Scenario::ready("slow-rank");
  s.run_to_the_end();
  const std::vector<report::CollectiveReport> c = s.report().collectives;
  ASSERT_EQ(c.size(), 2u);
  EXPECT_GT(c[0].job->utilisation, 0.9);
  EXPECT_FALSE(c[0].job->straggler.has_value());
  ASSERT_TRUE(c[1].job->straggler.has_value());
  EXPECT_EQ(c[1].job->straggler->rank, "rank 3 (h12)");
  EXPECT_NEAR(c[1].job->straggler->factor, 1.5, 0.001);
  EXPECT_GT(*c[1].median_ns, *c[0].median_ns + 1'900'000) << "half of 4 ms";
  // Seven ranks of eight wait for a third of the time.
  EXPECT_NEAR(c[1].job->utilisation, (7 * 4 + 6) / (8 * static_cast<double>(*c[1].median_ns) / 1e6), 0.01);
  EXPECT_NEAR(*c[1].job->idle_cost_per_hour, (1 - c[1].job->utilisation) * 8 * 2.5, 1e-9);
  EXPECT_EQ(s.dropped(), 0u);
  EXPECT_NE(s.report().text().find("straggler rank 3 (h12): 1.50 times"), std::string::npos);

  Scenario fixed = Scenario::ready("slow-rank", {"collectives.straggling.stragglers=[]"});
  fixed.run_to_the_end();
  EXPECT_NEAR(fixed.report().collectives[1].job->utilisation, c[0].job->utilisation, 0.005);
}

}  // namespace
}  // namespace railyard::test
