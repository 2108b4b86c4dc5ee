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

// The receiver finds the class by PCP, too: its default DSCP, 26, would be class 3.
TEST(Tags, ReceiversThatTrustPcpPauseTheClassOfTheTag) {
  const auto found = findings_in(
      "qos: { default: { trust: pcp, classes: { 4: { lossless: true } } } }\n"
      "topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 2 }\n"
      "defaults: { link: { rate: 100Gbps, cable: 3m } }\n"
      "hosts: { default: {}, slow: { receive: { rate: 50Gbps } } }\n"
      "nodes: { h2: { kind: host, profile: slow } }\n"
      "traffic: [ { name: a, from: h1, to: h2, class: 4, rate: 80Gbps } ]\n");
  EXPECT_THAT(rules_of(found), ElementsAre("receiver-slower-than-link")) << "and no class that is paused in vain";
}

TEST(Tags, AReceiverThatMapsPcpToAnotherClassIsFound) {
  const auto found = findings_in(
      "qos:\n"
      "  default: { trust: pcp, classes: { 4: { lossless: true } } }\n"
      "  nic: { trust: pcp, pcp: { 4: 2 }, classes: { 4: { lossless: true }, 2: { lossless: true } } }\n"
      "topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 2 }\n"
      "defaults: { link: { rate: 100Gbps, cable: 3m } }\n"
      "hosts: { default: {}, other: { qos: nic, receive: { rate: 50Gbps } } }\n"
      "nodes: { h2: { kind: host, profile: other } }\n"
      "traffic: [ { name: a, from: h1, to: h2, class: 4, rate: 80Gbps } ]\n");
  ASSERT_THAT(rules_of(found), Contains("class-maps-disagree"));
  EXPECT_THAT(found[0].text, HasSubstr("h2"));
  EXPECT_THAT(found[0].text, HasSubstr("class 2"));
}

// Receivers that pause by class, the lossy one that everything untagged is in.
TEST(Tags, AnAccessPortThatTakesTheTagOffTowardsANicIsFound) {
  const auto found =
      smb({"nodes={ leaf1: { vlans: { 3: { native: 7, tagged: none }, 1: { native: 7, tagged: none }, "
           "2: { native: 7, tagged: none } } } }"});
  EXPECT_EQ(std::ranges::count(found, "pcp-lost", &Finding::rule), 3) << "of each NIC";
  const auto first = std::ranges::find(found, "pcp-lost", &Finding::rule);
  ASSERT_NE(first, found.end());
  EXPECT_THAT(first->text, HasSubstr("sends VLAN 7 untagged, but h"));
}

// Rails as VLANs: traffic within one is fine, traffic between two does not arrive.
TEST(Tags, TrafficBetweenVlansIsFound) {
  const auto rails = [](const std::string& traffic) {
    return findings_in("topology: { preset: rail-optimized, hosts: 2, rails: 2, rails-per-switch: all }\n"
                       "defaults: { link: { rate: 100Gbps, cable: 3m } }\n"
                       "traffic: [ { name: t, rate: 10Gbps, " +
                       traffic + " } ]\n");
  };
  EXPECT_THAT(rules_of(rails("from: \"h1:1\", to: \"h2:1\"")), testing::Not(Contains("vlans-apart")));
  EXPECT_THAT(rules_of(rails("from: \"h1:1\", to: \"h2:1\", vlan: 101")), testing::Not(Contains("vlans-apart")));
  const auto found = rails("from: \"h1:1\", to: \"h2:2\"");
  ASSERT_THAT(rules_of(found), Contains("vlans-apart"));
  EXPECT_THAT(found[0].text, HasSubstr("t: h1:1 sends in VLAN 101, which the port of h2:2 does not carry (native VLAN 102)"));
  EXPECT_THAT(rules_of(rails("from: \"h1:1\", to: \"h2:1\", vlan: 102")), Contains("vlans-apart"));
}

}  // namespace
}  // namespace railyard::lint
