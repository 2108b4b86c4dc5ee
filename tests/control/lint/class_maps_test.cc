// Code points that neighbours map to different classes.
#include <gmock/gmock.h>

#include "tests/control/lint/lint_lab.h"

namespace railyard::lint {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

const std::string kOneSpine = "topology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 1 }\n";

std::vector<Finding> with_spine_map(const std::string& spine, const std::string& dscp = "26") {
  return findings_in("qos:\n  default: { classes: { 3: { lossless: true } } }\n  spine: { " + spine +
                     "classes: { 3: { lossless: true }, 4: { lossless: true } } }\n"
                     "switches: { spine: { qos: spine } }\n" + kOneSpine + "nodes: { spine1: { profile: spine } }\n"
                     "traffic: [ { name: t, from: h1, to: h2, transport: roce, dscp: " + dscp + " } ]\n");
}

TEST(ClassMaps, ASpineThatPutsTheSameDscpElsewhereIsFound) {
  const auto found = with_spine_map("dscp: { 26: 4 }, ");
  ASSERT_THAT(rules_of(found), Contains("class-maps-disagree"));
  EXPECT_EQ(found[0].path, "qos.spine.dscp.26");
  EXPECT_EQ(found[0].place.line, 4);
  EXPECT_THAT(found[0].text,
              HasSubstr("leaf1 sends t (DSCP 26) in class 3 (lossless), but spine1 classifies it as class 4"));
}

TEST(ClassMaps, ADscpThatNothingUsesIsNot) {
  EXPECT_THAT(rules_of(with_spine_map("dscp: { 27: 4 }, ")), Not(Contains("class-maps-disagree")));
  EXPECT_THAT(rules_of(with_spine_map("")), Not(Contains("class-maps-disagree")));
}

// Without a lossless class on either side nobody pauses anybody.
TEST(ClassMaps, LossyClassesMayDiffer) {
  EXPECT_THAT(rules_of(with_spine_map("dscp: { 8: 2 }, ", "8")), Not(Contains("class-maps-disagree")));
}

TEST(ClassMaps, AReceiverThatTrustsPcpIsToldOfThePcp) {
  const auto found = findings_in(
      "qos:\n  default: { trust: pcp, classes: { 4: { lossless: true } } }\n"
      "  nic: { trust: pcp, pcp: { 4: 2 }, classes: { 4: { lossless: true }, 2: { lossless: true } } }\n"
      "topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 2 }\n"
      "hosts: { default: {}, other: { qos: nic } }\nnodes: { h2: { kind: host, profile: other } }\n"
      "traffic: [ { name: a, from: h1, to: h2, class: 4, rate: 80Gbps } ]\n");
  ASSERT_THAT(rules_of(found), testing::ElementsAre("class-maps-disagree"));
  EXPECT_EQ(found[0].path, "qos.nic.pcp");
  EXPECT_THAT(found[0].text, HasSubstr("leaf1 sends a (PCP 4) in class 4 (lossless), but h2 classifies it as class 2"));
  EXPECT_EQ(found[0].fix, "Map PCP 4 to the same class in both.");
}

TEST(ClassMaps, AClassThatTrafficNamesMustBeTheSwitchsToo) {
  const auto found = findings_in(pair_lab(", class: 4", "qos: { default: { classes: { 3: { lossless: true }, 4: { "
                                                        "lossless: true } } } }\n"));
  ASSERT_THAT(rules_of(found), Contains("class-maps-disagree"));
  EXPECT_EQ(found[0].path, "traffic.0.class");
}

// s1 moves class 3 to class 4 and writes the first DSCP of class 4 for the next hop (dataplane/switch/class_remap.cc).
std::vector<Finding> with_remap(const std::string& at_s1, const std::string& at_s2) {
  return findings_in(
      "qos:\n  first: { " + at_s1 +
      "classes: { 3: { lossless: true, remap-to: 4 }, 4: { lossless: true } } }\n  default: { " + at_s2 +
      " }\n  nic: { classes: { 3: { lossless: true }, 4: { lossless: true } } }\n"
      "switches: { first: { qos: first } }\nhosts: { default: { qos: nic, roce: { congestion: none } } }\n"
      "nodes: { s1: { kind: switch, profile: first }, s2: { kind: switch }, a: { kind: host }, b: { kind: host }, "
      "c: { kind: host } }\n"
      "links: [ [a:1, s1:1], [b:1, s1:2], [s1:9, s2:9, { rate: 200Gbps }], [c:1, s2:1] ]\n"
      "traffic: [ { name: t, pattern: incast, from: [a, b], to: c, transport: roce, message: 1MB } ]\n");
}

TEST(ClassMaps, BehindARemapTheWrittenCodePointCounts) {
  EXPECT_THAT(with_remap("dscp: { 26: 3, 34: 4 }, ",
                         "dscp: { 26: 3, 34: 4 }, classes: { 3: { lossless: true }, 4: { "
                         "lossless: true } }"),
              testing::IsEmpty());
  EXPECT_THAT(with_remap("dscp: { 26: 3, 32: 5, 34: 4 }, ", "dscp: { 26: 3 }, classes: { 4: { lossless: true } }"),
              testing::IsEmpty())
      << "s2 maps DSCP 33 to class 4; DSCP 26 never comes to it";
}

TEST(ClassMaps, ASwitchBehindARemapThatDropsTheWrittenCodePointIsFound) {
  const auto found =
      with_remap("", "dscp: { 26: 4, 32: 0 }, classes: { 4: { lossless: true }, 0: { queue-limit: 50KB } }");
  ASSERT_THAT(rules_of(found),
              testing::ElementsAre("class-maps-disagree", "class-maps-disagree", "lossy-on-lossless-path"))
      << "the second: c, behind s2, has DSCP 32 in a lossless class";
  EXPECT_EQ(found[0].path, "qos.default.dscp.32");
  EXPECT_THAT(found[0].text,
              HasSubstr("s1 sends t (DSCP 32) in class 4 (lossless), but s2 classifies it as class 0: PFC pauses"));
  EXPECT_EQ(found[2].path, "qos.default.classes.0.lossless");
  EXPECT_THAT(found[2].text, HasSubstr("s2 drops where s1 pauses: the class of t (DSCP 32)"));
}

}  // namespace
}  // namespace railyard::lint
