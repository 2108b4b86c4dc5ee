// Against a public simulator: what uet-htsim (August 2025, commit 40ccb05) measures in the set-ups of topologies/
// scenarios/fidelity-uet*.yaml, least and most of seeds 1 to 10, five per cent wider. Here over two tiers: permutation
// of 128 hosts over 8 leaves and 16 spines, 2 MB each, oblivious spraying over 64 paths.
//
//   FCT in us       mean            p50             p99             max             trims       CE marks
//                   180.1 .. 182.3  179.8 .. 182.4  194.9 .. 209.5  195.0 .. 241.1  152 .. 353  5831 .. 7598
//     as published  183.7 .. 187.1  185.0 .. 188.1  194.3 .. 201.9  196.7 .. 217.3  160 .. 401  7811 .. 9718
//
// What is published for one flow and for the incast is what the simulator gives, to the last digit. What is published
// for permutations is not what it gives for the permutation that is published with them, permutation-128.cm: that one
// keeps 20 of 128 flows within a leaf of 16 hosts; with one that keeps 11 the simulator gives the published figures
// nearly (mean 184.7 .. 187.5, 8124 .. 9516 marks), with one that keeps 2 it marks 14,000. So permutations are held
// against the simulator itself, with that file, and against what is published where that is possible at all:
//
//   htsim_uec -tm permutation-128.cm -sender_cc_only -load_balancing_algo oblivious -paths 64 -seed 1 -topo FILE
//
// where FILE has two tiers of 100 Gb/s and 1 us, Podsize 128, Radix_Down 16 and 8, Radix_Up 16; or is its own
// fat_tree_128_1os.topo, with -paths 128.
//
// A packet that is marked twice counts once. There it counts if it is trimmed later, too, here not: 2 in 1,000 of the
// marks of a permutation, 6 in 100 of the incast's.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

TEST(UetFidelity, TheNetworkIsFoundInTheLab) {
  Scenario s = Scenario::ready("fidelity-uet");
  const auto& nics = s.lab().uet_nics();
  ASSERT_EQ(nics.size(), 128u);
  const auto& c = std::get<uet::NsccConfig>(nics[0].endpoint->engine().config().congestion);
  // The simulator's figures.
  EXPECT_NEAR(static_cast<double>(c.base_rtt.ps), 9.3485e6, 0.01 * 9.3485e6);
  EXPECT_NEAR(static_cast<double>(c.target.ps), 7.011e6, 0.01 * 7.011e6);
  EXPECT_NEAR(c.max_wnd_bdps * static_cast<double>((c.rate * c.base_rtt).n), 1.5 * 116856, 0.01 * 1.5 * 116856);
}

TEST(UetFidelity, OneFlowTakesItsTimeOnTheWireAndOneRoundTrip) {
  Scenario s = Scenario::ready("fidelity-uet", {"traffic.permutation.pattern=pairs", "traffic.permutation.from=h1",
                                                "traffic.permutation.to=h128"});
  s.run_to_the_end();
  const report::Report r = s.report();
  ASSERT_TRUE(r.flows[0].fct_ns.has_value());
  // 490 packets and 64 octets around each; 8 us there and back; the last full one is stored three times (the short one
  // behind it, which has another way, is there before it), and so is the ACK of 94 octets, 52 on the wire.
  constexpr double kOctet = 0.08;
  const double wire = (2e6 + 490 * 64) * kOctet;
  const double short_one = (2e6 - 489 * 4086 + 64) * kOctet;
  const double expected = wire - short_one + 8000 + (3 * (4086 + 64) + 4 * 52) * kOctet;
  EXPECT_NEAR(static_cast<double>(*r.flows[0].fct_ns), expected, 0.002 * wire);
  // The simulator's way of counting: 490 packets of 64 more; 8 x 1 us, 3 stores of 4150, 4 of 64.
  const double theirs = (2e6 + 490 * 64) * 0.08 + 8000 + 3 * 4150 * 0.08 + 4 * 64 * 0.08;
  EXPECT_NEAR(static_cast<double>(*r.flows[0].fct_ns), theirs, 0.005 * theirs);
  EXPECT_EQ(r.flows[0].trimmed + r.flows[0].uet->retransmitted_packets, 0u);
}

// ---- Over three tiers: topologies/scenarios/fidelity-uet-fat-tree.yaml
// -----------------------------------------------
//
//   FCT in us          mean            p50             p99             max             trims       CE marks
//   one flow           176.2
//   oblivious          190.4 .. 192.9  191.3 .. 195.0  205.6 .. 222.6  205.9 .. 240.3    7 .. 128  6689 .. 9282
//     as published     194.6 .. 196.6  193.7 .. 196.3  206.4 .. 225.2  206.4 .. 232.2   12 .. 76   7534 .. 9808
//   mixed              187.1 .. 188.0  188.1 .. 190.1  197.6 .. 200.0  197.6 .. 202.5    0         4145 .. 5268
//     as published     190.4 .. 191.4  190.6 .. 191.5  196.2 .. 199.3  196.3 .. 199.6    0 .. 1    4245 .. 5135
//   incast of 8        1201 .. 1268    1183 .. 1279    1319 .. 1366    1319 .. 1366    419 .. 429  3409 .. 3664

