// Bills of materials, power and the user's prices.
#include "control/plan/bill.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/control/plan/planned.h"

namespace railyard::plan {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class Bills : public testing::Test {
 protected:
  Prices prices(const std::string& text) {
    const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "prices.yaml";
    std::ofstream(path) << text;
    return read_prices(path.string());
  }
  std::string problem_with(const std::string& text) {
    try {
      static_cast<void>(prices(text));
    } catch (const std::exception& e) {
      return e.what();
    }
    return {};
  }
};

TEST_F(Bills, PartsAndPricesAddUp) {
  const Plan p = planned({{"gpus", "128"}, {"node-cable", "3m"}},
                         prices("currency: USD\nswitch: 30000\nnic: 1500\ndac: 100\naoc: 500\n"));
  EXPECT_EQ(p.now.count(Item::kServer), 16);
  EXPECT_EQ(p.now.count(Item::kNic), 128);
  EXPECT_EQ(p.now.count(Item::kSwitch), 8);
  EXPECT_EQ(p.now.count(Item::kDac), 128);
  EXPECT_EQ(p.now.count(Item::kAoc), 128);
  EXPECT_EQ(p.now.fabric_cost, 8 * 30'000 + 128 * 1'500 + 128 * 100 + 128 * 500);
  // 20 W for each of 25.6 Tb/s; 25 W; 0.2 W; 18 W.
  EXPECT_NEAR(p.now.fabric_watts, 8 * 512 + 128 * 25 + 128 * 0.2 + 128 * 18, 1e-6);
  EXPECT_NEAR(p.now.watts - p.now.fabric_watts, 16 * 10'200, 1e-6);
}

TEST_F(Bills, ModulesAreTwoForEachLink) {
  const Plan p = planned({{"gpus", "128"}, {"fabric-cable", "300m"}});
  EXPECT_EQ(p.now.count(Item::kDr), 2 * 128);
  EXPECT_EQ(p.now.count(Item::kFibre), 128);
}

TEST_F(Bills, AMissingPriceLeavesNoTotal) {
  const Plan p = planned({{"gpus", "128"}}, prices("switch: 30000\nnic: 1500\n"));
  EXPECT_EQ(p.now.fabric_cost, std::nullopt);
  EXPECT_THAT(p.now.unpriced, ElementsAre("server", "aoc"));
}

TEST_F(Bills, OwnWattsReplaceTheDefaults) {
  const Plan p = planned({{"gpus", "128"}}, prices("power: { switch: 1000, nic: 0, aoc: 0 }\n"));
  EXPECT_EQ(p.now.fabric_watts, 8'000);
}

TEST_F(Bills, ErrorsInPricesNameTheirPlace) {
  EXPECT_THAT(problem_with("switch: 3\nnic: -5\n"),
              AllOf(HasSubstr("prices.yaml:2:6: nic"), HasSubstr("'-5'"), HasSubstr("a price of 0 or more")));
  EXPECT_THAT(problem_with("swich: 3\n"), AllOf(HasSubstr("unknown key 'swich'"), HasSubstr("did you mean 'switch'")));
  EXPECT_THAT(problem_with("power: { nix: 3 }\n"), HasSubstr("unknown key 'nix'"));
  EXPECT_THAT(problem_with("pue: 0.5\n"), HasSubstr("expected 1 or more"));
  EXPECT_THAT(problem_with("switch: cheap\n"), HasSubstr("a price of 0 or more"));
}

}  // namespace
}  // namespace railyard::plan
