// Sizes that are drawn, and Poisson arrivals, against what they are to be in the mean.
#include "control/workload/arrivals.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/load.h"
#include "control/workload/flow_plan.h"
#include "dataplane/base/natural_log.h"

namespace railyard::workload {
namespace {

spec::Lab four_hosts(const std::string& traffic, const std::string& run = "duration: 20ms") {
  return spec::parse(
      "name: x\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 4 }\n"
      "defaults: { link: { rate: 100Gbps } }\ntraffic: [ { name: t, " +
          traffic + " } ]\nrun: { " + run + " }\n",
      "x.yaml");
}

TEST(Arrivals, TheLogarithmIsThatOfTheLibrary) {
  for (double x = 1; x > 1e-300; x *= 0.83) EXPECT_NEAR(natural_log(x), std::log(x), 1e-13 * (1 - std::log(x))) << x;
  EXPECT_NEAR(natural_log(1), 0, 1e-15);
}

TEST(Arrivals, GapsAreExponential) {
  RngStream rng(Seed{1}, "gaps");
  constexpr int kGaps = 200'000;
  double sum = 0;
  double squares = 0;
  int longer_than_mean = 0;
  for (int i = 0; i < kGaps; ++i) {
    const auto gap = static_cast<double>(next_gap(rng, 1e6).ps);
    sum += gap;
    squares += gap * gap;
    longer_than_mean += gap > 1e6;
  }
  EXPECT_NEAR(sum / kGaps, 1e6, 1e4);
  EXPECT_NEAR(squares / kGaps, 2e12, 5e10) << "E[x^2] is twice the mean's square";
  EXPECT_NEAR(longer_than_mean, kGaps / std::exp(1.0), kGaps * 0.01);
}

// The distributions' means, and that drawing reaches them. Data mining: 5117 packets of 1460 octets.
TEST(Arrivals, DrawnSizesHaveTheDistributionsMean) {
  std::map<std::string, double> means{
      {"web-search", 1.71e6}, {"data-mining", 5117.0 * 1460}, {"storage", 40e3}, {"mice", 3.18e3}};
  for (const spec::FlowSizes& s : spec::published_flow_sizes()) {
    EXPECT_NEAR(s.mean(), means.at(s.name), means.at(s.name) * 0.08) << s.name;
    RngStream rng(Seed{1}, s.name);
    constexpr int kDraws = 400'000;
    double sum = 0;
    for (int i = 0; i < kDraws; ++i) sum += static_cast<double>(draw_size(rng, s, 1).n);
    EXPECT_NEAR(sum / kDraws, s.mean(), s.mean() * 0.05) << s.name;
    EXPECT_EQ(s.points.back().ppm, 1'000'000u);
  }
}

TEST(Arrivals, PointsOfADistributionAreItsPercentiles) {
  const spec::FlowSizes s{"", {{Bytes{1000}, 500'000}, {Bytes{2000}, 1'000'000}}};
  EXPECT_EQ(s.at(0).n, 1);
  EXPECT_EQ(s.at(std::uint64_t{1} << 63).n, 1000);
  EXPECT_EQ(s.at(std::uint64_t{3} << 62).n, 1500);
  EXPECT_EQ(s.at(~std::uint64_t{0}).n, 2000);
  EXPECT_NEAR(s.mean(), 1000.25, 0.01);
  const spec::FlowSizes one{"", {{Bytes{777}, 1'000'000}}};
  EXPECT_EQ(one.at(12345).n, 777) << "a single point is that size";
}

// 100 Gb/s at 30 % is 3.75 GB/s: 75 MB in 20 ms from each of four senders.
TEST(Arrivals, ALoadIsReachedInTheMean) {
  double sum = 0;
  constexpr int kSeeds = 20;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    const spec::Lab lab = four_hosts("pattern: random, from: h*, to: h*, sizes: web-search, load: 30%",
                                     "duration: 20ms, seed: " + std::to_string(seed));
    for (const FlowPlan& f : plan_flows(lab)) sum += static_cast<double>(f.bytes.value().n);
  }
  EXPECT_NEAR(sum / kSeeds, 4 * 75e6, 4 * 75e6 * 0.1);
}

TEST(Arrivals, ComeInOrderWithinTheTimeAndGoToEverybodyElse) {
  const spec::Lab lab = four_hosts(
      "pattern: random, from: [h1, h2], to: h*, bytes: 10KB, load: 50%, start: 1ms, stop: 3ms", "drain: 1ms");
  const std::vector<FlowPlan> flows = plan_flows(lab);
  // 50 % of 100 Gb/s in flows of 10 KB: 625 per ms and sender.
  EXPECT_NEAR(static_cast<double>(flows.size()), 2 * 2 * 625, 5 * 50);
  std::map<std::string, int> to;
  Duration last{};
  for (const FlowPlan& f : flows) {
    EXPECT_GE(f.start.value(), last);
    last = *f.start;
    EXPECT_FALSE(f.bytes) << "as the traffic says";
    EXPECT_NE(f.source.node, f.destination.node);
    ++to[f.destination.node];
  }
  EXPECT_GE(flows.front().start->ps, 1'000'000'000);
  EXPECT_LT(last.ps, 3'000'000'000);
  EXPECT_EQ(to.size(), 4u);
}

TEST(Arrivals, TheSameSeedGivesTheSameAndAnotherSenderChangesNobody) {
  const auto of_h1 = [](const std::string& from, int seed) {
    std::vector<std::string> out;
    for (const FlowPlan& f :
         plan_flows(four_hosts("pattern: incast, from: " + from + ", to: h4, sizes: storage, load: 10%",
                               "duration: 2ms, seed: " + std::to_string(seed))))
      if (f.source.node == "h1")
        out.push_back(f.name + " " + std::to_string(f.start->ps) + " " + std::to_string(f.bytes->n));
    return out;
  };
  EXPECT_EQ(of_h1("[h1]", 1), of_h1("[h1]", 1));
  EXPECT_EQ(of_h1("[h1]", 1), of_h1("[h1, h2]", 1));
  EXPECT_NE(of_h1("[h1]", 1), of_h1("[h1]", 2));
}

TEST(Arrivals, GeneratorsSizesAreMultiplesOfFour) {
  for (const FlowPlan& f : plan_flows(four_hosts("from: h1, to: h2, flows: 200, sizes: mice")))
    EXPECT_EQ(f.bytes->n % 4, 0);
  bool odd = false;
  for (const FlowPlan& f : plan_flows(four_hosts("from: h1, to: h2, flows: 200, sizes: mice, transport: roce")))
    odd |= f.bytes->n % 4 != 0;
  EXPECT_TRUE(odd) << "RoCE takes any size";
}

// A folder for the files of one test.
class ListedFlows : public testing::Test {
 protected:
  ListedFlows() { std::filesystem::create_directories(folder_); }
  ~ListedFlows() override { std::filesystem::remove_all(folder_); }
  std::vector<std::string> plan(const std::string& name, const std::string& text, const std::string& more = "") {
    std::ofstream(folder_ / name) << text;
    std::vector<std::string> out;
    for (const FlowPlan& f : plan_flows(four_hosts("pattern: file, file: " + (folder_ / name).string() + more)))
      out.push_back(f.name + " " + std::to_string(f.bytes->n) + " " + std::to_string(f.start->ps));
    return out;
  }
  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / "railyard-listed-flows";
};

TEST_F(ListedFlows, OfACsv) {
  EXPECT_THAT(plan("f.csv",
                   "# who sends what\n"
                   "bytes, from, to, start\r\n"
                   "1MB, h1, h2, 10us\n"
                   "\n"
                   "4096, h3:1, h2, 0\n"
                   "4097, h1, h2, 2ns\n",
                   ", start: 1us"),
              testing::ElementsAre("t/h1->h2 1000000 11000000", "t/h3->h2 4096 1000000", "t/h1->h2#2 4100 1002000"));
}

TEST_F(ListedFlows, OfAConnectionMatrix) {
  EXPECT_THAT(plan("m.cm",
                   "Nodes 4\nConnections 3\nTriggers 0\n"
                   "# of htsim\n"
                   "3->0 id 1 start 0 size 2000000\n"
                   "0->1 start 5000 size 64 prio 7\n"
                   "0->1 id 3 start 5000 size 64\n"),
              testing::ElementsAre("t/h4->h1 2000000 0", "t/h1->h2 64 5000", "t/h1->h2#2 64 5000"));
  EXPECT_THAT(plan("m.cm", "Nodes 2\nConnections 1\n1->0 start 0 size 8\n", ", from: [h4, h2]"),
              testing::ElementsAre("t/h2->h4 8 0"))
      << "nodes are those of from";
}

}  // namespace
}  // namespace railyard::workload
