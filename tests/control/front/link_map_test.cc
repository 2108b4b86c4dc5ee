// Links by their numbers at sites, and names that sites do not have in common.
#include <string>

#include <gtest/gtest.h>

#include "control/front/link_map.h"
#include "control/sites/placement.h"
#include "control/spec/value.h"
#include "tests/control/front/two_sites.h"

namespace railyard::front {
namespace {

// As the site itself numbers them.
TEST(LinkMap, HasTheLinksOfEachSiteInItsOrder) {
  const SitePlan plan = two_sites();
  const LinkMap map(plan);
  for (const std::string site : {"a", "b"}) {
    const spec::Lab part = sites::part_of(plan.lab, site);
    ASSERT_EQ(map.at(site).size(), part.links.size());
    for (std::size_t i = 0; i < part.links.size(); ++i) {
      const LinkMap::Part& p = map.at(site)[i];
      const spec::LinkSpec& whole = map.lab().links[p.link];
      EXPECT_EQ(p.has_a, part.links[i].a == whole.a) << site << i;
      EXPECT_EQ(p.has_b, part.links[i].b == whole.b) << site << i;
    }
  }
}

TEST(LinkMap, PortsAtOtherSitesStandInThePlaceOfTrunks) {
  const SitePlan plan = two_sites();
  const LinkMap map(plan);
  ASSERT_EQ(plan.trunks.at("a").size(), 1u);
  const auto& [trunk, leads] = *plan.trunks.at("a").begin();
  const std::string far = leads.far;
  EXPECT_EQ(far.substr(0, far.find(':')), "leaf2");
  EXPECT_EQ(map.with_far_ends("a", "link spine1:2 - " + trunk + ":1 down"), "link spine1:2 - " + far + " down");
  EXPECT_EQ(map.with_far_ends("a", "spine1:2-" + trunk + ":1"), "spine1:2-" + far);
  EXPECT_EQ(map.with_far_ends("a", trunk + ":1-spine1:2"), far + "-spine1:2");
  for (const std::string& other : {trunk + ":12", "x" + trunk + ":1", trunk, std::string("h1:1"), std::string(":"), std::string()})
    EXPECT_EQ(map.with_far_ends("a", other), other);
  EXPECT_EQ(map.with_far_ends("b", trunk + ":1"), trunk + ":1") << "that is its name at another site";
  const nlohmann::json said{{"root", trunk + ":1/3"}, {"levels", {{trunk + ":1"}, {"h1:1"}}}, {"n", 3}};
  const nlohmann::json expected{{"root", far + "/3"}, {"levels", {{far}, {"h1:1"}}}, {"n", 3}};
  EXPECT_EQ(map.with_far_ends("a", said), expected);
}

TEST(LinkMap, FindsLinksByEitherEnd) {
  const SitePlan plan = two_sites();
  const LinkMap map(plan);
  for (std::size_t l = 0; l < map.lab().links.size(); ++l) {
    EXPECT_EQ(map.link_at(spec::format(map.lab().links[l].a)), l);
    EXPECT_EQ(map.link_at(spec::format(map.lab().links[l].b)), l);
  }
  EXPECT_EQ(map.link_at("leaf9:1"), std::nullopt);
}

}  // namespace
}  // namespace railyard::front
