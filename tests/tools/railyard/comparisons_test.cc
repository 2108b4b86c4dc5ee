// The comparisons that we ship (topologies/comparisons), each on one of the points that it is made over.
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/tools/railyard/command_line.h"

namespace railyard::tools {
namespace {

class Comparisons : public CommandLine {
 protected:
  // The medians of a figure, by column.
  using Figures = nlohmann::json;
  Figures compare(const std::string& file, std::vector<std::string> more = {}) {
    return compare_all(file, std::move(more))["blocks"][0]["figures"];
  }
  // All of it, with every block.
  nlohmann::json compare_all(const std::string& file, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"compare-transports", topology(file), "--json"});
    const Outcome o = railyard(more);
    EXPECT_EQ(o.exit_code, kOk) << o.err << o.out;
    return nlohmann::json::parse(o.out);
  }
  static double of(const Figures& f, const char* metric, std::size_t column) {
    return f[metric][column]["median"].get<double>();
  }
};

// What is sprayed over eight spines sustains the link; what takes one path, as much as the worst collision leaves.
TEST_F(Comparisons, TheHighestRateOfEveryServiceIsFoundOnTheSameSwitches) {
  const Figures f = compare("comparisons/t6-1-throughput.yaml",
                            {"--over", "traffic.pairs.message=1MB", "--set", "traffic.pairs.bytes=4MB", "--search",
                             "traffic.pairs.rate=10Gbps..100Gbps", "--resolution", "10%", "--until",
                             "drops=0 and lost=0 and trimmed=0 and retransmitted=0 and accepted>=0.98"});
  enum { kGoBackN, kSelective, kUc, kRud, kRod, kRudi, kUud };
  const char* const rate = "traffic.pairs.rate";
  for (const std::size_t c : {kGoBackN, kSelective, kUc, kRud, kRod, kRudi, kUud}) {
    EXPECT_GE(of(f, rate, c), 10e9) << c;
    EXPECT_GE(of(f, "accepted", c), 0.98) << c;
    EXPECT_GT(of(f, "goodput", c), 8 * 0.9 * of(f, rate, c)) << c << ": eight pairs, and headers";
    EXPECT_EQ(of(f, "xoff_sent", c), 0) << c;
  }
  for (const std::size_t c : {kRud, kRudi, kUud}) EXPECT_GE(of(f, rate, c), 70e9) << c << ": sprayed";
  for (const std::size_t c : {kGoBackN, kSelective, kUc}) EXPECT_LE(of(f, rate, c), 50e9) << c << ": two on a link";
  // A PDC is set up by its first packet; before a QP's, there and back again.
  for (const std::size_t c : {kRud, kRod, kRudi, kUud})
    EXPECT_LT(of(f, "initiation_p50", c), 0.5 * of(f, "initiation_p50", kGoBackN)) << c;
  EXPECT_NEAR(of(f, "initiation_p50", kUc), of(f, "initiation_p50", kGoBackN), 100);
}

TEST_F(Comparisons, BothDirectionsCarryTwiceAsMuch) {
  const std::vector<std::string> small{"--over",   "traffic.pairs.message=1MB",
                                       "--set",    "traffic.pairs.bytes=2MB",
                                       "--search", "traffic.pairs.rate=40Gbps..41Gbps",
                                       "--until",  "drops=0",
                                       "--column", "uet/rud/spray",
                                       "--column", "uet/uud/spray,traffic.pairs.message=4KB"};
  std::vector<std::string> both = small;
  both.insert(both.end(), {"--set", "traffic.pairs.bidirectional=true"});
  const Figures one = compare("comparisons/t6-1-throughput.yaml", small);
  const Figures two = compare("comparisons/t6-1-throughput.yaml", both);
  for (std::size_t c = 0; c < 2; ++c) {
    EXPECT_NEAR(of(two, "goodput", c), 2 * of(one, "goodput", c), 0.02 * of(two, "goodput", c)) << c;
    EXPECT_GT(of(one, "accepted", c), 0.98) << c;
    EXPECT_GT(of(two, "accepted", c), 0.98) << c;
  }
}

