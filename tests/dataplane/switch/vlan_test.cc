#include "dataplane/switch/vlan.h"

#include <gtest/gtest.h>

namespace railyard {
namespace {

using Egress = VlanMembership::Egress;

TEST(VlanMembership, ByDefaultVlan1Untagged) {
  const VlanMembership v;
  EXPECT_EQ(v.native(), 1);
  EXPECT_EQ(v.classify(false, 0), 1);
  EXPECT_EQ(v.egress(1), Egress::kUntagged);
  EXPECT_EQ(v.classify(true, 2), std::nullopt);
  EXPECT_EQ(v.egress(2), Egress::kNotMember);
}

TEST(VlanMembership, ATrunkCarriesItsNativeVlanUntaggedAndTheOthersTagged) {
  VlanMembership v(10);
  v.allow_tagged(20);
  v.allow_tagged(4094);
  EXPECT_EQ(v.classify(false, 0), 10);
  EXPECT_EQ(v.classify(true, 10), 10) << "tagged or not";
  EXPECT_EQ(v.classify(true, 20), 20);
  EXPECT_EQ(v.classify(true, 4094), 4094);
  EXPECT_EQ(v.classify(true, 21), std::nullopt);
  EXPECT_EQ(v.classify(true, 1), std::nullopt);
  EXPECT_EQ(v.egress(10), Egress::kUntagged);
  EXPECT_EQ(v.egress(20), Egress::kTagged);
  EXPECT_EQ(v.egress(21), Egress::kNotMember);
}

// IEEE 802.1Q §9.6: VID 0 says that there is a priority and no VLAN.
TEST(VlanMembership, APriorityTagIsNoVlan) {
  const VlanMembership v(10);
  EXPECT_EQ(v.classify(true, 0), 10);
}

TEST(VlanMembership, AllTagged) {
  VlanMembership v(7);
  v.allow_all_tagged();
  EXPECT_EQ(v.classify(true, 4000), 4000);
  EXPECT_EQ(v.egress(4000), Egress::kTagged);
  EXPECT_EQ(v.egress(7), Egress::kUntagged);
}

}  // namespace
}  // namespace railyard
