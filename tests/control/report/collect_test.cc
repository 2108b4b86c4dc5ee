// From the counters of a lab that has run to its report.
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "control/report/report.h"
#include "control/spec/load.h"
#include "dataplane/run/virtual_clock.h"

namespace railyard::report {
namespace {

using namespace literals;

// Three hosts at one switch; 100 Gb/s, 3 m.
class RunOf {
 public:
  explicit RunOf(const std::string& traffic, const std::vector<std::string>& overrides = {})
      : lab_(spec::parse(
            "name: x\ntopology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 3 }\n"
            "hosts: { default: { clock-error: 0 } }\ntraffic: [ { name: t, " +
                traffic + " } ]\n",
            "x.yaml", overrides)),
        engine_(lab_.fabric(), {}) {}

  Report until(Duration t, const Snapshot& loaded = {}) {
    run_virtual(engine_, Instant{} + t);
    engine_.settle(Instant{} + t);
    return collect(lab_, loaded);
  }
  build::BuiltLab& lab() { return lab_; }

 private:
  build::BuiltLab lab_;
  Engine engine_;
};

const PortReport& port(const Report& r, const std::string& node, int number) {
  for (const PortReport& p : r.ports)
    if (p.node == node && p.port == number) return p;
  throw std::out_of_range(node);
}

TEST(Collect, AFlowThatIsDoneHasItsCompletionTimeAndItsGoodput) {
  RunOf run("from: h2, to: h1, bytes: 409600B, start: 5us");
  const Report r = run.until(1_ms);
  ASSERT_EQ(r.flows.size(), 1u);
  const FlowReport& f = r.flows[0];
  EXPECT_EQ(f.source, "h2");
  EXPECT_EQ(f.destination, "h1");
  EXPECT_EQ(f.packets, 100u);
  EXPECT_EQ(f.bytes, 409'600u);
  EXPECT_EQ(f.delivered_packets, 100u);
  EXPECT_EQ(f.lost, 0u);
  EXPECT_EQ(f.start_ns, 5000);
  // 100 frames of 4096 + 62 octets with 20 of preamble and gap, at 100 Gb/s: 33.4 us, and one frame's way through
  // the switch: less than 3 us more.
  ASSERT_TRUE(f.fct_ns.has_value());
  EXPECT_GE(*f.fct_ns, 33'400);
  EXPECT_LE(*f.fct_ns, 36'400);
  EXPECT_NEAR(*f.goodput_bps(), 409'600 * 8 / (static_cast<double>(*f.fct_ns) * 1e-9), 1e7);
  EXPECT_LE(f.latency_ns.p50, f.latency_ns.max);
  EXPECT_GT(f.latency_ns.p50, 1000u);
}

TEST(Collect, AFlowOnItsWayHasFramesInFlightAndLosesNone) {
  RunOf run("from: [h2, h3], to: h1, bytes: 409600B");
  const Report r = run.until(20_us);
  for (const FlowReport& f : r.flows) {
    EXPECT_GT(f.in_flight, 0u);
    EXPECT_EQ(f.packets, f.delivered_packets + f.in_flight);
    EXPECT_EQ(f.lost, 0u);
    EXPECT_FALSE(f.fct_ns.has_value());
  }
  EXPECT_TRUE(r.audit.balanced);
  EXPECT_FALSE(r.audit.drained);
  EXPECT_GT(r.audit.queued + r.audit.on_the_wire, 0u);
}

TEST(Collect, WhatASwitchDropsIsLostToItsFlows) {
  RunOf run("pattern: incast, from: [h2, h3], to: h1, dscp: 8, bytes: 4MiB", {"switches.default.buffer=1MiB"});
  const Report r = run.until(10_ms);
  std::uint64_t lost = 0;
  for (const FlowReport& f : r.flows) lost += f.lost;
  EXPECT_GT(lost, 0u);
  EXPECT_EQ(r.audit.dropped, lost);
  std::uint64_t refused = 0;  // at the senders' ports or at the receiver's queue
  for (int p = 1; p <= 3; ++p)
    for (const std::uint64_t n : port(r, "leaf1", p).counters.classes[1].drops) refused += n;
  EXPECT_EQ(refused, lost);
  EXPECT_TRUE(r.audit.balanced);
  EXPECT_TRUE(r.audit.drained);
}

TEST(Collect, HopsAreWhatTheSwitchesSent) {
  RunOf run("from: h2, to: h1, bytes: 409600B");
  const Report r = run.until(1_ms);
  EXPECT_EQ(r.engine.packet_hops, 100u);
  EXPECT_EQ(r.audit.generated, 100u);
  EXPECT_EQ(r.audit.consumed, 100u);
}

TEST(Collect, PortsHaveTheirPeersAndRates) {
  RunOf run("from: h2, to: h1, bytes: 4096B");
  const Report r = run.until(1_ms);
  EXPECT_EQ(r.ports.size(), 6u);
  const PortReport& p = port(r, "leaf1", 2);
  EXPECT_EQ(p.peer, "h2:1");
  EXPECT_TRUE(p.is_switch);
  EXPECT_EQ(p.rate_bps, 100'000'000'000);
  EXPECT_EQ(p.counters.rx_packets(), 1u);
  EXPECT_FALSE(port(r, "h2", 1).is_switch);
}

TEST(Collect, UtilisationIsOfTheTimeUnderLoad) {
  RunOf run("from: h2, to: h1, stop: 100us");
  Snapshot loaded(run.lab().fabric().size());
  for (const auto& d : run.lab().fabric().devices())
    d->snapshot_at(Instant{} + 100_us,
                   [&loaded, id = d->id()](DeviceCounters c) { loaded[id.index()] = std::move(c); });
  const Report r = run.until(1_ms, loaded);
  EXPECT_GT(port(r, "h2", 1).utilisation, 0.99);
  EXPECT_LE(port(r, "h2", 1).utilisation, 1.01);
  EXPECT_NEAR(port(collect(run.lab(), {}), "h2", 1).utilisation, 0.1, 0.01);  // of the whole run
}

TEST(Collect, AFlowToAnAttachedHostIsNotMeasuredThere) {
  RunOf run("from: h2, to: h1, bytes: 4096B", {"nodes.h1.attach.pcap.out=/dev/null"});
  const Report r = run.until(1_ms);
  EXPECT_FALSE(r.flows[0].measured);
  EXPECT_EQ(r.flows[0].packets, 1u);
  EXPECT_EQ(r.flows[0].lost, 0u);
}

TEST(Percentiles, AreNanosecondsOfPicoseconds) {
  Histogram h;
  for (int i = 0; i < 1000; ++i) h.record(2'000'000);
  const Percentiles p = Percentiles::of(h);
  EXPECT_NEAR(static_cast<double>(p.p50), 2000, 20);
  EXPECT_EQ(p.max, 2000u);
}

}  // namespace
}  // namespace railyard::report
