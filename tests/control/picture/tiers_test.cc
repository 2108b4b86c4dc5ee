#include "control/picture/tiers.h"

#include <map>

#include <gtest/gtest.h>

#include "control/spec/load.h"

namespace railyard::picture {
namespace {

std::map<std::string, int> tiers_of(const std::string& yaml) {
  const spec::Lab lab = spec::parse(yaml, "x.yaml");
  const std::vector<int> found = tiers(routing::Graph(lab));
  std::map<std::string, int> out;
  for (std::size_t n = 0; n < lab.nodes.size(); ++n) out[lab.nodes[n].name] = found[n];
  return out;
}

using Tiers = std::map<std::string, int>;

TEST(Tiers, FollowTheRole) {
  EXPECT_EQ(tiers_of("name: x\nnodes:\n"
                     "  h: { kind: host }\n  a: { kind: switch, role: leaf }\n  b: { kind: switch, role: spine }\n"
                     "  c: { kind: switch, role: Super-Spine }\nlinks: [[h:1, a:1], [a:2, c:1], [c:2, b:1]]\n"),
            (Tiers{{"h", 0}, {"a", 1}, {"b", 2}, {"c", 3}}));
}

TEST(Tiers, WithoutRolesFollowTheDistanceToTheHosts) {
  EXPECT_EQ(tiers_of("name: x\nnodes:\n"
                     "  c: { kind: switch }\n  b: { kind: switch, role: of the west wing }\n  a: { kind: switch }\n"
                     "  h: { kind: host }\n  alone: { kind: switch }\nlinks: [[h:1, a:1], [a:2, b:1], [b:2, c:1]]\n"),
            (Tiers{{"h", 0}, {"a", 1}, {"b", 2}, {"c", 3}, {"alone", 1}}));
}

TEST(Tiers, AreCalledByTheirRoles) {
  EXPECT_EQ(tier_text(0, 1, false, false), "1 host");
  EXPECT_EQ(tier_text(1, 4, false, false), "4 leaves");
  EXPECT_EQ(tier_text(1, 4, false, true), "4 switches");
  EXPECT_EQ(tier_text(1, 1, true, true), "1 leaf");
  EXPECT_EQ(tier_text(2, 32, true, false), "32 spines");
  EXPECT_EQ(tier_text(3, 2, false, false), "2 super-spines");
  EXPECT_EQ(tier_text(5, 1, false, false), "1 switch of tier 5");
}

}  // namespace
}  // namespace railyard::picture
