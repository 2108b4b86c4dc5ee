#include "control/spec/frame_tags.h"

#include <gtest/gtest.h>

#include "tests/control/spec/lab_builder.h"

namespace railyard::spec {
namespace {

constexpr const char* kPcp =
    "qos: { default: { trust: pcp, pcp: { 4: 0, 3: 4 }, classes: { 4: { lossless: true } } } }\n"
    "traffic: [ { name: t, from: h1, to: h2, dscp: 32, class: 4 } ]\n";

Lab with_pcp(const std::vector<std::string>& sets) { return parse_small_with(kPcp, sets); }
std::optional<NicTags> tags(const Lab& l) { return tags_of(l, {"h1", 1}); }

TEST(FrameTags, AutomaticallyWhereTheSwitchTrustsPcp) {
  ASSERT_TRUE(tags(with_pcp({})));
  EXPECT_EQ(tags(with_pcp({}))->vid, kAutomaticVlan);
  EXPECT_EQ(tags(with_pcp({}))->pcp[4], 3) << "PCP 4 is class 0 here, and 3 is class 4";
  EXPECT_EQ(tags(with_pcp({}))->pcp[5], 5);
  EXPECT_FALSE(tags(with_pcp({"qos.default.trust=dscp"})));
  EXPECT_EQ(tags(with_pcp({"nodes.leaf1={ kind: switch, vlans: { 1: { native: 7 } } }"}))->vid, 0)
      << "a priority tag, in the VLAN of the port";
}

TEST(FrameTags, AsTheHostSays) {
  EXPECT_FALSE(tags(with_pcp({"hosts.default.vlan=off"})));
  EXPECT_EQ(tags(with_pcp({"hosts.default.vlan=12"}))->vid, 12);
  EXPECT_EQ(tags(with_pcp({"hosts.default.vlan=12", "qos.default.trust=dscp"}))->vid, 12);
}

TEST(FrameTags, AsTheTrafficSays) {
  const auto tag = [](const std::vector<std::string>& sets) {
    const Lab l = with_pcp(sets);
    return tag_of(l, {"h1", 1}, l.traffic.at(0));
  };
  EXPECT_EQ(tag({})->vid, kAutomaticVlan);
  EXPECT_EQ(tag({})->pcp, std::nullopt);
  EXPECT_EQ(tag({"traffic.t.vlan=9", "traffic.t.pcp=6"})->vid, 9);
  EXPECT_EQ(tag({"traffic.t.vlan=9", "traffic.t.pcp=6"})->pcp, 6);
  EXPECT_EQ(tag({"hosts.default.vlan=off", "traffic.t.pcp=6"})->vid, 0);
  EXPECT_FALSE(tag({"hosts.default.vlan=off"}));
}

TEST(FrameTags, WhatSwitchesMakeOfThem) {
  const auto priority = [](const std::vector<std::string>& sets) {
    const Lab l = with_pcp(sets);
    return class_at_switch(l, l.qos.at("default"), l.traffic.at(0));
  };
  EXPECT_EQ(priority({}), 4);
  EXPECT_EQ(priority({"hosts.default.vlan=off", "qos.default.default-class=2"}), 2);
  EXPECT_EQ(priority({"traffic.t.pcp=6"}), 6);
  EXPECT_EQ(priority({"qos.default.trust=dscp"}), 4) << "DSCP 32";
}

}  // namespace
}  // namespace railyard::spec
