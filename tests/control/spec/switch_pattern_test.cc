// Patterns in `switches`: settings of all switches whose names fit, in a fabric whose profile is `default`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "control/spec/to_yaml.h"
#include "tests/control/spec/lab_builder.h"

namespace railyard::spec {
namespace {

using testing::HasSubstr;

std::string pods(const std::string& switches, const std::string& nodes = "") {
  return "name: x\ntopology: { preset: multi-pod, pods: 2, leaves-per-pod: 2, spines-per-pod: 1, super-spines: 1, "
         "hosts-per-leaf: 1 }\n" +
         nodes + "switches:\n  default: { buffer: 32MiB }\n  second: { buffer: 64MiB }\n" + switches;
}

TEST(SwitchPatterns, GiveADomainItsProfile) {
  const Lab lab = parse(pods("  pod2-*: { profile: second }\n"), "x.yaml");
  for (const NodeSpec& n : lab.nodes)
    if (n.kind == NodeSpec::Kind::kSwitch)
      EXPECT_EQ(n.profile, n.name.starts_with("pod2-") ? "second" : "default") << n.name;
  EXPECT_EQ(parse(to_yaml(lab), "show.yaml").nodes, lab.nodes);
}

TEST(SwitchPatterns, TheLastThatFitsCountsAndTheNodesOwnWordMore) {
  const Lab lab = parse(pods("  pod2-*: { profile: second }\n  '*leaf1': { profile: default }\n",
                             "nodes: { pod1-spine1: { profile: second } }\n"),
                        "x.yaml");
  EXPECT_EQ(lab.find("pod2-leaf1")->profile, "default");
  EXPECT_EQ(lab.find("pod2-leaf2")->profile, "second");
  EXPECT_EQ(lab.find("pod1-spine1")->profile, "second");
}

TEST(SwitchPatterns, AProfileThatIsNotThere) {
  EXPECT_THAT(error_of(pods("  pod2-*: { profile: third }\n")),
              HasSubstr("switches.pod2-*.profile: there is no switch profile 'third'"));
  EXPECT_THAT(error_of(pods("  pod3-*: { profile: second }\n")), HasSubstr("no switch is named 'pod3-*'"));
}

}  // namespace
}  // namespace railyard::spec
