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

TEST(ClassMaps, AClassThatTrafficNamesMustBeTheSwitchsToo) {
  const auto found = findings_in(pair_lab(", class: 4", "qos: { default: { classes: { 3: { lossless: true }, 4: { "
                                                        "lossless: true } } } }\n"));
  ASSERT_THAT(rules_of(found), Contains("class-maps-disagree"));
  EXPECT_EQ(found[0].path, "traffic.0.class");
}

}  // namespace
}  // namespace railyard::lint
