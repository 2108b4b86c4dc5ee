// Shares of time and mean rates of a run are over the time until its traffic ends, whatever runs on after that.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "control/lab/session.h"
#include "control/report/summary.h"
#include "control/spec/load.h"
#include "control/telemetry/traffic_end.h"

namespace railyard::lab {
namespace {

using namespace literals;

// The least time between two devices with short cables, ns; and a little more.
constexpr double kWindow = 700;

report::Report run(const std::string& yaml, const std::vector<std::string>& overrides = {},
                   SessionOptions options = {}) {
  const std::atomic<bool> stop{false};
  return Session(spec::parse(yaml, "x.yaml", overrides), std::move(options)).run(stop);
}

const report::PortReport& port(const report::Report& r, const std::string& node, int number) {
  return *std::ranges::find_if(r.ports, [&](const auto& p) { return p.node == node && p.port == number; });
}

double figure(const report::Report& r, const std::string& name) {
  for (const report::Figure& f : report::summary(r))
    if (f.name == name) return f.value;
  return -1;
}

std::string one_leaf(int hosts, const std::string& traffic, const std::string& more = "") {
  return "name: x\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: " + std::to_string(hosts) +
         " }\nqos: { default: { classes: { 3: { lossless: true, xoff: 100KB, ecn: off } } } }\n"
         "defaults: { link: { rate: 100Gbps, cable: 3m } }\n" +
         traffic + more;
}

// Two senders at line rate into one link: each is paused for half of the time that there is traffic, 4.95 ms.
std::string steady(const std::string& transport, const std::string& run) {
  return one_leaf(3, "traffic: [ { name: t, pattern: incast, from: [h1, h2], to: h3, " + transport + " } ]\n", run);
}
const std::string kRoce = "transport: roce, message: 1MB, outstanding: 4, bytes: 30MB";

TEST(LoadInterval, EndsWithTheLastFlow) {
  for (const std::string& lab :
       {steady(kRoce, ""), steady(kRoce, "run: { drain: 30ms }\n"), steady(kRoce, "run: { duration: 40ms }\n"),
        steady("transport: uet, message: 1MB, outstanding: 4, bytes: 30MB", ""), steady("bytes: 30MB", ""),
        steady("bytes: 30MB, stop: 20ms", "run: { duration: 40ms }\n")}) {
    SCOPED_TRACE(lab);
    const report::Report r = run(lab);
    const auto end = static_cast<std::int64_t>(figure(r, "makespan"));
    EXPECT_EQ(r.load.from_ns, 0);
    EXPECT_GE(r.load.to_ns, end);
    EXPECT_LE(r.load.to_ns, end + r.engine.window_ps / 1000 + 1) << "and a delay of the shortest link";
    EXPECT_GT(port(r, "leaf1", 3).utilisation, 0.97);
    EXPECT_GT(figure(r, "max_utilisation"), 0.97);
    ASSERT_TRUE(r.steady_pauses);
    EXPECT_EQ(r.steady_pauses->to_ns, r.load.to_ns);
    if (figure(r, "xoff_sent") == 0) continue;  // UET has its own congestion control
    EXPECT_NEAR(r.steady_pauses->share, 0.5, 0.06);
    EXPECT_NEAR(port(r, "h1", 1).pause_share[3], 0.5, 0.06);
  }
}

TEST(LoadInterval, EndsWhenFlowsAreNoLongerOffered) {
  const report::Report r =
      run(steady("transport: roce, message: 1MB, outstanding: 4, stop: 5ms", "run: { duration: 40ms }\n"));
  EXPECT_NEAR(static_cast<double>(r.load.to_ns), 5e6, kWindow);
  ASSERT_TRUE(r.steady_pauses);
  EXPECT_NEAR(r.steady_pauses->share, 0.5, 0.06);
  EXPECT_GT(port(r, "leaf1", 3).utilisation, 0.97);
  // Nothing happens at the stop: the sender is between two frames a millisecond apart.
  const report::Report slow = run(one_leaf(
      2, "traffic: [ { name: t, from: h1, to: h2, rate: 32Mbps, stop: 5500us } ]\n", "run: { duration: 40ms }\n"));
  EXPECT_NEAR(static_cast<double>(slow.load.to_ns), 5.5e6, kWindow);
}

// A tenth of the run is more than there is traffic: the steady state begins earlier.
TEST(LoadInterval, OfTrafficThatEndsEarlyHasASteadyState) {
  const report::Report r = run(steady(kRoce, "run: { duration: 90ms }\n"));
  ASSERT_TRUE(r.steady_pauses);
  EXPECT_EQ(r.steady_pauses->from_ns, 1'000'000);
  EXPECT_NEAR(r.steady_pauses->share, 0.5, 0.06);
  EXPECT_FALSE(run(steady(kRoce, "run: { duration: 90ms, budgets: { warm-up: 9ms } }\n")).steady_pauses)
      << "as asked for";
}

TEST(LoadInterval, OfACollectiveIsUntilItsResult) {
  const report::Report r =
      run("name: x\ntopology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 2 }\n"
          "defaults: { link: { rate: 100Gbps, cable: 3m } }\n"
          "collectives: [ { name: c, collective: all-reduce, size: 8MB, repeats: 3 } ]\nrun: { drain: 1ms }\n");
  EXPECT_GT(figure(r, "max_utilisation"), r.collectives[0].busbw_bps / 100e9);
  const auto& last = r.collectives[0].iterations.back();
  EXPECT_NEAR(static_cast<double>(r.load.to_ns), static_cast<double>(last.start_ns + *last.time_ns), kWindow);
}

// What a lossy class drops of a generator's flow never completes: the flow ends when its last frame has gone.
TEST(LoadInterval, OfFlowsThatLoseIsUntilTheLastFrameWasSent) {
  const report::Report r = run(steady("dscp: 0, bytes: 30MB", "run: { duration: 40ms }\n"));
  EXPECT_GT(figure(r, "drops"), 0);
  EXPECT_NEAR(static_cast<double>(r.load.to_ns), 30e6 * 8 * 1.02 / 100, 0.01e6);
  const report::Report uud = run(steady("dscp: 0, bytes: 30MB, transport: uet, service: uud, message: 4KB", ""));
  EXPECT_GT(figure(uud, "lost"), 0);
  EXPECT_LT(uud.load.to_ns, 4'000'000);
}

TEST(LoadInterval, EndsWhenTheLastFlowFails) {
  const report::Report r = run(one_leaf(3,
                                        "hosts: { default: { roce: { ack-timeout: 8, retry-count: 2 } } }\n"
                                        "traffic: [ { name: t, from: h1, to: h2, transport: roce, message: 1MB, "
                                        "bytes: 10MB } ]\nfaults: [ { on: \"h2:1\", at: 100us, down: true } ]\n",
                                        "run: { duration: 30ms }\n"));
  ASSERT_TRUE(r.flows[0].roce->failed_ns);
  EXPECT_NEAR(static_cast<double>(r.load.to_ns), static_cast<double>(*r.flows[0].roce->failed_ns), kWindow);
}

// It ends with the flow that another has started, and not before; one whose trigger nothing fires does not hold it up.
TEST(LoadInterval, WaitsForFlowsThatAreFiredOnly) {
  const auto lab = [](const std::string& more) {
    return one_leaf(4, "traffic: [ { name: t, transport: roce, message: 1MB, pattern: file, file: " + more + " } ]\n");
  };
  const std::string file = testing::TempDir() + "/load_interval.cm";
  const auto write = [&](const std::string& text) {
    std::FILE* f = std::fopen(file.c_str(), "w");
    std::fputs(text.c_str(), f);
    std::fclose(f);
  };
  write(
      "Nodes 3\nConnections 2\nTriggers 1\n0->1 id 1 start 0 size 1000000 recv_done_trigger 1\n"
      "1->2 id 2 trigger 1 size 1000000\ntrigger id 1 oneshot\n");
  const report::Report chain = run(lab(file));
  EXPECT_GT(figure(chain, "completed"), 0.99);
  EXPECT_GE(static_cast<double>(chain.load.to_ns), figure(chain, "makespan"));
  EXPECT_LE(static_cast<double>(chain.load.to_ns), figure(chain, "makespan") + kWindow);
  write(
      "Nodes 3\nConnections 2\nTriggers 1\n0->1 id 1 trigger 1 size 1000000\n1->2 id 2 start 0 size 1000000\n"
      "trigger id 1 oneshot\n");
  const report::Report never = run(lab(file));
  EXPECT_NEAR(static_cast<double>(never.load.to_ns), figure(never, "makespan"), kWindow);
}

TEST(LoadInterval, EndsWithRunDurationAtTheLatest) {
  const report::Report r =
      run(steady("transport: roce, message: 1MB, outstanding: 4", "run: { duration: 3ms, drain: 5ms }\n"));
  EXPECT_EQ(r.load.to_ns, 3'000'000);
  EXPECT_GT(port(r, "leaf1", 3).utilisation, 0.97);
}

// What is attached may send at any time.
TEST(LoadInterval, IsTheWholeRunWhereSomebodyOutsideMaySend) {
  const auto known = [](const std::string& more) {
    build::BuiltLab lab(
        spec::parse(one_leaf(3, "traffic: [ { name: t, from: h1, to: h2, bytes: 1MB } ]\n", more), "x"));
    return telemetry::TrafficEnd(lab).is_known();
  };
  EXPECT_TRUE(known(""));
  EXPECT_FALSE(known("nodes: { h3: { attach: { tap: ry0 } } }\nrun: { clock: wall, duration: 1ms }\n"));
}

TEST(LoadInterval, IsTheSameOnAnyNumberOfWorkersInAnySlicesAndWhoeverLooks) {
  const std::string lab = steady(kRoce, "run: { duration: 40ms }\n");
  const report::Report one = run(lab);
  std::vector<report::Report> others;
  others.push_back(run(lab, {"run.workers=2"}));
  SessionOptions sliced;
  sliced.variation.slices = sliced.variation.shuffle = Seed{5};
  others.push_back(run(lab, {}, sliced));
  SessionOptions watched;
  watched.transients = true;
  others.push_back(run(lab, {}, watched));
  for (const report::Report& r : others) {
    EXPECT_EQ(r.load.to_ns, one.load.to_ns);
    EXPECT_EQ(r.steady_pauses->share, one.steady_pauses->share);
    for (std::size_t p = 0; p < r.ports.size(); ++p) {
      EXPECT_EQ(r.ports[p].utilisation, one.ports[p].utilisation);
      EXPECT_EQ(r.ports[p].pause_share, one.ports[p].pause_share);
    }
  }
}

}  // namespace
}  // namespace railyard::lab
