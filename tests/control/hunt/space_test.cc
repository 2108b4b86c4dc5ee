#include "control/hunt/space.h"

#include <set>
#include <stdexcept>

#include <gmock/gmock.h>

#include "tests/control/hunt/hunt_lab.h"

namespace railyard::hunt {
namespace {

using testing::HasSubstr;

TEST(Space, EveryCaseIsAFabricFileThatLoads) {
  const spec::Lab lab = hunt_lab();
  const Space space(lab, {{}, 3, 2});
  spec::Draw draw(Seed{5}, "test");
  Case c = space.draw(draw);
  std::set<std::string> kinds;
  for (int i = 0; i < 300; ++i) {
    ASSERT_NO_THROW(hunt_lab(space.sets(c))) << testing::PrintToString(space.sets(c));
    ASSERT_GE(c.traffic.size(), 1u);
    ASSERT_LE(c.traffic.size(), 3u);
    ASSERT_LE(c.faults.size(), 2u);
    for (const Item& f : c.faults) kinds.insert(space.fault_features()[0].choices[f[0]]);
    c = i % 3 == 0 ? space.draw(draw) : space.neighbour(c, draw);
  }
  EXPECT_EQ(kinds.size(), space.fault_features()[0].choices.size()) << "each kind of fault comes up";
}

TEST(Space, WithoutFaultsThereAreNone) {
  const spec::Lab lab = hunt_lab();
  const Space space(lab, {{}, 2, 0});
  spec::Draw draw(Seed{1}, "test");
  Case c = space.draw(draw);
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(c.faults.empty());
    c = space.neighbour(c, draw);
  }
}

TEST(Space, TransportsAreThoseOfTheWorkloadUnlessSaid) {
  const spec::Lab lab = hunt_lab();
  const auto of = [&](const Space& s) {
    return s.traffic_features()[Space::index_of(s.traffic_features(), "transport")].choices;
  };
  EXPECT_EQ(of(Space(lab, {})), std::vector<std::string>{"roce"});
  EXPECT_EQ(of(Space(lab, {{spec::TrafficSpec::Transport::kUet}, 1, 1})), std::vector<std::string>{"uet"});
}

TEST(Space, AFabricWithOneNicHasNoWorkload) {
  const spec::Lab lab =
      hunt_lab({"topology={ preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 1 }", "traffic=[]"});
  EXPECT_THROW(Space(lab, {}), std::invalid_argument);
}

}  // namespace
}  // namespace railyard::hunt
