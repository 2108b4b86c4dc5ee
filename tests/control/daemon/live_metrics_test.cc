// What a lab under load says to Prometheus while it runs: pauses have a time, buffers a level, flows their sums.
#include <charconv>
#include <string>
#include <string_view>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/daemon/routes.h"
#include "tests/control/daemon/running_lab_fixture.h"

namespace railyard::daemon {
namespace {

using testing::HasSubstr;

// Two hosts send to one, more than its link carries: PFC pauses them.
class LiveMetrics : public RunningLabFixture {
 protected:
  LiveMetrics()
      : RunningLabFixture(R"(name: x
nodes: { leaf1: { kind: switch }, h1: { kind: host }, h2: { kind: host }, h3: { kind: host } }
links: [[h1:1, leaf1:1], [h2:1, leaf1:2], [h3:1, leaf1:3]]
qos: { default: { classes: { 3: { lossless: true, xoff: 64KiB, ecn: off } } } }
traffic: [ { name: incast, pattern: incast, from: [h2, h3], to: h1, dscp: 26 } ]
run: { clock: wall, memory: 256MiB, scale: 1/100, deadlock: 1ms }
)") {}

  std::string text() { return public_route(*lab_, {"GET", "/metrics", nullptr}).text; }
  // Of the samples of a family that have `label`, together.
  double sum(const std::string& family, std::string_view label = "") {
    double all = 0;
    const std::string t = text();
    for (std::size_t at = 0; (at = t.find("\n" + family, at)) != t.npos; ++at) {
      const std::size_t end = t.find('\n', at + 1);
      const std::string line = t.substr(at + 1, end - at - 1);
      if (line.find(label) == line.npos) continue;
      const std::size_t space = line.rfind(' ');
      double value = 0;
      std::from_chars(line.data() + space + 1, line.data() + line.size(), value);
      all += value;
    }
    return all;
  }
  void wait_for(const std::string& family, std::string_view label = "") {
    while (sum(family, label) <= 0) std::this_thread::yield();
  }
};

TEST_F(LiveMetrics, APauseHasATimeWhileTheLabRuns) {
  wait_for("railyard_pfc_frames_total{", "direction=\"received\",kind=\"xoff\"");
  wait_for("railyard_pfc_pause_seconds_total{", "host=\"h2\"");
  // Hosts 2 and 3 share what host 1 receives: each is paused for some of the time, and nobody for longer than there was.
  const double paused = sum("railyard_pfc_pause_seconds_total{", "host=\"h2\"");
  EXPECT_LE(paused, sum("railyard_simulated_seconds_total "));
  EXPECT_EQ(sum("railyard_pfc_pause_seconds_total{", "host=\"h1\""), 0) << "nobody pauses who only receives";
}

TEST_F(LiveMetrics, ABufferInUseHasALevel) {
  wait_for("railyard_buffer_used_bytes{", "switch=\"leaf1\"");
  EXPECT_LT(sum("railyard_buffer_used_bytes{"), 64e6);
}

TEST_F(LiveMetrics, FlowsAreInSums) {
  wait_for("railyard_flow_delivered_bytes_total{");
  wait_for("railyard_packet_latency_seconds_count{");
  const std::string t = text();
  EXPECT_THAT(t, HasSubstr("railyard_flows{transport=\"none\",class=\"3\",state=\"active\"} 2\n"));
  EXPECT_THAT(t, HasSubstr("\nrailyard_deadlocks_standing 0\n"));
  EXPECT_THAT(t, HasSubstr("\nrailyard_routing_at_rest 1\n"));
}

// As a fault does it: nobody asked for the link to go down.
TEST_F(LiveMetrics, ALinkThatAFaultTakesDownIsDown) {
  ask("POST", "/faults", {{"fault", "on: leaf1:1, down: true"}});
  while (text().find("railyard_port_up{switch=\"leaf1\",port=\"1\"} 0\n") == std::string::npos) std::this_thread::yield();
  EXPECT_THAT(text(), HasSubstr("railyard_port_up{host=\"h1\",port=\"1\"} 0\n"));
  EXPECT_THAT(text(), HasSubstr("railyard_port_up{switch=\"leaf1\",port=\"2\"} 1\n"));
}

}  // namespace
}  // namespace railyard::daemon
