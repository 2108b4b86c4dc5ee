#include "control/spec/difference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/control/spec/lab_builder.h"
#include "tests/control/spec/random_lab.h"

namespace railyard::spec {
namespace {

const std::string kTraffic =
    "traffic: [ { name: t, from: h1, to: h2, rate: 10Gbps } ]\n"
    "qos: { default: { classes: { 0: { weight: 50 }, 3: { lossless: true, alpha: 1/8, ecn: { kmin: 400KB, kmax: 1600KB, "
    "pmax: 20% }, weight: 50 }, 6: { strict: true } } } }\n";

// "path: from -> to" of what `overrides` make different, by line.
std::string different(const std::vector<std::string>& overrides) {
  std::string lines;
  for (const Difference& d : differences(parse_small_with(kTraffic), parse_small_with(kTraffic, overrides)))
    lines += d.path + ": " + d.from + " -> " + d.to + "\n";
  return lines;
}

TEST(Difference, IsSaidInTheWordsOfTheFile) {
  EXPECT_EQ(different({}), "");
  EXPECT_EQ(different({"qos.default.classes.3.ecn.kmin=100KB"}), "qos.default.classes.3.ecn.kmin: 400KB -> 100KB\n");
  EXPECT_EQ(different({"qos.default.classes.3.alpha=", "qos.default.classes.3.xoff=64KiB"}),
            "qos.default.classes.3.alpha: 1/8 -> -\nqos.default.classes.3.xoff: - -> 64KiB\n");
  EXPECT_EQ(different({"qos.default.classes.0.ecn=auto"}),
            "qos.default.classes.0.ecn: off -> auto\n"
            "qos.default.classes.0.ecn.drop-not-ect: - -> false\n"
            "qos.default.classes.0.ecn.kmax: - -> auto\n"
            "qos.default.classes.0.ecn.kmin: - -> auto\n"
            "qos.default.classes.0.ecn.last-hop: - -> auto\n"
            "qos.default.classes.0.ecn.mark: - -> enqueue\n"
            "qos.default.classes.0.ecn.pmax: - -> 20%\n");
  EXPECT_EQ(different({"qos.default.classes.3.ecn=auto"}),
            "qos.default.classes.3.ecn.kmax: 1.6MB -> auto\nqos.default.classes.3.ecn.kmin: 400KB -> auto\n");
  EXPECT_EQ(different({"qos.default.classes.3.path=spray", "traffic.t.rate=greedy"}),
            "qos.default.classes.3.path: ecmp -> spray\ntraffic.t.rate: 10Gbps -> greedy\n");
  EXPECT_EQ(different({"switches.default.ecmp.seed=7"}), "switches.default.ecmp.seed: - -> 7\n");
  EXPECT_EQ(different({"links.leaf1:2.rate=25Gbps"}), "links.h2:1.rate: 100Gbps -> 25Gbps\n");
  EXPECT_EQ(different({"run.seed=2", "name=other"}), "name: small -> other\nrun.seed: 1 -> 2\n");
  EXPECT_EQ(different({"nodes.h3={ kind: host }", "links=[[h1:1, leaf1:1], [h2:1, leaf1:2], [h3:1, leaf1:3]]"}),
            "links: 2 of them -> 3 of them\nnodes: 3 of them -> 4 of them\n");
}

// Whatever one of them does not say has a default: that is what differs.
TEST(Difference, SaysDefaultsOnBothSides) {
  EXPECT_EQ(different({"run.budgets.pause-share=1/2"}), "run.budgets.pause-share: 1/10 -> 1/2\n");
  EXPECT_EQ(different({"run.budgets.xoff-rate=5"}), "run.budgets.xoff-rate: 20000 -> 5\n");
  EXPECT_EQ(different({"hosts.default.uet.nscc.fi=1"}), "hosts.default.uet.nscc.fi: 5 -> 1\n");
}

TEST(Difference, SaysListsOnOneLine) {
  EXPECT_EQ(different({"traffic.t.from=[h1, h2]", "traffic.t.to=[h2, h1]"}),
            "traffic.t.from: h1 -> [h1, h2]\ntraffic.t.to: h2 -> [h2, h1]\n");
  std::string many = "h1";
  for (int i = 0; i < 80; ++i) many += ", h2";
  EXPECT_EQ(different({"traffic.t.from=[" + many + "]"}), "traffic.t.from: h1 -> [" + many + "]\n");
}

TEST(Difference, IsLiveWhereDevicesCanChange) {
  for (const char* path :
       {"qos.default.classes.3.alpha", "qos.x-y.classes.0.ecn", "qos.default.classes.3.ecn.kmin",
        "qos.default.classes.7.weight", "qos.default.classes.3.pfc", "qos.default.classes.1.drop.min",
        "qos.default.classes.3.by-rate.400Gbps.xoff", "nodes.leaf1.ports.2.pfc", "nodes.leaf1.ports.2.classes.3.alpha",
        "hosts.default.pfc", "switches.default.ecmp.seed", "links.h1:1.rate", "traffic.t.rate"})
    EXPECT_TRUE(is_live(path)) << path;
  for (const char* path : {"qos.default.classes.3.lossless", "qos.default.classes.3.headroom", "qos.default.trust",
                           "switches.default.buffer", "links.h1:1.mtu", "traffic.t.bytes", "run.seed", "nodes"})
    EXPECT_FALSE(is_live(path)) << path;
}

TEST(Difference, WhatCanBeSetIsListedWithItsValue) {
  const std::vector<Saying> all = live_sayings(parse_small_with(kTraffic));
  for (const Saying& s : {Saying{"qos.default.classes.3.ecn.kmin", "400KB"},
                          Saying{"qos.default.classes.3.alpha", "1/8"}, Saying{"qos.default.classes.6.strict", "true"},
                          Saying{"links.h1:1.rate", "100Gbps"}, Saying{"traffic.t.rate", "10Gbps"}})
    EXPECT_THAT(all, testing::Contains(s));
  for (const Saying& s : all) EXPECT_TRUE(is_live(s.path)) << s.path;
}

}  // namespace
}  // namespace railyard::spec
