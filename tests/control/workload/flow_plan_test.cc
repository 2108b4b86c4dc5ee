#include "control/workload/flow_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/load.h"

namespace railyard::workload {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

// Eight hosts with one NIC each, h1..h8; `traffic` is one line of YAML.
spec::Lab lab(const std::string& traffic, const std::vector<std::string>& overrides = {}) {
  return spec::parse(
      "name: x\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 4 }\n"
      "traffic: [ { name: t, bytes: 1MiB, " +
          traffic + " } ]\n",
      "x.yaml", overrides);
}
// Three hosts with two NICs each, NIC r of each at the leaf of rail r.
spec::Lab rails(const std::string& traffic) {
  return spec::parse(
      "name: x\ntopology: { preset: rail-optimized, hosts: 3, rails: 2, spines: 1 }\n"
      "traffic: [ { name: t, bytes: 1MiB, " +
          traffic + " } ]\n",
      "x.yaml");
}

std::vector<std::string> names(const spec::Lab& lab) {
  std::vector<std::string> out;
  for (const FlowPlan& f : plan_flows(lab)) out.push_back(f.name);
  return out;
}

TEST(FlowPlan, PairsAreOneToOne) {
  EXPECT_THAT(names(lab("from: [h1, h2, h3], to: [h5, h6, h7]")), ElementsAre("t/h1->h5", "t/h2->h6", "t/h3->h7"));
}

TEST(FlowPlan, PairsOfOneAreWithAllOfTheOthers) {
  EXPECT_THAT(names(lab("from: h1, to: [h5, h6]")), ElementsAre("t/h1->h5", "t/h1->h6"));
  EXPECT_THAT(names(lab("from: [h5, h6], to: h1")), ElementsAre("t/h5->h1", "t/h6->h1"));
}

TEST(FlowPlan, NobodySendsToHimself) {
  EXPECT_THAT(names(lab("from: h1, to: [h1, h2]")), ElementsAre("t/h1->h2"));
  EXPECT_THAT(names(lab("pattern: incast, from: h*, to: h1")).size(), 7u);
}

TEST(FlowPlan, FlowsAreNumberedFromOneAndKnowTheirTraffic) {
  const spec::Lab two = spec::parse(R"(name: x
topology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 4 }
traffic: [ { name: a, from: [h1, h2], to: [h3, h4], bytes: 1MiB }, { name: b, from: [h5, h6], to: [h7, h8], bytes: 1MiB } ]
)",
                                    "x.yaml");
  const auto flows = plan_flows(two);
  ASSERT_EQ(flows.size(), 4u);
  for (std::size_t i = 0; i < flows.size(); ++i) {
    EXPECT_EQ(flows[i].id, i + 1);
    EXPECT_EQ(flows[i].traffic, i / 2);
    EXPECT_EQ(flows[i].index, i % 2);  // what `stagger` counts
  }
  EXPECT_EQ(flows[3].source, (spec::PortName{"h6", 1}));
  EXPECT_EQ(flows[3].destination, (spec::PortName{"h8", 1}));
}

TEST(FlowPlan, ParallelFlowsHaveNumbersBehindTheirNames) {
  EXPECT_THAT(names(lab("from: h1, to: h2, flows: 3")), ElementsAre("t/h1->h2", "t/h1->h2#2", "t/h1->h2#3"));
}

TEST(FlowPlan, BidirectionalTrafficIsThereTheOtherWayRoundToo) {
  EXPECT_THAT(names(lab("from: [h1, h2], to: [h5, h6], bidirectional: true")),
              ElementsAre("t/h1->h5", "t/h5->h1", "t/h2->h6", "t/h6->h2"));
  EXPECT_THAT(names(lab("pattern: incast, from: [h1, h2], to: h5, flows: 2, bidirectional: true")),
              ElementsAre("t/h1->h5", "t/h5->h1", "t/h1->h5#2", "t/h5->h1#2", "t/h2->h5", "t/h5->h2", "t/h2->h5#2",
                          "t/h5->h2#2"));
}

TEST(FlowPlan, OfBothDirectionsTheSizeIsTheSame) {
  const auto flows = plan_flows(
      spec::parse("name: x\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 4 }\n"
                  "traffic: [ { name: t, from: [h1, h2], to: [h5, h6], sizes: storage, bidirectional: true } ]\n",
                  "x.yaml"));
  ASSERT_EQ(flows.size(), 4u);
  EXPECT_EQ(flows[0].bytes, flows[1].bytes);
  EXPECT_EQ(flows[2].bytes, flows[3].bytes);
  EXPECT_NE(flows[0].bytes, flows[2].bytes);
}

