// Paths that are lossless in part, and RDMA where frames may be dropped.
#include <gmock/gmock.h>

#include "tests/control/lint/lint_lab.h"

namespace railyard::lint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Contains;

const std::string kLossy = "  lossy: { classes: { 3: { weight: 1 } } }\n";
const std::string kLossless = "  default: { classes: { 3: { lossless: true } } }\n";
const std::string kTopology = "topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 1 }\n";
const std::string kTraffic = "traffic: [ { name: t, from: h1, to: h2, transport: roce } ]\n";

TEST(Losslessness, ASpineThatDropsWhatLeavesSaveIsFound) {
  const auto found = findings_in("qos:\n" + kLossless + kLossy + "switches: { forgotten: { qos: lossy } }\n" + kTopology +
                                 "nodes: { spine2: { profile: forgotten } }\n" + kTraffic);
  ASSERT_THAT(rules_of(found), ElementsAre("lossy-on-lossless-path"));
  EXPECT_EQ(found[0].path, "qos.lossy.classes.3.lossless");
  EXPECT_EQ(found[0].place.line, 4);
  EXPECT_THAT(found[0].text, HasSubstr("spine2 drops where leaf"));
}

TEST(Losslessness, ASwitchOffThePathIsNot) {
  EXPECT_THAT(findings_in("qos:\n" + kLossless + kLossy + "switches: { forgotten: { qos: lossy } }\n"
                          "topology: { preset: leaf-spine, leaves: 3, spines: 2, hosts-per-leaf: 1 }\n"
                          "nodes: { leaf3: { profile: forgotten } }\n" + kTraffic),
              IsEmpty());
}

TEST(Losslessness, GoBackNInALossyClassIsFound) {
  const std::string qos = "qos:\n  default: { classes: { 3: { weight: 1 } } }\n";
  const auto found = findings_in(qos + kTopology + kTraffic);
  ASSERT_THAT(rules_of(found), ElementsAre("rdma-in-lossy-class"));
  EXPECT_THAT(found[0].text, HasSubstr("RoCE runs in a lossy class: t uses DSCP 26"));
  EXPECT_EQ(found[0].path, "traffic.0.dscp");
  EXPECT_THAT(rules_of(findings_in(kTopology + "traffic: [ { name: t, from: h1, to: h2, transport: roce, dscp: 8 } ]\n")),
              Contains("rdma-in-lossy-class"));
}

// They are made for it.
TEST(Losslessness, SelectiveRepeatAndUetInALossyClassAreNot) {
  const std::string qos = "qos:\n  default: { classes: { 3: { weight: 1 } } }\n";
  EXPECT_THAT(rules_of(findings_in(qos + kTopology + kTraffic +
                                   "hosts: { default: { roce: { loss-recovery: selective-repeat } } }\n")),
              Not(Contains("rdma-in-lossy-class")));
  EXPECT_THAT(findings_in(qos + kTopology + "traffic: [ { name: t, from: h1, to: h2, transport: uet } ]\n"), IsEmpty());
}

TEST(Losslessness, CollectivesCountToo) {
  EXPECT_THAT(rules_of(findings_in("qos:\n  default: { classes: { 3: { weight: 1 } } }\n" + kTopology +
                                   "collectives: [ { name: ar, collective: all-reduce, size: 1MB } ]\n")),
              ElementsAre("rdma-in-lossy-class"));
}

TEST(Losslessness, ANicThatDoesNotAgreeWithItsSwitchIsFound) {
  const auto found = findings_in("qos:\n" + kLossless + kLossy + "hosts: { default: { qos: lossy } }\n" + kTopology +
                                 kTraffic);
  ASSERT_THAT(rules_of(found), ElementsAre("pfc-on-one-side"));
  EXPECT_THAT(found[0].text, HasSubstr("leaf1:1 pauses class 3 of t, and h1:1 ignores the pauses"));
}

// Whoever reads it sees the key that turns PFC off, not the class, which is lossless.
TEST(Losslessness, PfcThatAKeyTurnsOffIsFoundAtThatKey) {
  const std::string lab = "qos:\n" + kLossless + kTopology + kTraffic;
  auto found = findings_in(lab, {"hosts.default.pfc=off"});
  ASSERT_THAT(rules_of(found), ElementsAre("pfc-on-one-side"));
  EXPECT_EQ(found[0].path, "hosts.default.pfc");
  EXPECT_EQ(found[0].fix, "Set hosts.default.pfc to on.");
  found = findings_in(lab, {"nodes={ leaf1: { ports: { 1: { pfc: off } } } }"});
  ASSERT_THAT(rules_of(found), Contains("pfc-on-one-side"));
  EXPECT_EQ(found[0].path, "nodes.leaf1.ports.1.pfc");
}

TEST(Losslessness, ALosslessClassThatSendsNoPfcIsFound) {
  const auto found = findings_in("qos:\n" + kLossless + kTopology + kTraffic, {"qos.default.classes.3.pfc=rx"});
  ASSERT_THAT(rules_of(found), Contains("pfc-on-one-side"));
  EXPECT_EQ(found[0].path, "qos.default.classes.3.pfc");
  EXPECT_THAT(found[0].text, HasSubstr("does not send PFC for it"));
}

}  // namespace
}  // namespace railyard::lint
