#include <gtest/gtest.h>

#include "control/spec/to_yaml.h"
#include "tests/control/spec/lab_builder.h"
#include "tests/control/spec/random_lab.h"

namespace railyard::spec {
namespace {

TEST(RoundTrip, OfRandomLabs) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    std::mt19937_64 random(seed);
    const Lab lab = random_lab(random);
    const std::string yaml = to_yaml(lab);
    try {
      const Lab again = parse(yaml, "shown");
      ASSERT_TRUE(again == lab) << "seed " << seed << "\n" << yaml << "\n---- and then ----\n" << to_yaml(again);
      ASSERT_EQ(to_yaml(again), yaml) << "seed " << seed;
    } catch (const SpecError& e) {
      FAIL() << "seed " << seed << ": " << e.what() << "\n" << yaml;
    }
  }
}

TEST(RoundTrip, OfRandomLabsWithAllDefaults) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    std::mt19937_64 random(seed);
    const Lab lab = random_lab(random);
    const std::string yaml = to_yaml(lab, Defaults::kWritten);
    try {
      const Lab again = parse(yaml, "shown");
      ASSERT_TRUE(again == lab) << "seed " << seed << "\n" << yaml << "\n---- and then ----\n" << to_yaml(again);
      ASSERT_EQ(to_yaml(again, Defaults::kWritten), yaml) << "seed " << seed;
    } catch (const SpecError& e) {
      FAIL() << "seed " << seed << ": " << e.what() << "\n" << yaml;
    }
  }
}

// A user sees what was never said: the settings of both kinds of NICs, of all classes, of traffic.
TEST(RoundTrip, DefaultsAreDisclosed) {
  const std::string yaml = to_yaml(parse(R"(
name: pair
topology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 2 }
traffic: [{ name: t, from: h1, to: h2, transport: roce }]
run: { duration: 10ms }
)",
                                         "x.yaml"),
                                   Defaults::kWritten);
  for (const char* said :
       {"congestion: dcqcn", "loss-recovery: go-back-n", "ack-timeout: 14", "retry-count: 7", "nscc:", "mp-range:",
        "lossless: false", "      7:\n", "qps: 1", "outstanding:", "path-mtu: 4096", "rate: greedy", "dscp: 26", "seed: 1",
        "bytes: unlimited", "vlan: auto", "pfc: auto"})
    EXPECT_NE(yaml.find(said), std::string::npos) << said << " is not in\n" << yaml;
  for (const char* meaningless : {"service:", "rping:", "payload: 1024"})
    EXPECT_EQ(yaml.find(meaningless), std::string::npos) << meaningless << " is in\n" << yaml;
}

TEST(RoundTrip, ReadsWell) {
  const Lab lab = parse(R"(
name: incast
description: two to one
topology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 3 }
nodes: { h3: { profile: slow } }
hosts: { slow: { receive: { rate: 50Gbps } } }
links: []
traffic: [{ name: t, pattern: incast, from: "*", to: h1, rate: 50Gbps, bytes: 1MiB }]
run: { duration: 10ms, scale: 1/100 }
)",
                        "x.yaml");
  EXPECT_EQ(to_yaml(lab), R"(name: incast
description: two to one
qos:
  default:
    trust: dscp
    classes:
      0: { weight: 50 }
      3: { lossless: true, alpha: 1/8, ecn: auto, weight: 50 }
      5: { strict: true }
      6: { strict: true }
switches:
  default: { buffer: 32MiB, cell: 256B, latency: 600ns, pause-quanta: 65535, mode: store-and-forward, qos: default }
hosts:
  default: { latency: 600ns, pause-quanta: 65535, clock-error: 100ppm, qos: default }
  slow: { latency: 600ns, pause-quanta: 65535, clock-error: 100ppm, receive: { rate: 50Gbps }, qos: default }
defaults: { link: { rate: 100Gbps, cable: 3m, mtu: 9216, llr: off, framing: { preamble: 8, gap: 12 } } }
nodes:
  leaf1: { kind: switch, role: leaf, rack: rack1, loopback: 10.255.0.1, loopback6: fd00:ffff::1 }
  h1: { kind: host, rack: rack1, mac: 02:00:00:01:00:01, address: 10.0.0.1, address6: fd00::1 }
  h2: { kind: host, rack: rack1, mac: 02:00:00:02:00:01, address: 10.0.0.2, address6: fd00::2 }
  h3: { kind: host, profile: slow, rack: rack1, mac: 02:00:00:03:00:01, address: 10.0.0.3, address6: fd00::3 }
links:
  - [h1:1, leaf1:1]
  - [h2:1, leaf1:2]
  - [h3:1, leaf1:3]
traffic:
  - { name: t, pattern: incast, from: "*", to: h1, rate: 50Gbps, bytes: 1MiB }
run: { clock: virtual, seed: 1, duration: 10ms, drain: 1ms, scale: 1/100, workers: 1, payload: elided, memory: 4GiB }
)");
}

TEST(RoundTrip, PlacesDoNotCount) {
  const Lab a = parse(kSmall, "a.yaml");
  const Lab b = parse("\n\n" + kSmall, "b.yaml");
  EXPECT_NE(a.nodes[0].place.line, b.nodes[0].place.line);
  EXPECT_TRUE(a == b);
}

TEST(RoundTrip, EverythingElseCounts) {
  const Lab lab = parse(kSmall, "a.yaml");
  const auto differs = [&](auto change) {
    Lab other = lab;
    change(other);
    return !(other == lab);
  };
  EXPECT_TRUE(differs([](Lab& l) { l.name = "other"; }));
  EXPECT_TRUE(differs([](Lab& l) { l.qos["default"].classes[7].least_frame = 65; }));
  EXPECT_TRUE(differs([](Lab& l) { l.switches["default"].ecmp.seed = 1; }));
  EXPECT_TRUE(differs([](Lab& l) { l.hosts["default"].receive.xon = Bytes{1}; }));
  EXPECT_TRUE(differs([](Lab& l) { l.nodes[1].nics[0].attach = AttachPcap{"x", "", false}; }));
  EXPECT_TRUE(differs([](Lab& l) { l.links[0].cable.reset(); }));
  EXPECT_TRUE(differs([](Lab& l) { l.run.seed.value = 2; }));
  EXPECT_TRUE(differs([](Lab& l) { l.run.polling = Polling::kIdle; }));
  EXPECT_TRUE(differs([](Lab& l) { l.run.in_band.emplace(); }));
}

}  // namespace
}  // namespace railyard::spec