// At a third of the time of the file: on an idle fabric, and beside a load that is the same in all columns.
TEST_F(Comparisons, ShortMessagesTakeAsLongOverAllTransportsWithAndWithoutALoad) {
  const nlohmann::json all =
      compare_all("comparisons/t6-2-latency.yaml", {"--over", "traffic.load.rate=10Kbps,50Gbps", "--set",
                                                    "run.duration=8ms", "--set", "traffic.first.stagger=10us"});
  EXPECT_FALSE(all.contains("notes")) << "the background is in no class that a column changes";
  const Figures& idle = all["blocks"][0]["figures"];
  const Figures& loaded = all["blocks"][1]["figures"];
  enum { kGoBackN, kRoceSpray, kRud, kRod };
  for (const std::size_t c : {kGoBackN, kRoceSpray, kRud, kRod}) {
    EXPECT_GT(of(idle, "/traffic/0/message_ns/samples", c), 2000) << c << ": a QP or PDC that stays";
    EXPECT_EQ(of(idle, "/traffic/1/fct_ns/count", c), 552) << c << ": each opens its own";
    for (const char* p50 : {"/traffic/0/message_ns/p50", "/traffic/1/fct_ns/p50"})
      EXPECT_NEAR(of(idle, p50, c), of(idle, p50, kGoBackN), 0.03 * of(idle, p50, kGoBackN)) << c << p50;
    // Half of every link is another's: whoever meets a frame of it waits for that, and not for a queue of them.
    EXPECT_GT(of(loaded, "/traffic/0/message_ns/p99", c), of(idle, "/traffic/0/message_ns/p99", c)) << c;
    EXPECT_LT(of(loaded, "/traffic/0/message_ns/p99", c), 2 * of(idle, "/traffic/0/message_ns/p99", c)) << c;
    EXPECT_EQ(of(loaded, "retransmitted", c), 0) << c;
    EXPECT_EQ(of(loaded, "completed", c), 1) << c;
  }
  // A PDC's first packet sets it up; a QP has its handshake before.
  for (const std::size_t c : {kRud, kRod})
    EXPECT_LT(of(idle, "initiation_p50", c), 0.6 * of(idle, "initiation_p50", kGoBackN)) << c;
  EXPECT_EQ(all["blocks"][0]["distributions"][0]["points"].size(), 4u) << "for a picture of all of them";
  EXPECT_EQ(all["method"]["test"], "T6.2");
  EXPECT_EQ(all["method"]["label"], "smoke, not a draft result");
}

TEST_F(Comparisons, SprayingSharesThePathsAndNothingIsSentAgainForNothing) {
  const Figures f = compare("comparisons/t6-3-spray.yaml", {"--over", "topology.leaves=2"});
  enum { kEcmp, kRoceSpray, kRudSpray, kRodSpray };
  EXPECT_LT(of(f, "max_over_mean", kRoceSpray), 1.05);
  EXPECT_LT(of(f, "max_over_mean", kRudSpray), 0.8 * of(f, "max_over_mean", kEcmp));
  EXPECT_LT(of(f, "fct_p99", kRudSpray), 0.8 * of(f, "fct_p99", kEcmp));
  EXPECT_GT(of(f, "fct_p99", kRodSpray), of(f, "fct_p99", kRudSpray)) << "in order is over one path";
  for (const std::size_t c : {kRoceSpray, kRudSpray}) EXPECT_GT(of(f, "out_of_order", c), 0) << c;
  for (const std::size_t c : {kEcmp, kRodSpray}) EXPECT_EQ(of(f, "out_of_order", c), 0) << c;
  for (const std::size_t c : {kRoceSpray, kRudSpray}) EXPECT_EQ(of(f, "retransmitted", c), 0) << c;
  EXPECT_GT(of(f, "jain_link", kRudSpray), of(f, "jain_link", kEcmp));
  EXPECT_GT(of(f, "goodput_part", kRudSpray), of(f, "goodput_part", kEcmp));
  EXPECT_EQ(of(f, "retransmission_rate", kRudSpray), 0);
  // Of many thin paths packets overtake one another by far more.
  const Figures thin = compare(
      "comparisons/t6-3-spray.yaml",
      {"--column", "uet/rud/spray", "--over",
       "topology={ preset: leaf-spine, leaves: 2, spines: 32, hosts-per-leaf: 8, fabric-link: { rate: 25Gbps } }"});
  EXPECT_GT(of(thin, "out_of_order", 0), 1000);
  EXPECT_EQ(of(thin, "retransmitted", 0), 0);
}

