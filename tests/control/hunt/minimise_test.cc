// Search and minimal feature set on planted weaknesses: a case does its damage if it has what the weakness needs.
#include <algorithm>

#include <gmock/gmock.h>

#include "control/hunt/hunt.h"
#include "tests/control/hunt/hunt_lab.h"

namespace railyard::hunt {
namespace {

// An incast of small messages over many QPs, with any loss.
class Planted {
 public:
  explicit Planted(const Space& space) : space_(space) {}

  std::vector<std::optional<Damage>> operator()(const std::vector<Case>& cases) {
    std::vector<std::optional<Damage>> out;
    for (const Case& c : cases) {
      ++asked;
      out.emplace_back(Damage{});
      const bool lossy =
          std::ranges::any_of(c.faults, [&](const Item& f) { return has(f, space_.fault_features(), "kind", "loss"); });
      for (const Item& t : c.traffic)
        if (lossy && has(t, space_.traffic_features(), "pattern", "incast") &&
            has(t, space_.traffic_features(), "message", "256B"))
          out.back()->value = has(t, space_.traffic_features(), "qps", "16") ? 0.8 : 0.75;
      // Everything else hurts a little, and each part of the weakness somewhat more.
      double little = 0.01 * static_cast<double>(c.traffic.size()) + (lossy ? 0.1 : 0);
      for (const Item& t : c.traffic)
        little += (has(t, space_.traffic_features(), "pattern", "incast") ? 0.05 : 0) +
                  (has(t, space_.traffic_features(), "message", "256B") ? 0.05 : 0);
      out.back()->value = std::max(out.back()->value, little);
    }
    return out;
  }
  std::size_t asked = 0;

  static bool has(const Item& item, const std::vector<Feature>& features, const char* feature, const char* choice) {
    const std::size_t f = Space::index_of(features, feature);
    return features[f].choices[item[f]] == choice;
  }

 private:
  const Space& space_;
};

TEST(Hunt, FindsAPlantedWeaknessAndWhatItNeeds) {
  const spec::Lab lab = hunt_lab();
  const Space space(lab, {{}, 3, 1});
  Planted planted(space);
  const Found found = hunt(space, {400, 0.9, Seed{1}}, std::ref(planted));
  EXPECT_GE(found.damage.value, 0.9 * 0.8);
  EXPECT_LE(planted.asked, 400u);
  EXPECT_TRUE(found.complete);
  ASSERT_EQ(found.smallest.traffic.size(), 1u);
  ASSERT_EQ(found.smallest.faults.size(), 1u);
  std::vector<std::string> needs;
  for (const Need& n : found.needs)
    needs.push_back((n.of_fault ? space.fault_features() : space.traffic_features())[n.feature].name);
  EXPECT_THAT(needs, testing::UnorderedElementsAre("kind", "pattern", "message"))
      << "16 QPs do more damage, but 90 % of it is there without";
}

TEST(Hunt, TheSameSeedFindsTheSame) {
  const spec::Lab lab = hunt_lab();
  const Space space(lab, {{}, 3, 1});
  Planted planted(space);
  const HuntPlan plan{60, 0.9, Seed{3}};
  EXPECT_EQ(hunt(space, plan, std::ref(planted)).smallest, hunt(space, plan, std::ref(planted)).smallest);
}

TEST(Hunt, ASmallerCaseKeepsTheDamageWhateverTheBudget) {
  const spec::Lab lab = hunt_lab();
  const Space space(lab, {{}, 3, 1});
  Planted planted(space);
  const Found whole = hunt(space, {400, 0.9, Seed{1}}, std::ref(planted));
  const Case& worst = whole.trials[whole.worst].what;
  const double damage = whole.trials[whole.worst].damage->value;
  for (const std::size_t budget : {0u, 1u, 3u, 7u}) {
    Found into;
    Damage done;
    done.value = damage;
    minimise(space, {budget, 0.9, Seed{1}}, std::ref(planted), worst, done, into);
    EXPECT_GE(planted({into.smallest}).front()->value, 0.9 * damage) << budget;
    EXPECT_LE(into.runs, budget);
    EXPECT_FALSE(into.complete);
  }
}

// Cases that cannot be run do no damage and stop nothing.
TEST(Hunt, NothingCanBeRun) {
  const spec::Lab lab = hunt_lab();
  const Space space(lab, {});
  const Found found = hunt(space, {20, 0.9, Seed{1}}, [](const std::vector<Case>& cases) {
    return std::vector<std::optional<Damage>>(cases.size());
  });
  EXPECT_FALSE(found.trials[found.worst].damage);
  EXPECT_TRUE(found.needs.empty());
}

}  // namespace
}  // namespace railyard::hunt
