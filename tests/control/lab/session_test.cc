// A lab from its spec to its report.
#include "control/lab/session.h"

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "control/lab/version.h"
#include "control/spec/load.h"
#include "dataplane/port/pcap_file.h"
#include "dataplane/run/virtual_clock.h"

namespace railyard::lab {
namespace {

namespace fs = std::filesystem;
using namespace literals;

//   h1..h3 at leaf1, h4..h6 at leaf2, two spines; h4 to h6 send to h1.
const std::string kIncast = R"(name: incast
topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 3 }
traffic: [ { name: t, pattern: incast, from: [h4, h5, h6], to: h1, rate: 60Gbps } ]
run: { duration: 100us, memory: 256MiB }
)";

spec::Lab incast(const std::vector<std::string>& overrides = {}) {
  return spec::parse(kIncast, "incast.yaml", overrides);
}

report::Report run(spec::Lab lab, SessionOptions options = {}) {
  const std::atomic<bool> stop{false};
  return Session(std::move(lab), std::move(options)).run(stop);
}

TEST(Session, SaysWhatItRan) {
  SessionOptions options;
  options.spec_file = "incast.yaml";
  const report::Report r = run(incast({"run.seed=7", "run.workers=2"}), options);
  EXPECT_EQ(r.run.spec, "incast.yaml");
  EXPECT_EQ(r.run.name, "incast");
  EXPECT_EQ(r.run.seed, 7u);
  EXPECT_EQ(r.run.clock, "virtual");
  EXPECT_EQ(r.run.version, version());
  EXPECT_EQ(r.run.workers, 2);
  EXPECT_EQ(r.run.payload, "elided");
  EXPECT_FALSE(r.trace_digest.has_value());
}

TEST(Session, EndsWhenWhatWasSentInTheDurationHasArrived) {
  const report::Report r = run(incast());
  EXPECT_TRUE(r.audit.balanced);
  EXPECT_TRUE(r.audit.drained);
  EXPECT_GE(r.engine.simulated_seconds, 100e-6);
  EXPECT_LE(r.engine.simulated_seconds, 1100e-6);  // the duration and the longest drain
  EXPECT_GT(r.flows[0].packets, 100u);
}

TEST(Session, EndsAtTheLatestWithTheDrain) {
  const report::Report r = run(incast({"run.drain=1us"}));
  EXPECT_NEAR(r.engine.simulated_seconds, 101e-6, 1e-12);
  EXPECT_FALSE(r.audit.drained);
  EXPECT_TRUE(r.audit.balanced);
  for (const report::FlowReport& f : r.flows) EXPECT_EQ(f.lost, 0u) << "what is in the fabric is not lost";
}

TEST(Session, WithoutADurationEndsWithItsFlows) {
  const report::Report r = run(incast({"run.duration=", "traffic.t.bytes=40960B"}));
  EXPECT_EQ(r.flows.size(), 3u);
  for (const report::FlowReport& f : r.flows) EXPECT_TRUE(f.fct_ns.has_value());
  EXPECT_TRUE(r.audit.drained);
}

// What waits for credits is not paused.
TEST(Session, ATreeOfCreditsIsNotCalledPfc) {
  const std::string text =
      run(spec::parse("name: cbfc\nqos: { default: { classes: { 3: { lossless: true, cbfc: on } } } }\n"
                      "topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 3 }\n"
                      "hosts: { default: {}, slow: { receive: { rate: 20Gbps } } }\nnodes: { h2: { kind: host, "
                      "profile: slow } }\n"
                      "defaults: { link: { rate: 100Gbps, cable: 3m } }\n"
                      "traffic: [ { name: a, pattern: incast, from: [h1, h3], to: h2, rate: 50Gbps } ]\n"
                      "run: { duration: 1ms, drain: 3ms }\n",
                      "cbfc.yaml"))
          .text();
  EXPECT_NE(text.find("CBFC credit tree at its widest"), text.npos);
  EXPECT_NE(text.find("then the ports it held back"), text.npos);
  EXPECT_EQ(text.find("PFC pause tree"), text.npos);
}

TEST(Session, UtilisationIsOfTheDuration) {
  const report::Report r = run(incast());
  for (const report::PortReport& p : r.ports)
    if (p.node == "leaf1" && p.port == 1) {
      EXPECT_GT(p.utilisation, 0.9);
    }
}

TEST(Session, ToldToStopEndsWithTheReportSoFar) {
  std::atomic<bool> stop{false};
  SessionOptions options;
  options.progress = [&](Instant, Instant) { stop = true; };
  Session session(incast({"run.duration=10ms"}), options);
  const report::Report r = session.run(stop);
  EXPECT_GT(r.engine.simulated_seconds, 0);
  EXPECT_LT(r.engine.simulated_seconds, 10e-3);
  EXPECT_TRUE(r.audit.balanced);
  EXPECT_TRUE(r.run.interrupted);
  // Whoever goes on afterwards finds nothing of the run that is gone: its counters at the end of traffic were still to
  // be taken.
  run_virtual(session.engine(), Instant{} + 11_ms);
  EXPECT_GT(session.engine().reached(), Instant{} + 10_ms);
}

TEST(Session, ToldToStopWhenAllIsDoneWasNotInterrupted) {
  std::atomic<bool> stop{false};
  SessionOptions options;
  Session* running = nullptr;
  options.progress = [&](Instant, Instant) { stop = running->engine().next() == Instant::never(); };
  Session session(incast({"run.duration=1ms", "run.drain=10ms"}), options);
  running = &session;
  const report::Report r = session.run(stop);
  EXPECT_TRUE(stop);
  EXPECT_LT(r.engine.simulated_seconds, 11e-3);
  EXPECT_FALSE(r.run.interrupted);
}

TEST(Session, TellsWhenItIsReadyAndHowFarItIs) {
  bool ready = false;
  Instant last{};
  SessionOptions options;
  options.ready = [&] { ready = true; };
  options.progress = [&](Instant at, Instant end) {
    EXPECT_TRUE(ready);
    EXPECT_GE(at, last);
    EXPECT_EQ(end, Instant{} + 1_ms);
    last = at;
  };
  run(incast({"run.duration=1ms"}), options);
  EXPECT_GT(last, Instant{});
}

TEST(Session, HasTheSameDigestWhateverRunsAndWatchesIt) {
  const fs::path file = fs::path(testing::TempDir()) / ("session_test." + std::to_string(getpid()) + ".pcapng");
  SessionOptions options;
  options.digest = true;
  const auto digest = run(incast(), options).trace_digest;
  ASSERT_TRUE(digest.has_value());
  EXPECT_EQ(run(incast({"run.workers=2"}), options).trace_digest, digest);
  EXPECT_EQ(run(incast({"run.clock=wall"}), options).trace_digest, digest);
  EXPECT_NE(run(incast({"run.seed=2"}), options).trace_digest, digest);
  options.captures = {{{"leaf1", 1}, file, CaptureDirection::kBoth}};
  EXPECT_EQ(run(incast(), options).trace_digest, digest);
  EXPECT_GT(read_pcap(file)->size(), 100u);
  fs::remove(file);
}

TEST(Session, UnderTheWallClockTellsHowLateItWas) {
  const report::Report r = run(incast({"run.clock=wall", "run.scale=1/10"}));
  EXPECT_EQ(r.run.clock, "wall");
  EXPECT_EQ(r.run.scale, "1/10");
  EXPECT_TRUE(r.engine.lateness_ns.has_value());
  EXPECT_FALSE(run(incast()).engine.lateness_ns.has_value());
}

}  // namespace
}  // namespace railyard::lab
