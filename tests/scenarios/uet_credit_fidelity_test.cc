// Receiver credit against a public simulator: what uet-htsim (August 2025, commit 40ccb05) measures over
// fat_tree_128_1os.topo with `-receiver_cc_only` (rccc) and with `-sender_cc_algo nscc -receiver_cc` (both), 128 paths, 2 MB
// each; least and most of seeds 1 to 10 of permutations (of 4:1 1 to 15), 1 to 5 of incasts from hosts 1..n to 0. FCTs in us.
//
//                             rccc: mean        max               both: mean        max
//   permutation, oblivious    191.0 .. 193.0    203.2 .. 211.9    191.5 .. 194.1    206.8 .. 244.0
//   permutation, mixed        187.7 .. 189.0    195.4 .. 199.4    188.5 .. 189.2    198.8 .. 202.2
//   incast of 2               328.8             329.4             328.8             329.4
//   incast of 8               1300.9 .. 1304.2  1309.0 .. 1310.2  the same
//   incast of 32              5234.9 .. 5238.8  5257.8 .. 5261.5  5235.4 .. 5243.6  5261.5 .. 5264.8
//   incast of 100             16382 .. 16388    16445 .. 16448    16383 .. 16390    16449 .. 16451
//   4:1 above the pods        560.1 .. 566.8    741.8 .. 757.5    504.0 .. 508.1    760.2 .. 791.2
//   400 Gb/s, mixed           56.3 .. 56.8      60.7 .. 62.8      the same
//   400 Gb/s, incast of 32    1302.9 .. 1304.4  1319.0 .. 1319.2  the same
//   800 Gb/s, mixed           33.7 .. 34.1      36.5 .. 37.4      the same
//   800 Gb/s, incast of 32    650.9 .. 651.7    663.5             650.6 .. 651.5    663.4
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

std::string traffic(const std::string& what) {
  return "traffic=[{ name: t, transport: uet, path-mtu: 4086, message: 2MB, outstanding: 1, " + what + " }]";
}
std::string permutation() {
  return traffic("pattern: file, file: " RAILYARD_SOURCE_DIR "/tests/scenarios/permutation-128.cm, from: h*");
}
std::string incast(int n) {
  std::string from = "h2";
  for (int i = 3; i <= n + 1; ++i) from += fmt::format(", h{}", i);
  return traffic("pattern: incast, bytes: 2MB, to: h1, from: [" + from + "]");
}

