#include "control/daemon/agent_metrics.h"

#include <gtest/gtest.h>

namespace railyard::daemon {
namespace {

using exposition::Workload;

report::FlowReport flow(std::uint64_t delivered, std::int64_t start_ns) {
  report::FlowReport f;
  f.name = "t/h1->h2";
  f.priority = 3;
  f.bytes = f.delivered_bytes = delivered;
  f.start_ns = start_ns;
  f.roce.emplace();
  return f;
}

Workload after(AgentMetrics& metrics, const report::FlowReport& f) {
  Workload out;
  metrics.add({f}, {}, out);
  return out;
}

TEST(AgentMetrics, AFlowHasItsStateAndBytes) {
  AgentMetrics metrics;
  EXPECT_EQ(after(metrics, flow(0, 0)).flows[0].waiting, 1u);
  const Workload running = after(metrics, flow(1000, 5));
  ASSERT_EQ(running.flows.size(), 1u);
  EXPECT_EQ(running.flows[0].transport, "roce/agents");
  EXPECT_EQ(running.flows[0].priority, 3);
  EXPECT_EQ(running.flows[0].active, 1u);
  EXPECT_EQ(running.flows[0].waiting, 0u);
  EXPECT_EQ(running.flows[0].delivered_octets, 1000u);
}

TEST(AgentMetrics, CountersDoNotGoBackWhenAFlowIsRunAgain) {
  AgentMetrics metrics;
  report::FlowReport first = flow(1000, 5);
  first.fct_ns = 70;
  after(metrics, first);
  const Workload twice = after(metrics, first);
  EXPECT_EQ(twice.flows[0].complete, 1u);
  EXPECT_EQ(twice.flows[0].completion.count(), 1u) << "seen twice, complete once";
  const Workload again = after(metrics, flow(300, 90));
  EXPECT_EQ(again.flows[0].delivered_octets, 1300u);
  report::FlowReport second = flow(1000, 90);
  second.fct_ns = 80;
  const Workload done = after(metrics, second);
  EXPECT_EQ(done.flows[0].delivered_octets, 2000u);
  EXPECT_EQ(done.flows[0].completion.count(), 2u);
}

TEST(AgentMetrics, ACollectiveHasTheBandwidthOfItsLastIteration) {
  report::CollectiveReport c;
  c.name = "gradients";
  c.bytes = 1'000'000;
  c.factor = 1.5;
  c.repeats = 4;
  c.iterations = {{0, 1'000'000}, {1'000'000, 500'000}, {1'500'000, std::nullopt}};
  AgentMetrics metrics;
  Workload out;
  metrics.add({}, {c}, out);
  ASSERT_EQ(out.collectives.size(), 1u);
  EXPECT_EQ(out.collectives[0].started, 3u);
  EXPECT_EQ(out.collectives[0].done, 2u);
  EXPECT_DOUBLE_EQ(out.collectives[0].progress, 0.5);
  EXPECT_DOUBLE_EQ(*out.collectives[0].algbw, 2e9);
  EXPECT_DOUBLE_EQ(*out.collectives[0].busbw, 3e9);
}

}  // namespace
}  // namespace railyard::daemon