TEST(FlowPlan, IncastsShareTheSendersOut) {
  // Two receivers with three senders each, of six: nobody sends twice.
  EXPECT_THAT(names(lab("pattern: incast, from: [h3, h4, h5, h6, h7, h8], to: [h1, h2], fan-in: 3")),
              ElementsAre("t/h3->h1", "t/h4->h1", "t/h5->h1", "t/h6->h2", "t/h7->h2", "t/h8->h2"));
  // With fewer they begin again, and a receiver is not its own sender.
  EXPECT_THAT(names(lab("pattern: incast, from: [h1, h2, h3], to: [h1, h2], fan-in: 2")),
              ElementsAre("t/h2->h1", "t/h3->h1", "t/h1->h2", "t/h3->h2"));
}

TEST(FlowPlan, APermutationIsOneCycleThroughAll) {
  for (int seed = 1; seed <= 50; ++seed) {
    const auto flows = plan_flows(lab("pattern: permutation", {"run.seed=" + std::to_string(seed)}));
    std::map<std::string, std::string> next;
    for (const FlowPlan& f : flows) EXPECT_TRUE(next.emplace(f.source.node, f.destination.node).second);
    std::set<std::string> visited;
    std::string at = "h1";
    while (visited.insert(at).second) at = next.at(at);
    EXPECT_EQ(visited.size(), 8u) << "seed " << seed;
  }
}

TEST(FlowPlan, APermutationOverOthersGivesEachAReceiverOfHisOwn) {
  for (int seed = 1; seed <= 50; ++seed) {
    const auto flows = plan_flows(lab("pattern: permutation, from: [h1, h2, h3, h4], to: [h2, h3, h4, h5]",
                                      {"run.seed=" + std::to_string(seed)}));
    std::set<std::string> senders;
    std::set<std::string> receivers;
    for (const FlowPlan& f : flows) {
      EXPECT_NE(f.source.node, f.destination.node) << "seed " << seed;
      senders.insert(f.source.node);
      receivers.insert(f.destination.node);
    }
    EXPECT_THAT(senders, UnorderedElementsAre("h1", "h2", "h3", "h4")) << "seed " << seed;
    EXPECT_THAT(receivers, UnorderedElementsAre("h2", "h3", "h4", "h5")) << "seed " << seed;
  }
}

TEST(FlowPlan, ChanceIsTheSeedsAndTheTrafficsName) {
  for (const char* pattern : {"pattern: permutation", "pattern: random, flows: 3"}) {
    EXPECT_EQ(names(lab(pattern)), names(lab(pattern)));
    EXPECT_NE(names(lab(pattern)), names(lab(pattern, {"run.seed=2"})));
    auto other = names(lab(pattern, {"traffic.t.name=u"}));
    for (std::string& name : other) name[0] = 't';
    EXPECT_NE(names(lab(pattern)), other);
  }
}

TEST(FlowPlan, AllToAllGoesInShiftedRounds) {
  EXPECT_THAT(names(lab("pattern: all-to-all, from: [h1, h2, h3], to: [h1, h2, h3]")),
              ElementsAre("t/h1->h2", "t/h2->h3", "t/h3->h1", "t/h1->h3", "t/h2->h1", "t/h3->h2"));
  EXPECT_EQ(names(lab("pattern: all-to-all")).size(), 8u * 7);
}

TEST(FlowPlan, RandomDrawsSoManyReceiversForEachSender) {
  std::map<std::string, int> sent;
  for (const FlowPlan& f : plan_flows(lab("pattern: random, flows: 5"))) {
    ++sent[f.source.node];
    EXPECT_NE(f.source.node, f.destination.node);
  }
  EXPECT_EQ(sent.size(), 8u);
  for (const auto& [host, n] : sent) EXPECT_EQ(n, 5) << host;
}

TEST(FlowPlan, PatternsStayWithinARail) {
  for (const char* pattern : {"permutation", "all-to-all", "random, flows: 4"})
    for (const FlowPlan& f : plan_flows(rails("pattern: " + std::string(pattern))))
      EXPECT_EQ(f.source.port, f.destination.port) << f.name;
  EXPECT_THAT(names(rails("pattern: incast, from: [h1, h2], to: h3")),
              ElementsAre("t/h1:1->h3:1", "t/h2:1->h3:1", "t/h1:2->h3:2", "t/h2:2->h3:2"));
}

TEST(FlowPlan, WithoutACounterpartInTheRailTheyCross) {
  EXPECT_THAT(names(rails("pattern: all-to-all, from: \"h1:2\", to: [\"h2:1\", \"h3:1\"]")),
              ElementsAre("t/h1:2->h2:1", "t/h1:2->h3:1"));
}

}  // namespace
}  // namespace railyard::workload
