#include "control/spec/port_class.h"

#include <gtest/gtest.h>

#include "tests/control/spec/lab_builder.h"

namespace railyard::spec {
namespace {

using namespace railyard::literals;

// leaf1 with h1 at port 1 and h2 at port 2, classes 3 (PFC) and 4 (credits) lossless.
Lab with_credits(const std::vector<std::string>& sets) {
  return parse_small_with(
      "qos: { default: { classes: { 3: { lossless: true, alpha: 1/8 }, 4: { lossless: true, cbfc: on } } } }\n", sets);
}
PfcClasses pfc(const Lab& l, const std::string& node, int port) { return pfc_at(l, *l.find(node), port, 100_Gbps); }
TrafficClass class3(const Lab& l, int port, BitRate rate = 100_Gbps) { return class_at(l, *l.find("leaf1"), port, rate, 3); }

constexpr PfcClasses kThree{1 << 3, 1 << 3};
constexpr PfcClasses kNone{};

TEST(PortClass, PfcIsEnabledWhereTheClassIsLosslessAndHasNoCredits) {
  EXPECT_EQ(pfc(with_credits({}), "leaf1", 1), kThree);
  EXPECT_EQ(pfc(with_credits({}), "h1", 1), kThree);
}

TEST(PortClass, TheNearestThatSaysSomethingDecides) {
  EXPECT_EQ(pfc(with_credits({"qos.default.classes.3.pfc=off"}), "leaf1", 1), kNone);
  EXPECT_EQ(pfc(with_credits({"qos.default.classes.3.pfc=rx"}), "leaf1", 1), (PfcClasses{1 << 3, 0}));
  EXPECT_EQ(pfc(with_credits({"qos.default.classes.3.pfc=tx"}), "leaf1", 1), (PfcClasses{0, 1 << 3}));
  const Lab no_nic = with_credits({"hosts.default.pfc=off", "qos.default.classes.3.pfc=on"});
  EXPECT_EQ(pfc(no_nic, "h1", 1), kNone) << "the host, before the class";
  EXPECT_EQ(pfc(no_nic, "leaf1", 1), kThree);
  const Lab port = with_credits({"hosts.default.pfc=off", "nodes.h1={ kind: host, ports: { 1: { pfc: on } } }"});
  EXPECT_EQ(pfc(port, "h1", 1), (PfcClasses{0xEF, 0xEF})) << "the port, before the host: all but the one with credits";
  EXPECT_EQ(pfc(port, "h2", 1), kNone);
  const Lab one = with_credits({"nodes.leaf1={ kind: switch, ports: { 2: { pfc: off, classes: { 0: { pfc: rx } } } } }"});
  EXPECT_EQ(pfc(one, "leaf1", 2), (PfcClasses{1, 0})) << "the class at the port, before the port";
  EXPECT_EQ(pfc(one, "leaf1", 1), kThree);
}

TEST(PortClass, ThresholdsByRateThenByPort) {
  const Lab l = with_credits({"qos.default.classes.3.by-rate={ 400Gbps: { xoff: 800KB, headroom: 300KB } }",
                     "nodes.leaf1={ kind: switch, ports: { 2: { classes: { 3: { alpha: 1/2, xon-offset: 4KB } } } } }"});
  EXPECT_EQ(class3(l, 1).alpha_exponent, -3);
  EXPECT_EQ(class3(l, 1).xoff, std::nullopt);
  EXPECT_EQ(class3(l, 1, 400_Gbps).xoff, 800_KB);
  EXPECT_EQ(class3(l, 1, 400_Gbps).headroom, 300_KB);
  EXPECT_EQ(class3(l, 2, 400_Gbps).xoff, std::nullopt) << "alpha in its place";
  EXPECT_EQ(class3(l, 2, 400_Gbps).alpha_exponent, -1);
  EXPECT_EQ(class3(l, 2, 400_Gbps).headroom, 300_KB);
  EXPECT_EQ(class3(l, 2).xon_offset, 4_KB);
}

TEST(PortClass, WhatAPortCannotHaveIsNamed) {
  const auto error = [](const std::string& ports) { return error_of("name: x\nnodes:\n  s: { kind: switch" + ports); };
  const std::string rest = " }\n  h: { kind: host }\nlinks: [[h:1, s:1]]\n";
  EXPECT_EQ(error(", ports: { 2: { pfc: off } }" + rest), "x.yaml:3:34: nodes.s.ports.2: port s:2 has no link");
  EXPECT_EQ(error(", ports: { 0: { pfc: off } }" + rest).substr(0, 34), "x.yaml:3:31: nodes.s.ports: port: ");
  EXPECT_EQ(error(", ports: { 1: { classes: { 3: { xoff: 1KB } } } }" + rest),
            "x.yaml:5:15: links.0.1: s:1, class 3: xon-offset (18KiB) is not below xoff (1KB): the sender would never "
            "resume");
  EXPECT_EQ(
      error_of("name: x\nnodes:\n  s: { kind: switch }\n  h: { kind: host, ports: { 1: { classes: { 3: { xoff: 1MB "
               "} } } } }\nlinks: [[h:1, s:1]]\n"),
      "x.yaml:4:48: nodes.h.ports.1.classes.3: thresholds belong to switches; a NIC has those of its host profile "
      "(receive)");
}

}  // namespace
}  // namespace railyard::spec
