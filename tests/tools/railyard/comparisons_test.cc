// The comparisons that we ship (topologies/comparisons), each on one of the points that it is made over.
#include <cstddef>
#include <string>
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
    more.insert(more.begin(), {"compare-transports", topology(file), "--json"});
    const Outcome o = railyard(more);
    EXPECT_EQ(o.exit_code, kOk) << o.err << o.out;
    return nlohmann::json::parse(o.out)["blocks"][0]["figures"];
  }
  static double of(const Figures& f, const char* metric, std::size_t column) {
    return f[metric][column]["median"].get<double>();
  }
};

TEST_F(Comparisons, ThroughputOfEveryServiceIsMeasuredOnTheSameSwitches) {
  const Figures f = compare("comparisons/t6-1-throughput.yaml",
                            {"--over", "traffic.pairs.message=1MB", "--set", "traffic.pairs.bytes=4MB"});
  enum { kGoBackN, kSelective, kRud, kRod, kRudi, kUud };
  for (const std::size_t c : {kGoBackN, kSelective, kRud, kRod, kRudi, kUud}) EXPECT_GT(of(f, "goodput", c), 0) << c;
  EXPECT_GT(of(f, "goodput", kRud), 1.2 * of(f, "goodput", kRod)) << "what is sprayed does not collide";
  EXPECT_GT(of(f, "goodput", kRud), 1.2 * of(f, "goodput", kSelective));
  EXPECT_GT(of(f, "share_p50", kRud), 0.8);
}

TEST_F(Comparisons, LatencyOfAShortMessageIncludesThePdcThatItOpens) {
  const Figures f = compare("comparisons/t6-2-latency.yaml", {"--over", "traffic.short.bytes=4KB"});
  for (const std::size_t c : {2u, 3u})
    EXPECT_NEAR(of(f, "fct_p50", c), of(f, "fct_p50", 0), 0.02 * of(f, "fct_p50", 0)) << "0-RTT: no handshake";
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
}

TEST_F(Comparisons, AnIncastNeedsNoPfc) {
  const Figures f = compare("comparisons/t6-4-incast.yaml", {"--over", "traffic.in.fan-in=15"});
  enum { kGoBackN, kSelective, kLossy, kTrim };
  for (const std::size_t c : {kGoBackN, kSelective, kLossy, kTrim}) EXPECT_EQ(of(f, "xoff_sent", c), 0) << c;
  EXPECT_GT(of(f, "trimmed", kTrim), 0);
  EXPECT_EQ(of(f, "drops", kTrim), 0);
  EXPECT_EQ(of(f, "retransmitted", kTrim), of(f, "trimmed", kTrim)) << "each once";
  EXPECT_GT(of(f, "goodput", kTrim), 95e9) << "of 100 Gb/s";
  EXPECT_GT(of(f, "goodput", kTrim), 1.5 * of(f, "goodput", kGoBackN));
}

TEST_F(Comparisons, WhatIsTrimmedIsSentAgainBeforeWhatIsDropped) {
  const Figures f = compare("comparisons/t6-5b-trimming.yaml");
  enum { kRoce, kRudLossy, kRudTrim, kRodLossy, kRodTrim };
  EXPECT_GT(of(f, "drops", kRudLossy), 0);
  EXPECT_GT(of(f, "drops", kRodLossy), 0);
  for (const std::size_t c : {kRudTrim, kRodTrim}) {
    EXPECT_EQ(of(f, "drops", c), 0) << c;
    EXPECT_GT(of(f, "trimmed", c), 0) << c;
  }
  EXPECT_LT(of(f, "fct_max", kRudTrim), of(f, "fct_max", kRudLossy));
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
  for (const std::size_t c : {kSelective, kRoceSpray}) EXPECT_EQ(of(f, "retransmitted", c), of(f, "drops", c)) << c;
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
  for (const std::size_t c : {kRoceSpray, kRudSpray}) EXPECT_GT(of(f, "fct_max", c), 1.2 * of(clean, "fct_max", c)) << c;
  EXPECT_TRUE(f["llr_replays"][kRudSpray].is_null()) << "no link of that column retries";
}

TEST_F(Comparisons, PausesReachFlowsThatAreNotBoundForTheIncast) {
  const Figures f = compare("comparisons/t6-5c-victims.yaml");
  enum { kPfcAlone, kPfcDcqcn, kRoceLossy, kUetPfc, kUetTrim };
  const char* const victims = "/traffic/1/fct_ns/max";
  constexpr double kAlone = 87'000;  // ns
  EXPECT_GT(of(f, "xoff_sent", kPfcAlone), 0);
  EXPECT_GT(of(f, victims, kPfcAlone), 1.5 * kAlone);
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