// The queues and marks that the simulator derives from a rate.
std::vector<std::string> at_rate(int gbps) {
  struct Sizes {
    int queue, kmin, kmax;
    const char* rto;
  };
  const Sizes s = gbps == 400 ? Sizes{637'824, 126'720, 506'880, "90.198us"} : Sizes{1'250'304, 249'216, 996'864, "88.704us"};
  const std::string classes = "qos.default.classes.";
  return {fmt::format("defaults.link.rate={}Gbps", gbps), fmt::format("{}3.queue-limit={}B", classes, s.queue),
          fmt::format("{}5.queue-limit={}B", classes, 2 * s.queue), fmt::format("{}3.ecn.kmin={}B", classes, s.kmin),
          fmt::format("{}3.ecn.kmax={}B", classes, s.kmax), fmt::format("hosts.default.uet.rto={}", s.rto)};
}

struct Measured {
  double mean = 0, max = 0;  // us
  std::uint64_t requests = 0, retransmitted = 0, trimmed = 0, timeouts = 0;
};

Measured measured(const std::string& congestion, std::vector<std::string> sets) {
  sets.push_back("hosts.default.uet.congestion=" + congestion);
  Scenario s = Scenario::ready("fidelity-uet-credit", sets);
  s.run_to_the_end();
  s.expect_books_balance();
  const report::Report r = s.report();
  const report::TrafficReport& t = r.traffic.at(0);
  EXPECT_EQ(t.complete, r.flows.size());
  Measured m{.mean = t.fct_ns.mean / 1000, .max = static_cast<double>(t.fct_ns.max) / 1000};
  for (const report::UetNicReport& n : r.uet_nics) {
    m.requests += n.credit_requests_sent;
    m.retransmitted += n.retransmitted_packets;
    m.trimmed += n.trimmed();
    m.timeouts += n.retransmission_timeouts;
  }
  return m;
}

// Within three per cent of what the simulator's seeds gave, from the least to the most.
void expect(const char* what, const Measured& m, double least_mean, double most_mean, double least_max, double most_max) {
  EXPECT_GT(m.mean, least_mean * 0.97) << what;
  EXPECT_LT(m.mean, most_mean * 1.03) << what;
  EXPECT_GT(m.max, least_max * 0.97) << what;
  EXPECT_LT(m.max, most_max * 1.03) << what;
}

TEST(UetCreditFidelity, TheNetworkIsFoundInTheLab) {
  Scenario s = Scenario::ready("fidelity-uet-credit");
  const auto& nics = s.lab().uet_nics();
  ASSERT_EQ(nics.size(), 128u);
  const uet::EngineConfig& c = nics[0].endpoint->engine().config();
  ASSERT_TRUE(c.credit.has_value());
  EXPECT_NEAR(static_cast<double>(c.credit->base_rtt.ps), 14.0227e6, 0.01 * 14.0227e6);
  EXPECT_NEAR(static_cast<double>(c.credit->max_credit), 262'926, 0.01 * 262'926);
  EXPECT_EQ(c.grants.rate, 100_Gbps);
  EXPECT_EQ(c.grants.grant, 4u * 4086u);
}

TEST(UetCreditFidelity, APermutation) {
  for (const char* seed : {"run.seed=1", "run.seed=2"}) {
    expect("rccc", measured("rccc", {permutation(), seed}), 191.0, 193.0, 203.2, 211.9);
    expect("both", measured("both", {permutation(), seed}), 191.5, 194.1, 206.8, 244.0);
  }
  const std::string mixed = "hosts.default.uet.path-policy=mixed";
  expect("rccc, mixed", measured("rccc", {permutation(), mixed}), 187.7, 189.0, 195.4, 199.4);
  expect("both, mixed", measured("both", {permutation(), mixed}), 188.5, 189.2, 198.8, 202.2);
}

// The receiver's link is full, all senders end together, and hardly anything is cut after the first round trip.
TEST(UetCreditFidelity, Incasts) {
  for (const char* cc : {"rccc", "both"}) {
    expect("2", measured(cc, {incast(2)}), 328.8, 328.8, 329.4, 329.4);
    expect("8", measured(cc, {incast(8)}), 1300.9, 1304.2, 1309.0, 1310.2);
    const Measured of_32 = measured(cc, {incast(32)});
    expect("32", of_32, 5234.9, 5243.6, 5257.8, 5264.8);
    // Of the first round trip, when nobody has been granted anything. NICs here request several packets at a time, so that
    // a few more are on the way when the first answers come.
    EXPECT_LT(of_32.trimmed, 1.15 * 1277) << "it counts 1248 to 1277";
    expect("100", measured(cc, {incast(100)}), 16382.3, 16390.1, 16444.8, 16450.8);
  }
}

TEST(UetCreditFidelity, FourToOneAboveThePods) {
  const std::string narrow = "topology={ preset: fat-tree, pods: 8, leaves-per-pod: 4, spines-per-pod: 4, hosts-per-leaf: 4, cores-per-spine: 1 }";
  const std::string watched = "hosts.default.uet.rccc.oversubscription=4";  // as the simulator does of itself
  expect("rccc", measured("rccc", {permutation(), narrow, watched}), 560.1, 566.8, 741.8, 757.5);
  expect("both", measured("both", {permutation(), narrow}), 504.0, 508.1, 760.2, 791.2);
}

TEST(UetCreditFidelity, FourHundredAndEightHundredGigabits) {
  const auto with = [](int gbps, const std::string& what) {
    std::vector<std::string> sets = at_rate(gbps);
    sets.push_back(what);
    sets.push_back("hosts.default.uet.path-policy=mixed");
    return sets;
  };
  for (const char* cc : {"rccc", "both"}) {
    expect("400", measured(cc, with(400, permutation())), 56.3, 56.8, 60.7, 62.8);
    expect("400, incast", measured(cc, with(400, incast(32))), 1302.9, 1304.6, 1318.8, 1319.2);
    expect("800", measured(cc, with(800, permutation())), 33.7, 34.1, 36.5, 37.4);
    expect("800, incast", measured(cc, with(800, incast(32))), 650.6, 651.7, 663.4, 663.5);
  }
}

TEST(UetCreditFidelity, WorkersChangeNothing) {
  std::vector<std::uint64_t> digests;
  for (const std::size_t workers : {1uz, 2uz}) {
    EngineConfig config;
    config.workers = workers;
    Scenario s = Scenario::ready("fidelity-uet-credit", {incast(32), "run.workers=" + std::to_string(workers)}, config);
    s.run_to_the_end();
    digests.push_back(s.digest());
  }
  EXPECT_EQ(digests[0], digests[1]);
}

}  // namespace
}  // namespace railyard::test
