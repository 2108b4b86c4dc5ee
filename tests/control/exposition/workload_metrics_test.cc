#include "control/exposition/workload_metrics.h"

#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railyard::exposition {
namespace {

using testing::HasSubstr;
using testing::Not;

Workload small() {
  Workload w;
  Workload::Flows& roce = w.flows.emplace_back();
  roce.transport = "roce";
  roce.priority = 3;
  roce.active = 2;
  roce.complete = 1;
  roce.sent_octets = 3000;
  roce.delivered_octets = 2000;
  roce.retransmitted = 4;
  roce.latency.record(3'000'000);      // 3 us
  roce.latency.record(40'000'000);     // 40 us
  roce.completion.record(900'000'000); // 900 us
  Workload::Collective& c = w.collectives.emplace_back();
  c.name = "all-reduce";
  c.started = 3;
  c.done = 2;
  c.progress = 0.5;
  c.algbw = 1e9;
  c.busbw = 1.5e9;
  c.times.record(2'000'000'000);
  w.routing = {.reroutings = 2, .table_changes = 5, .routes = 30, .lost = 7, .at_rest = false,
               .last_convergence_seconds = 0.25, .convergence_seconds = 0.75};
  return w;
}

std::string text_of(const Workload& w, Format format = Format::kPrometheus) {
  Exposition out(format);
  add_workload(out, w);
  return std::move(out).text();
}

TEST(WorkloadMetrics, FlowsAreSumsByTransportAndClass) {
  const std::string text = text_of(small());
  EXPECT_THAT(text, HasSubstr("railyard_flows{transport=\"roce\",class=\"3\",state=\"active\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("railyard_flows{transport=\"roce\",class=\"3\",state=\"failed\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("railyard_flow_delivered_bytes_total{transport=\"roce\",class=\"3\"} 2000\n"));
  EXPECT_THAT(text, HasSubstr("railyard_flow_retransmitted_packets_total{transport=\"roce\",class=\"3\"} 4\n"));
}

TEST(WorkloadMetrics, LatencyIsAHistogramWithBucketsThatAdd) {
  const std::string text = text_of(small());
  EXPECT_THAT(text, HasSubstr("# TYPE railyard_packet_latency_seconds histogram\n"));
  EXPECT_THAT(text, HasSubstr("railyard_packet_latency_seconds_bucket{transport=\"roce\",class=\"3\",le=\"2e-06\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("railyard_packet_latency_seconds_bucket{transport=\"roce\",class=\"3\",le=\"5e-06\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("railyard_packet_latency_seconds_bucket{transport=\"roce\",class=\"3\",le=\"5e-05\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("railyard_packet_latency_seconds_bucket{transport=\"roce\",class=\"3\",le=\"+Inf\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("railyard_packet_latency_seconds_sum{transport=\"roce\",class=\"3\"} 4.3e-05\n"));
  EXPECT_THAT(text, HasSubstr("railyard_packet_latency_seconds_count{transport=\"roce\",class=\"3\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("railyard_flow_completion_seconds_bucket{transport=\"roce\",class=\"3\",le=\"0.001\"} 1\n"));
}

TEST(WorkloadMetrics, CollectivesHaveProgressAndBandwidth) {
  Workload w = small();
  EXPECT_THAT(text_of(w), HasSubstr("railyard_collective_busbw_bytes_per_second{collective=\"all-reduce\"} 1500000000\n"));
  EXPECT_THAT(text_of(w), HasSubstr("railyard_collective_progress_ratio{collective=\"all-reduce\"} 0.5\n"));
  EXPECT_THAT(text_of(w), HasSubstr("railyard_collective_completed_total{collective=\"all-reduce\"} 2\n"));
  w.collectives[0].busbw.reset();
  EXPECT_THAT(text_of(w), Not(HasSubstr("busbw_bytes_per_second{"))) << "none is done: no value, and not 0";
}

TEST(WorkloadMetrics, RoutesAndDeadlocks) {
  Workload w = small();
  EXPECT_THAT(text_of(w), HasSubstr("railyard_reroutings_total 2\n"));
  EXPECT_THAT(text_of(w), HasSubstr("railyard_routing_at_rest 0\n"));
  EXPECT_THAT(text_of(w), HasSubstr("railyard_route_convergence_seconds_total 0.75\n"));
  EXPECT_THAT(text_of(w), Not(HasSubstr("deadlock"))) << "nobody looks for them";
  w.deadlocks = {.seen = 3, .now = 1};
  EXPECT_THAT(text_of(w), HasSubstr("railyard_deadlocks_total 3\n"));
  EXPECT_THAT(text_of(w), HasSubstr("railyard_deadlocks_standing 1\n"));
}

}  // namespace
}  // namespace railyard::exposition