struct Band {
  double least;
  double most;
};
void expect_in(const char* what, double measured_ns, Band us) {
  EXPECT_GT(measured_ns, us.least * 1000 * 0.95) << what;
  EXPECT_LT(measured_ns, us.most * 1000 * 1.05) << what;
}
void expect_fct(const report::TrafficReport& t, Band mean, Band p50, Band p99, Band max) {
  expect_in("mean", t.fct_ns.mean, mean);
  expect_in("p50", static_cast<double>(t.fct_ns.p50), p50);
  expect_in("p99", static_cast<double>(t.fct_ns.p99), p99);
  expect_in("max", static_cast<double>(t.fct_ns.max), max);
}

struct Counted {
  std::uint64_t trims = 0, marks = 0, again = 0, timeouts = 0;
};
Counted counted(const report::Report& r) {
  Counted s;
  for (const report::UetNicReport& n : r.uet_nics) {
    s.trims += n.trimmed();
    s.marks += n.ecn_marked_packets;
    s.again += n.retransmitted_packets;
    s.timeouts += n.retransmission_timeouts;
  }
  return s;
}

void expect_counts(const Counted& s, Band trims, Band marks) {
  EXPECT_GE(static_cast<double>(s.trims), trims.least * 0.95);
  EXPECT_LE(static_cast<double>(s.trims), trims.most * 1.05);
  EXPECT_GE(static_cast<double>(s.marks), marks.least * 0.95);
  EXPECT_LE(static_cast<double>(s.marks), marks.most * 1.05);
}

std::string traffic(const std::string& what) {
  return "traffic=[{ name: t, transport: uet, path-mtu: 4086, message: 2MB, bytes: 2MB, outstanding: 1, " + what +
         " }]";
}

TEST(UetFidelityThreeTiers, OneFlowTakesWhatItTookThere) {
  Scenario s = Scenario::ready("fidelity-uet-fat-tree", {traffic("from: h128, to: h1")});
  s.run_to_the_end();
  const report::Report r = s.report();
  ASSERT_TRUE(r.flows[0].fct_ns.has_value());
  EXPECT_NEAR(static_cast<double>(*r.flows[0].fct_ns), 176'200, 0.01 * 176'200);
  EXPECT_EQ(r.flows[0].packets, 490u);
  EXPECT_EQ(counted(r).again + counted(r).trims + counted(r).marks, 0u);
}

// The published permutation, with as many seeds as are worth their time: what they draw is the order in which entropy
// values are used, how switches hash them, which packets are marked, and which of two are trimmed.
constexpr const char* kSeeds[] = {"1", "2", "3", "4", "5"};

struct Figures {
  std::vector<double> mean, p50, p99, max, trims, marks;
};
Figures permutations(const std::string& lab, std::vector<std::string> overrides) {
  overrides.push_back(
      "traffic=[{ name: permutation, pattern: file, file: " RAILYARD_SOURCE_DIR
      "/tests/scenarios/permutation-128.cm, from: h*, transport: uet, path-mtu: 4086, message: 2MB, outstanding: 1 }]");
  Figures all;
  for (const char* seed : kSeeds) {
    std::vector<std::string> with_seed = overrides;
    with_seed.push_back(std::string("run.seed=") + seed);
    Scenario s = Scenario::ready(lab, with_seed);
    s.run_to_the_end();
    const report::Report r = s.report();
    const report::TrafficReport& t = r.traffic.at(0);
    EXPECT_EQ(t.complete, 128u);
    const Counted n = counted(r);
    EXPECT_EQ(n.again, n.trims) << "nothing is sent again but for its trimming";
    EXPECT_EQ(n.timeouts, 0u);
    EXPECT_EQ(s.dropped(), 0u);
    all.mean.push_back(t.fct_ns.mean / 1000);
    all.p50.push_back(static_cast<double>(t.fct_ns.p50) / 1000);
    all.p99.push_back(static_cast<double>(t.fct_ns.p99) / 1000);
    all.max.push_back(static_cast<double>(t.fct_ns.max) / 1000);
    all.trims.push_back(static_cast<double>(n.trims));
    all.marks.push_back(static_cast<double>(n.marks));
  }
  return all;
}

void expect_median(const char* what, std::vector<double> measured, Band band) {
  std::ranges::sort(measured);
  const double median = measured[measured.size() / 2];
  EXPECT_GE(median, band.least * 0.95) << what;
  EXPECT_LE(median, band.most * 1.05) << what;
}

struct Bands {
  Band mean, p50, p99, max, trims, marks;
};
void expect_medians(const Figures& f, const Bands& b) {
  expect_median("mean", f.mean, b.mean);
  expect_median("p50", f.p50, b.p50);
  expect_median("p99", f.p99, b.p99);
  expect_median("max", f.max, b.max);
  expect_median("trims", f.trims, b.trims);
  expect_median("marks", f.marks, b.marks);
}

