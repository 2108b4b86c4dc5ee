// How much of what flows offer is accepted, and what it takes until the first packet of one is there.
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "control/report/report.h"
#include "control/report/summary.h"
#include "control/routing/path_times.h"
#include "control/spec/load.h"
#include "dataplane/run/virtual_clock.h"

namespace railyard::report {
namespace {

using namespace literals;

spec::Lab lab_offered(const std::string& traffic, const std::vector<std::string>& sets = {}) {
  return spec::parse("name: x\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 2 }\n"
                     "traffic: [ { name: t, " + traffic + " } ]\n",
                     "x.yaml", sets);
}

Report run_offered(const std::string& traffic, const std::vector<std::string>& sets = {}) {
  build::BuiltLab lab(lab_offered(traffic, sets));
  Engine engine(lab.fabric(), {});
  engine.wake_all();
  run_virtual(engine, Instant{} + 20_ms);
  engine.settle(Instant{} + 20_ms);
  return collect(lab, {});
}

std::map<std::string, double> figures_of(const Report& r) {
  std::map<std::string, double> figures;
  for (const Figure& f : summary(r)) figures[f.name] = f.value;
  return figures;
}

constexpr const char* kMessages[] = {"transport: roce, message: 1MB",
                                     "transport: roce, message: 1MB, operation: send, qps: 2",
                                     "transport: roce, message: 1MB, operation: read",
                                     "transport: roce, message: 1MB, qp-type: uc",
                                     "transport: roce, message: 999999B",
                                     "transport: uet, message: 1MB, qps: 2",
                                     "transport: uet, message: 1MB, service: rod",
                                     "transport: uet, message: 4096B, service: uud, outstanding: 64"};

TEST(Offered, AllOfItIsAcceptedWhereThereIsRoom) {
  for (const char* how : kMessages) {
    const auto figures = figures_of(run_offered("from: h1, to: h3, bytes: 16MB, rate: 25Gbps, " + std::string(how)));
    EXPECT_NEAR(figures.at("accepted"), 1, 0.002) << how;
  }
  // 4000 frames: the last one is late by a gap at most.
  EXPECT_NEAR(figures_of(run_offered("from: h1, to: h3, bytes: 16384000B, rate: 25Gbps")).at("accepted"), 1, 0.001);
}

// A lossless class pauses them: nothing is lost, and two thirds get through.
TEST(Offered, WhereSendersArePausedLessIsAccepted) {
  const Report r = run_offered("pattern: incast, from: [h2, h3], to: h1, bytes: 16MB, rate: 75Gbps, transport: roce",
                               {"hosts.default.roce.congestion=none"});
  const auto figures = figures_of(r);
  EXPECT_NEAR(figures.at("accepted"), 100.0 / 150, 0.02);
  EXPECT_EQ(figures.at("lost"), 0);
}

// 40 Gb/s for 1 ms of 4: 10 Gb/s offered, of which headers leave 98 %. A run of 10 ms has three bursts: 12 Gb/s.
TEST(Offered, OfBurstsIsTheirMean) {
  const std::string bursts = "from: h1, to: h2, rate: 40Gbps, on: 1ms, off: 3ms";
  for (const auto& [stop, mean] : {std::pair{"20ms", 10e9}, {"10ms", 12e9}}) {
    const Report r = run_offered(bursts + ", stop: " + stop);
    const FlowReport& f = r.flows.at(0);
    const double efficiency = 4096.0 / (4096 + 62 + 20);
    EXPECT_NEAR(f.offered_bps, mean * efficiency, 1e-3 * mean) << stop;
    EXPECT_NEAR(*f.goodput_bps(), mean * efficiency, 2e-3 * mean) << stop;
    EXPECT_NEAR(*f.share(), 1, 0.002) << stop;
    EXPECT_NEAR(figures_of(r).at("accepted"), 1, 0.002) << stop;
    EXPECT_NEAR(figures_of(r).at("delivered"), 1, 0.002) << stop;
  }
  // 8 MB are one burst of 4.9 MB, a silence, and the rest.
  const FlowReport f = run_offered(bursts + ", bytes: 8MB").flows.at(0);
  ASSERT_TRUE(f.fct_ns && f.slowdown());
  EXPECT_NEAR(static_cast<double>(*f.ideal_ns), 3e6 + 8e6 * 8 / 40.0 * 4178 / 4096, 10e3);
  EXPECT_NEAR(*f.slowdown(), 1, 0.002);
}

TEST(Offered, WhoSendsAsFastAsItCanOffersNothingThatIsKnown) {
  EXPECT_EQ(figures_of(run_offered("from: h1, to: h3, bytes: 1MB, transport: roce")).count("accepted"), 0u);
}

// A QP's first packet goes when REQ and REP have gone there and back, a PDC's at once. Ethernet 18, IPv4 20, UDP 8, BTH
// 12, DETH 8, MAD 256, ICRC 4.
TEST(Initiation, OfAQpIsAHandshakeLongerThanOfAPdc) {
  for (const char* how : kMessages) {
    const Report r = run_offered("from: h1, to: h3, bytes: 4MB, " + std::string(how));
    const FlowReport& f = r.flows.at(0);
    ASSERT_TRUE(f.first_packet_ns && f.initiation_ns()) << how;
    EXPECT_EQ(figures_of(r).at("initiation_p50"), static_cast<double>(*f.initiation_ns()));
    if (f.uet) {
      EXPECT_FALSE(f.handshake_ns) << how;
      EXPECT_EQ(*f.initiation_ns(), *f.first_packet_ns);
      continue;
    }
    const spec::Lab lab = lab_offered("from: h1, to: h3, bytes: 1MB");
    routing::PathTimes times(lab);
    const Duration there = *times.one_way({"h1", 1}, {"h3", 1}, 326);
    EXPECT_EQ(*f.handshake_ns, nanoseconds(there * 2)) << how;
    EXPECT_EQ(*f.initiation_ns(), *f.first_packet_ns + *f.handshake_ns);
  }
  const Report generated = run_offered("from: h1, to: h3, bytes: 4096000B");
  EXPECT_FALSE(generated.flows.at(0).initiation_ns()) << "nothing is set up";
}

}  // namespace
}  // namespace railyard::report
