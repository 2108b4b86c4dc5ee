// Frames whose 802.1Q priority does not reach a switch that trusts it.
#include <algorithm>

#include <gmock/gmock.h>

#include "tests/control/lint/lint_lab.h"

namespace railyard::lint {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Switches trust PCP, class 4 is lossless.
std::vector<Finding> smb(const std::vector<std::string>& sets) {
  return findings_in(
      "qos: { default: { trust: pcp, classes: { 4: { lossless: true } } } }\n"
      "topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 3 }\n"
      "defaults: { link: { rate: 10Gbps, cable: 3m } }\n"
      "traffic: [ { name: smb, pattern: incast, from: [h1, h2], to: h3, transport: roce, dscp: 32, class: 4 } ]\n",
      sets);
}

TEST(Tags, NicsTagByThemselvesWhereSwitchesTrustPcp) { EXPECT_THAT(smb({}), IsEmpty()); }

TEST(Tags, FramesWithoutATagAreFound) {
  const auto found = smb({"hosts.default.vlan=off"});
  ASSERT_THAT(rules_of(found), Contains("frames-without-pcp"));
  EXPECT_EQ(found[0].path, "hosts.default.vlan");
  EXPECT_EQ(found[0].cases, 3);
  EXPECT_THAT(found[0].text, HasSubstr("leaf1 trusts PCP, but frames of h1:1 carry no 802.1Q tag: all are in class 0"));
  // And RDMA is in a class that drops.
  EXPECT_THAT(rules_of(found), Contains("rdma-in-lossy-class"));
}

TEST(Tags, APriorityTagThatASwitchTakesOffIsFound) {
  const auto found =
      smb({"hosts.default.vlan=0", "topology={ preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 2 }"});
  ASSERT_THAT(rules_of(found), Contains("pcp-lost"));
  EXPECT_THAT(found[0].text, HasSubstr("sends VLAN 1 untagged"));
}

// Receivers that pause by class, the lossy one that everything untagged is in.
TEST(Tags, AnAccessPortThatTakesTheTagOffTowardsANicIsFound) {
  const auto found = smb({"nodes={ leaf1: { vlans: { 3: { native: 7, tagged: none }, 1: { native: 7, tagged: none }, "
                          "2: { native: 7, tagged: none } } } }"});
  EXPECT_EQ(std::ranges::count(found, "pcp-lost", &Finding::rule), 3) << "of each NIC";
  const auto first = std::ranges::find(found, "pcp-lost", &Finding::rule);
  ASSERT_NE(first, found.end());
  EXPECT_THAT(first->text, HasSubstr("sends VLAN 7 untagged, but h"));
}

}  // namespace
}  // namespace railyard::lint