TEST_F(Comparisons, AnIncastNeedsNoPfc) {
  const Figures f = compare("comparisons/t6-4-incast.yaml", {"--over", "traffic.in.fan-in+traffic.more.fan-in=8"});
  enum { kGoBackN, kSelective, kLossy, kTrim, kCredit, kBoth };
  for (const std::size_t c : {kGoBackN, kSelective, kLossy, kTrim, kCredit, kBoth}) {
    EXPECT_EQ(of(f, "xoff_sent", c), 0) << c;
    EXPECT_EQ(of(f, "missing", c), 0) << c << ": no application has noticed";
    EXPECT_EQ(of(f, "completed", c), 1) << c;
    EXPECT_GE(of(f, "peak_buffer", c), of(f, "max_queue", c)) << c;
  }
  EXPECT_GT(of(f, "trimmed", kTrim), 0);
  EXPECT_EQ(of(f, "drops", kTrim), 0);
  EXPECT_EQ(of(f, "retransmitted", kTrim), of(f, "trimmed", kTrim)) << "each once";
  EXPECT_GT(of(f, "goodput", kTrim), 95e9) << "of 100 Gb/s";
  EXPECT_GT(of(f, "goodput", kTrim), 1.1 * of(f, "goodput", kGoBackN));
  // The receiver shares its link out itself.
  for (const std::size_t c : {kCredit, kBoth}) {
    EXPECT_LT(of(f, "trimmed", c), of(f, "trimmed", kTrim)) << c;
    EXPECT_GT(of(f, "jain", c), 0.99) << c;
    EXPECT_GT(of(f, "goodput", c), 0.97 * of(f, "goodput", kTrim)) << c;
  }
}

