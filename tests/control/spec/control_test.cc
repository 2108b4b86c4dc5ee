// Who controls a switch (control/spec/control_spec.h).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/control_spec.h"
#include "control/spec/load.h"
#include "control/spec/spec_error.h"
#include "control/spec/to_yaml.h"

namespace railyard::spec {
namespace {

using testing::HasSubstr;
using Kind = ControlSpec::Kind;

const std::string kHead = "name: c\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 1 }\n";

Kind kind(const Lab& lab, const std::string& node) {
  const NodeSpec& n = *lab.find(node);
  return n.control ? n.control->kind : Kind::kModel;
}

std::string error(const std::string& text) {
  try {
    parse(kHead + text, "x.yaml");
    return "";
  } catch (const SpecError& e) {
    return e.what();
  }
}

TEST(Control, IsTheModelUnlessSomebodySaysOtherwise) {
  const Lab lab = parse(kHead, "x.yaml");
  EXPECT_EQ(kind(lab, "leaf1"), Kind::kModel);
  EXPECT_FALSE(has_speaker(lab, *lab.find("leaf1")));
}

TEST(Control, APatternStandsForAllSwitchesThatFit) {
  const Lab lab = parse(kHead + "switches: { leaf*: { control: frr } }\n", "x.yaml");
  EXPECT_EQ(kind(lab, "leaf1"), Kind::kFrr);
  EXPECT_EQ(kind(lab, "leaf2"), Kind::kFrr);
  EXPECT_EQ(kind(lab, "spine1"), Kind::kModel);
  EXPECT_EQ(parse(to_yaml(lab), "y.yaml"), lab);
}

TEST(Control, ANodeGoesBeforeAPatternAndThatBeforeAProfile) {
  const Lab lab = parse(kHead +
                            "switches: { default: { control: frr }, 'leaf?': { control: namespace } }\n"
                            "nodes: { leaf2: { control: model } }\n",
                        "x.yaml");
  EXPECT_EQ(kind(lab, "spine1"), Kind::kFrr);
  EXPECT_EQ(kind(lab, "leaf1"), Kind::kNamespace);
  EXPECT_EQ(kind(lab, "leaf2"), Kind::kModel);
  EXPECT_EQ(parse(to_yaml(lab), "y.yaml"), lab);
}

TEST(Control, FrrTakesAConfigurationOfTheUsers) {
  const Lab lab = parse(kHead + "nodes: { leaf2: { control: { frr: /etc/leaf2.conf } } }\n", "x.yaml");
  EXPECT_EQ(lab.find("leaf2")->control->config, "/etc/leaf2.conf");
  EXPECT_EQ(parse(to_yaml(lab), "y.yaml"), lab);
}

TEST(Control, IsOutsideInALiveLabOnly) {
  const std::string frr = kHead + "switches: { '*': { control: frr } }\n";
  const Lab virtual_time = parse(frr, "x.yaml");
  EXPECT_FALSE(has_speaker(virtual_time, *virtual_time.find("leaf1")));
  const Lab live = parse(frr + "run: { clock: wall }\n", "x.yaml");
  EXPECT_TRUE(has_speaker(live, *live.find("leaf1")));
}

TEST(Control, SaysWhatIsWrong) {
  EXPECT_THAT(error("switches: { default: { control: fr } }\n"), HasSubstr("frr"));
  EXPECT_THAT(error("switches: { default: { control: {} } }\n"),
              HasSubstr("expected model, namespace, frr, or { frr: FILE }"));
  EXPECT_THAT(error("switches: { core*: { control: frr } }\n"), HasSubstr("no switch is named 'core*'"));
  EXPECT_THAT(error("switches: { leaf*: { buffer: 4MiB } }\n"), HasSubstr("buffer"));
  EXPECT_THAT(
      error("faults: [{ on: leaf1, drain: true }]\nswitches: { '*': { control: frr } }\nrun: { clock: wall }\n"),
      HasSubstr("bgp graceful-shutdown"));
}

}  // namespace
}  // namespace railyard::spec