TEST(UetFidelityThreeTiers, APermutationOverAllPathsInTurn) {
  {
    Scenario s = Scenario::ready("fidelity-uet-fat-tree");
    const auto& nics = s.lab().uet_nics();
    ASSERT_EQ(nics.size(), 128u);
    const auto& c = std::get<uet::NsccConfig>(nics[0].endpoint->engine().config().congestion);
    EXPECT_NEAR(static_cast<double>(c.base_rtt.ps), 14.0227e6, 0.01 * 14.0227e6);
  }
  const Figures f = permutations("fidelity-uet-fat-tree", {});
  expect_medians(f, {{190.4, 192.9}, {191.3, 195.0}, {205.6, 222.6}, {205.9, 240.3}, {7, 128}, {6689, 9282}});
  // As published.
  expect_medians(f, {{194.6, 196.6}, {193.7, 196.3}, {206.4, 225.2}, {206.4, 232.2}, {12, 76}, {7534, 9808}});
}

TEST(UetFidelityThreeTiers, APermutationOverPathsThatWereGood) {
  const Figures f = permutations("fidelity-uet-fat-tree", {"hosts.default.uet.path-policy=mixed"});
  expect_medians(f, {{187.1, 188.0}, {188.1, 190.1}, {197.6, 200.0}, {197.6, 202.5}, {0, 0}, {4145, 5268}});
  // As published.
  expect_medians(f, {{190.4, 191.4}, {190.6, 191.5}, {196.2, 199.3}, {196.3, 199.6}, {0, 1}, {4245, 5135}});
}

// Senders 127, 112, 97, .. of 0..127, to 0.
TEST(UetFidelityThreeTiers, AnIncastOfEight) {
  Scenario s = Scenario::ready("fidelity-uet-fat-tree",
                               {"hosts.default.uet.path-policy=mixed",
                                traffic("pattern: incast, from: [h128, h113, h98, h83, h68, h53, h38, h23], to: h1")});
  s.run_to_the_end();
  const report::Report r = s.report();
  ASSERT_EQ(r.traffic.at(0).complete, 8u);
  expect_fct(r.traffic[0], {1201, 1268}, {1183, 1279}, {1319, 1366}, {1319, 1366});
  expect_counts(counted(r), {419, 429}, {3409, 3664});
  EXPECT_EQ(counted(r).again, counted(r).trims);
}

// 171.1 us a step, 5137.3 us in all. There a step begins at the ACK of the one before it, here at its data.
TEST(UetFidelityThreeTiers, ARingOfSixteen) {
  Scenario s = Scenario::ready("fidelity-uet-ring");
  s.run_to_the_end();
  const report::Report r = s.report();
  ASSERT_EQ(r.collectives.size(), 1u);
  EXPECT_TRUE(r.collectives[0].verified);
  ASSERT_TRUE(r.collectives[0].max_ns.has_value());
  expect_in("makespan", static_cast<double>(*r.collectives[0].max_ns), {5137.3, 5137.3});
  // Each step's message, until it is acknowledged.
  const report::CollectiveReport::Messages& m = r.collectives[0].messages;
  EXPECT_EQ(m.count, 16 * 30u);
  expect_in("mean of a step", m.mean_ns, {171.1, 171.1});
  expect_in("p50 of a step", static_cast<double>(m.ns.p50), {167.8, 167.8});
  expect_in("p99 of a step", static_cast<double>(m.ns.p99), {177.7, 177.7});
  EXPECT_EQ(counted(r).again + counted(r).trims, 0u);
}

// ---- Over two tiers -------------------------------------------------------------------------------------------------

// The coins of trimming and marking are the switches' own.
TEST(UetFidelity, WorkersChangeNothing) {
  std::vector<std::uint64_t> digests;
  for (const std::size_t workers : {1uz, 2uz, 4uz}) {
    EngineConfig config;
    config.workers = workers;
    Scenario s = Scenario::ready("fidelity-uet", {"run.workers=" + std::to_string(workers)}, config);
    s.run_to_the_end();
    EXPECT_GT(counted(s.report()).trims, 50u);
    digests.push_back(s.digest());
  }
  EXPECT_EQ(digests[0], digests[1]);
  EXPECT_EQ(digests[0], digests[2]);
}

TEST(UetFidelity, APermutationLandsInTheBand) {
  const Figures f = permutations("fidelity-uet", {});
  expect_medians(f, {{180.1, 182.3}, {179.8, 182.4}, {194.9, 209.5}, {195.0, 241.1}, {152, 353}, {5831, 7598}});
  // As published, but for the marks: 7811 .. 9718 (above).
  expect_medians(f, {{183.7, 187.1}, {185.0, 188.1}, {194.3, 201.9}, {196.7, 217.3}, {160, 401}, {5831, 7598}});
}

}  // namespace
}  // namespace railyard::test