TEST_F(Comparisons, TrimmingTellsOfLessAndSoonerThanDropping) {
  const Figures f = compare("comparisons/t6-5b-trimming.yaml");
  enum { kRudLossy, kRudTrim, kRodLossy, kRodTrim, kRoce };
  EXPECT_GT(of(f, "drops", kRudLossy), 0);
  EXPECT_GT(of(f, "drops", kRodLossy), 0);
  for (const std::size_t c : {kRudTrim, kRodTrim}) {
    EXPECT_EQ(of(f, "drops", c), 0) << c;
    EXPECT_GT(of(f, "trimmed", c), 0) << c;
    EXPECT_GT(of(f, "trim_rate", c), 0) << c;
    EXPECT_LT(of(f, "repair_after", c), 30'000) << c << ": ns, little more than a round trip";
  }
  EXPECT_LT(of(f, "repair_after", kRudTrim), of(f, "repair_after", kRudLossy));
  EXPECT_LT(of(f, "wire_bytes", kRudTrim), of(f, "wire_bytes", kRudLossy)) << "bandwidth saved";
  EXPECT_LT(of(f, "retransmitted", kRudTrim), 0.7 * of(f, "retransmitted", kRudLossy));
  // The last of alike flows cannot end sooner than the links carry all of them, by whatever transport.
  EXPECT_LT(of(f, "fct_mean", kRudTrim), 0.98 * of(f, "fct_mean", kRudLossy));
  for (std::size_t c = 0; c <= kRoce; ++c) EXPECT_EQ(of(f, "missing", c), 0) << c;
  // 64 MB through four links of 100 Gb/s, and the windows' unfairness.
  constexpr double kBound = 64e6 * 8 / 400 * (4096 + 126) / 4096;  // ns
  for (const std::size_t c : {kRudTrim, kRudLossy}) EXPECT_LT(of(f, "fct_max", c), 1.1 * kBound) << c;
}

TEST_F(Comparisons, CollectivesCostTheSameByAllTransportsWhereNothingIsLost) {
  const Figures f = compare("comparisons/t6-6-collectives.yaml",
                            {"--over", "collectives.all.collective=all-reduce", "--set", "collectives.all.repeats=3"});
  for (std::size_t c = 0; c < 4; ++c) EXPECT_GT(of(f, "busbw", c), 90e9) << c;
}

TEST_F(Comparisons, BitErrorsCostWhatWasLostAndNoMore) {
  const Figures f = compare("comparisons/t6-5a-bit-errors.yaml", {"--over", "faults.cables.bit-errors=1e-7"});
  enum { kGoBackN, kSelective, kRoceSpray, kRudSpray, kRod, kRoceSprayRetry, kRudSprayRetry };
  for (const std::size_t c : {kGoBackN, kSelective, kRoceSpray, kRudSpray, kRod}) EXPECT_GT(of(f, "drops", c), 50) << c;
  // Nothing retransmits an ACK. With one per 64 packets and per message, they have 2 % of the octets at most.
  for (const std::size_t c : {kSelective, kRoceSpray}) {
    EXPECT_LE(of(f, "retransmitted", c), of(f, "drops", c)) << c;
    EXPECT_GE(of(f, "retransmitted", c), 0.95 * of(f, "drops", c)) << c;
  }
  EXPECT_GE(of(f, "retransmitted", kRudSpray), 0.9 * of(f, "drops", kRudSpray)) << "an ACK more or less";
  EXPECT_LT(of(f, "retransmitted", kRudSpray), 2 * of(f, "drops", kRudSpray));
  EXPECT_GT(of(f, "retransmitted", kRod), 5 * of(f, "drops", kRod)) << "all behind it go again";
  EXPECT_LT(of(f, "fct_max", kRudSpray), 0.3 * of(f, "fct_max", kGoBackN));
  const Figures clean = compare("comparisons/t6-5a-bit-errors.yaml", {"--over", "faults.cables.bit-errors=1e-12"});
  for (const std::size_t c : {kRoceSprayRetry, kRudSprayRetry}) {
    EXPECT_GT(of(f, "llr_replays", c), 50) << c;
    EXPECT_EQ(of(f, "drops", c), 0) << c;
    EXPECT_EQ(of(f, "retransmitted", c), 0) << "the link has done it: " << c;
    EXPECT_LT(of(f, "llr_latency_mean", c), 1000) << "ns, per hop: " << c;
    EXPECT_LT(of(f, "fct_max", c), 1.02 * of(clean, "fct_max", c)) << c;
  }
  EXPECT_GT(of(f, "fct_max", kRoceSpray), 1.2 * of(clean, "fct_max", kRoceSpray)) << "its timer finds the last ones";
  EXPECT_GT(of(f, "fct_max", kRudSpray), of(clean, "fct_max", kRudSpray));
  EXPECT_LT(of(f, "fct_max", kRudSpray), 1.05 * of(clean, "fct_max", kRudSpray)) << "found by time";
  EXPECT_TRUE(f["llr_replays"][kRudSpray].is_null()) << "no link of that column retries";
}

TEST_F(Comparisons, PausesReachFlowsThatAreNotBoundForTheIncast) {
  const Figures f = compare("comparisons/t6-5c-victims.yaml");
  enum { kPfcAlone, kCbfcAlone, kPfcDcqcn, kRoceLossy, kUetPfc, kUetCbfc, kUetTrim };
  const char* const victims = "/traffic/1/fct_ns/max";
  constexpr double kAlone = 87'000;  // ns
  EXPECT_GT(of(f, "xoff_sent", kPfcAlone), 0);
  EXPECT_GT(of(f, victims, kPfcAlone), 1.5 * kAlone);
  // Credits hold back as well, and nothing else: nobody is paused, and less waits in the queues.
  EXPECT_GT(of(f, victims, kCbfcAlone), 1.5 * kAlone);
  EXPECT_GT(of(f, "stalled", kCbfcAlone), 1e6);
  EXPECT_GT(of(f, "held_back", kCbfcAlone), 8);
  EXPECT_LT(of(f, "max_queue", kCbfcAlone), 0.5 * of(f, "max_queue", kPfcAlone));
  for (const std::size_t c : {kCbfcAlone, kUetCbfc}) {
    EXPECT_EQ(of(f, "xoff_sent", c), 0) << c;
    EXPECT_EQ(of(f, "paused", c), 0) << c;
    EXPECT_EQ(of(f, "drops", c), 0) << c;
  }
  for (const std::size_t c : {kPfcAlone, kUetPfc}) EXPECT_EQ(of(f, "stalled", c), 0) << c;
  for (const std::size_t c : {kRoceLossy, kUetTrim}) {
    EXPECT_EQ(of(f, "xoff_sent", c), 0) << c;
    EXPECT_LT(of(f, victims, c), 1.05 * kAlone) << c;
  }
  EXPECT_EQ(of(f, "drops", kUetTrim), 0);
  EXPECT_GT(of(f, "trimmed", kUetTrim), 0);
}

// What the quick start shows.
TEST_F(Comparisons, AnAllReduceSurvivesALinkFlapOverBothTransports) {
  const Figures f = compare("scenarios/allreduce-rails.yaml");
  for (std::size_t c = 0; c < 4; ++c) {
    EXPECT_GT(of(f, "retransmitted", c), 0) << "the link went down: " << c;
    EXPECT_GT(of(f, "collective_max", c), 1.5 * of(f, "collective_time", c)) << c;
    EXPECT_GT(of(f, "busbw", c), 375e9) << c;
  }
}

}  // namespace
}  // namespace railyard::tools
