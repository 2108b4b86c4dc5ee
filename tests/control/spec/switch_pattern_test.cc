// Patterns in `switches`: settings of all switches whose names fit, in a fabric whose profile is `default`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
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
  const Lab lab = parse(pods("  leaf3,leaf4,spine2: { profile: second }\n"), "x.yaml");
  const std::set<std::string> second_pod{"leaf3", "leaf4", "spine2"};
  for (const NodeSpec& n : lab.nodes)
    if (n.kind == NodeSpec::Kind::kSwitch)
      EXPECT_EQ(n.profile, second_pod.contains(n.name) ? "second" : "default") << n.name;
  EXPECT_EQ(parse(to_yaml(lab), "show.yaml").nodes, lab.nodes);
}

TEST(SwitchPatterns, TheLastThatFitsCountsAndTheNodesOwnWordMore) {
  const Lab lab = parse(pods("  leaf*: { profile: second }\n  '?eaf1': { profile: default }\n",
                             "nodes: { spine1: { profile: second } }\n"),
                        "x.yaml");
  EXPECT_EQ(lab.find("leaf1")->profile, "default");
  EXPECT_EQ(lab.find("leaf2")->profile, "second");
  EXPECT_EQ(lab.find("spine1")->profile, "second");
  EXPECT_EQ(lab.find("spine2")->profile, "default");
}

TEST(SwitchPatterns, AProfileThatIsNotThere) {
  EXPECT_THAT(error_of(pods("  leaf*: { profile: third }\n")),
              HasSubstr("switches.leaf*.profile: there is no switch profile 'third'"));
  EXPECT_THAT(error_of(pods("  pod3-*: { profile: second }\n")), HasSubstr("no switch is named 'pod3-*'"));
}

}  // namespace
}  // namespace railyard::spec
