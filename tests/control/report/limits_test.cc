// What a flow could reach: framing, the way's time on an empty fabric, and a run that reaches both.
#include <gtest/gtest.h>

#include "control/report/framing.h"
#include "control/routing/path_times.h"
#include "control/report/report.h"
#include "control/spec/load.h"
#include "dataplane/run/virtual_clock.h"

namespace railyard::report {
namespace {

using namespace literals;

spec::Lab lab_with(const std::string& traffic, const std::string& more = "") {
  return spec::parse("name: x\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 2 }\n" + more +
                         "\ntraffic: [ { name: t, " + traffic + " } ]\n",
                     "x.yaml");
}

// 82 octets around 4096 of payload: Ethernet 18, IPv4 20, UDP 8, BTH 12, ICRC 4, preamble and gap 20. What
// benchmark-methodology §5 gives: 98.0 % at 4096, 92.6 % at 1024, 86.2 % at 512, 75.7 % at 256.
TEST(Framing, LeavesWhatTheMethodologySays) {
  spec::TrafficSpec t;
  for (const auto& [payload, efficiency] :
       {std::pair{4096u, 0.980}, std::pair{1024u, 0.926}, std::pair{512u, 0.862}, std::pair{256u, 0.757}}) {
    t.payload = payload;
    EXPECT_NEAR(framing_efficiency(t, {}, false), efficiency, 5e-4) << payload;
  }
  t.ip_version = 6;
  EXPECT_DOUBLE_EQ(framing_efficiency(t, {}, false), 256.0 / (256 + 102));
}

// One message of 10000 octets at path MTU 4096: three packets, and a RETH of 16 in the first of a WRITE; READ responses
// have an AETH of 4 in the first and the last.
TEST(Framing, CountsTheHeadersOfMessages) {
  spec::TrafficSpec t;
  t.transport = spec::TrafficSpec::Transport::kRoce;
  t.roce.message = 10'000;
  EXPECT_DOUBLE_EQ(framing_efficiency(t, 10'000_B, false), 10'000.0 / (10'000 + 3 * 82 + 16));
  t.roce.operation = spec::RoceOperation::kSend;
  EXPECT_DOUBLE_EQ(framing_efficiency(t, 10'000_B, false), 10'000.0 / (10'000 + 3 * 82));
  t.roce.operation = spec::RoceOperation::kRead;
  EXPECT_DOUBLE_EQ(framing_efficiency(t, 10'000_B, false), 10'000.0 / (10'000 + 3 * 82 + 8));
  // Two whole messages and one of an octet, which is padded to four.
  t.roce.operation = spec::RoceOperation::kWrite;
  EXPECT_DOUBLE_EQ(framing_efficiency(t, 20'001_B, false), 20'001.0 / (2 * (10'000 + 3 * 82 + 16) + 4 + 82 + 16));
  EXPECT_EQ(last_frame_octets(t, 20'001_B, false), 4 + 62);
  EXPECT_EQ(last_frame_octets(t, 20'000_B, false), 10'000 - 2 * 4096 + 62);
}

// MACsec's 32 octets more on the wire; a model's frame of 64 octets around its payload.
TEST(Framing, OfTheLinkCounts) {
  spec::TrafficSpec t;
  t.payload = 4096;
  EXPECT_DOUBLE_EQ(framing_efficiency(t, {}, false, {}, {40, 12}), 4096.0 / (4096 + 82 + 32));
  t.transport = spec::TrafficSpec::Transport::kUet;
  t.roce.message = 4096;
  EXPECT_DOUBLE_EQ(framing_efficiency(t, 4096_B, false, {}, {-42, 0}), 4096.0 / (4096 + 64));
}

// Around 4096 octets of UET: Ethernet 18, IPv4 20, UDP 8, PDS 12, SES 44, CRC 4, preamble and gap 20; without UDP an
// entropy header of 4, and the CRC may not be there.
TEST(Framing, CountsWhatUetIsPutInto) {
  spec::TrafficSpec t;
  t.transport = spec::TrafficSpec::Transport::kUet;
  t.roce.message = 4096;
  spec::UetNicSpec nic;
  EXPECT_DOUBLE_EQ(framing_efficiency(t, 4096_B, false, nic), 4096.0 / (4096 + 126));
  EXPECT_EQ(last_frame_octets(t, 4096_B, false, nic), 4096 + 106);
  nic.crc = false;
  EXPECT_DOUBLE_EQ(framing_efficiency(t, 4096_B, false, nic), 4096.0 / (4096 + 122));
  nic.udp = false;
  EXPECT_DOUBLE_EQ(framing_efficiency(t, 4096_B, false, nic), 4096.0 / (4096 + 118));
  EXPECT_EQ(last_frame_octets(t, 4096_B, false, nic), 4096 + 98);
}

// Host 600 ns, switches 600 ns each, cables of 3 m 15 ns, and 1000 octets with a preamble of 8 stored at each of h1 and
// three switches: 80.64 ns each time at 100 Gb/s.
TEST(PathTimes, AddUpALeafSpineLeafPath) {
  const spec::Lab lab = lab_with("from: h1, to: h3, bytes: 1MB", "defaults: { link: { rate: 100Gbps, cable: 3m } }");
  routing::PathTimes times(lab);
  EXPECT_EQ(times.rate({"h1", 1}), 100_Gbps);
  const auto far = times.one_way({"h1", 1}, {"h3", 1}, 1000);
  ASSERT_TRUE(far);
  EXPECT_NEAR(static_cast<double>(far->ps), 4 * 80'640 + 4 * 600'000 + 4 * 15'000, 1);
  const auto near = times.one_way({"h1", 1}, {"h2", 1}, 1000);
  ASSERT_TRUE(near);
  EXPECT_NEAR(static_cast<double>(near->ps), 2 * 80'640 + 2 * 600'000 + 2 * 15'000, 1);
}

// Two spines; a cable to the second is longer.
TEST(PathTimes, OfEqualPathsTheQuickestOrTheSlowest) {
  const auto one_way = [](const std::string& delay, routing::PathTimes::Which which) {
    const spec::Lab lab = spec::parse(R"(
name: x
nodes: { l1: { kind: switch }, l2: { kind: switch }, s1: { kind: switch }, s2: { kind: switch }, a: { kind: host }, b: { kind: host } }
links:
  - [a:1, l1:1]
  - [b:1, l2:1]
  - [l1:2, s1:1, { delay: 1us }]
  - [l1:3, s2:1, { delay: )" + delay + R"( }]
  - [l2:2, s1:2, { delay: 1us }]
  - [l2:3, s2:2, { delay: 1us }]
)",
                                      "x.yaml");
    return routing::PathTimes(lab).one_way({"a", 1}, {"b", 1}, 1000, which)->ps;
  };
  using enum routing::PathTimes::Which;
  EXPECT_EQ(one_way("1us", kSlowest), one_way("1us", kQuickest));
  EXPECT_EQ(one_way("31us", kQuickest), one_way("1us", kQuickest));
  EXPECT_EQ(one_way("31us", kSlowest), one_way("1us", kQuickest) + 30'000'000);
}

// Alone on a fabric a flow takes its ideal time: of the generator exactly, over RoCE but for a few packets of start.
TEST(Limits, AFlowAloneReachesThem) {
  for (const char* traffic :
       {"from: h1, to: h3, bytes: 4096000B", "from: h1, to: h3, bytes: 4MB, transport: roce, message: 1MB",
        "from: h1, to: h3, bytes: 4MB, transport: roce, message: 1MB, operation: send",
        "from: h1, to: h3, bytes: 4096000B, rate: 25Gbps"}) {
    build::BuiltLab lab(lab_with(traffic));
    Engine engine(lab.fabric(), {});
    engine.wake_all();
    run_virtual(engine, Instant{} + 10_ms);
    engine.settle(Instant{} + 10_ms);
    const Report r = collect(lab, {});
    const FlowReport& f = r.flows.at(0);
    ASSERT_TRUE(f.slowdown()) << traffic;
    EXPECT_NEAR(*f.slowdown(), 1, 0.005) << traffic;
    EXPECT_NEAR(*f.share(), 1, 0.02) << traffic;
    EXPECT_LE(*f.share(), 1.0001) << traffic;
    EXPECT_EQ(r.traffic.at(0).complete, 1u) << traffic;
  }
}

// Two NICs of 100 Gb/s behind each uplink of 63 Gb/s: a flow alone has the uplink, two on both NICs half of it each.
TEST(Limits, AnUplinkOfPciExpressIsOne) {
  const auto run = [](const std::string& traffic) {
    build::BuiltLab lab(spec::parse("name: x\ntopology: { preset: rail-optimized, hosts: 2, rails: 2, spines: 1 }\n"
                                    "hosts: { default: { pcie: { slot: gen4x16, uplink: gen3x8, shared-by: 2 } } }\n"
                                    "traffic: [ " + traffic + " ]\n",
                                    "x.yaml"));
    Engine engine(lab.fabric(), {});
    engine.wake_all();
    run_virtual(engine, Instant{} + 10_ms);
    engine.settle(Instant{} + 10_ms);
    return collect(lab, {});
  };
  constexpr double kUplink = 8e9 * 8 * 128 / 130 * 4096 / 4158;  // 62 octets of headers around 4096
  for (const char* more : {"", ", transport: roce, message: 1MB"}) {
    const Report alone = run("{ name: t, from: \"h1:1\", to: \"h2:1\", bytes: 4096000B" + std::string(more) + " }");
    const FlowReport& f = alone.flows.at(0);
    EXPECT_NEAR(f.limit_bps, kUplink, 1e-3 * kUplink) << more;
    ASSERT_TRUE(f.slowdown()) << more;
    EXPECT_NEAR(*f.slowdown(), 1, 0.005) << more;
    EXPECT_NEAR(*f.share(), 1, 0.02) << more;
  }
  const Report both = run("{ name: t, from: \"h1:1\", to: \"h2:1\", bytes: 4096000B }, "
                          "{ name: u, from: \"h1:2\", to: \"h2:2\", bytes: 4096000B }");
  for (const FlowReport& f : both.flows) EXPECT_NEAR(*f.share(), 0.5, 0.01) << f.name;
}

TEST(Limits, FlowsOfSeveralSizesAreCountedBySize) {
  build::BuiltLab lab(spec::parse(R"(name: x
topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 3 }
traffic: [ { name: t, from: h1, to: h2, flows: 40, sizes: [[1KB, 50%], [100KB, 100%]] } ]
)",
                                  "x.yaml"));
  Engine engine(lab.fabric(), {});
  engine.wake_all();
  run_virtual(engine, Instant{} + 10_ms);
  engine.settle(Instant{} + 10_ms);
  const TrafficReport t = collect(lab, {}).traffic.at(0);
  EXPECT_EQ(t.complete, 40u);
  ASSERT_GE(t.by_size.size(), 3u);
  std::uint64_t flows = 0;
  for (const SizeBin& b : t.by_size) {
    EXPECT_LT(b.from, b.below);
    EXPECT_GE(b.slowdown.min, 0.99) << "nobody is faster than alone";
    flows += b.flows;
  }
  EXPECT_EQ(flows, 40u);
  EXPECT_LE(t.by_size.back().from, 100'000u);
}

TEST(Limits, LinksAreSummedUpByWhatTheyJoin) {
  build::BuiltLab lab(lab_with("from: [h1, h2], to: [h3, h4], bytes: 4096000B"));
  Engine engine(lab.fabric(), {});
  engine.wake_all();
  run_virtual(engine, Instant{} + 10_ms);
  engine.settle(Instant{} + 10_ms);
  const std::vector<LinkTier> tiers = collect(lab, {}).link_tiers;
  ASSERT_EQ(tiers.size(), 4u);
  EXPECT_EQ(tiers[0].name, "host to leaf");
  EXPECT_EQ(tiers[0].links, 4u);
  EXPECT_DOUBLE_EQ(tiers[0].jain, 0.5) << "two of four carry everything";
  EXPECT_DOUBLE_EQ(tiers[0].max_over_mean, 2);
}

}  // namespace
}  // namespace railyard::report
