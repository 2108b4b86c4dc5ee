// Pauses, causes and settings of several sites as those of one lab.
#include <gtest/gtest.h>

#include "control/front/merge_findings.h"
#include "tests/control/front/two_sites.h"

namespace railyard::front {
namespace {

using nlohmann::json;

class MergedFindings : public testing::Test {
 protected:
  SitePlan plan_ = two_sites();
  LinkMap map_{plan_};
  std::string trunk_ = plan_.trunks.at("b").begin()->first + ":1";
  std::string far_ = plan_.trunks.at("b").begin()->second.far;
};

TEST_F(MergedFindings, PausesOfAllSites) {
  const json p = merged_pauses(map_, {{"a", {{"at_ns", 5}, {"paused", 1}, {"watched", false}, {"now", {{{"root", "h1:1/3"}}}}}},
                                      {"b", {{"at_ns", 7}, {"paused", 2}, {"watched", true}, {"now", {{{"root", trunk_ + "/3"}}}}, {"trees", {1}}}},
                                      {"c", "nonsense"}});
  EXPECT_EQ(p["at_ns"], 7);
  EXPECT_EQ(p["paused"], 3);
  EXPECT_EQ(p["watched"], true);
  ASSERT_EQ(p["now"].size(), 2u);
  EXPECT_EQ(p["now"][1]["root"], far_ + "/3");
  EXPECT_EQ(p["trees"], json({1}));
  EXPECT_EQ(p["deadlocks"], json::array());
  EXPECT_FALSE(merged_pauses(map_, {}).contains("trees"));
}

TEST_F(MergedFindings, TheSurestCauseIsFirst) {
  const json rule{{"rule", "r1"}, {"needs", "x"}}, other{{"rule", "r2"}, {"needs", "x"}};
  const json d = merged_diagnosis("x", map_,
                                  {{"a", {{"findings", {{{"rule", "p"}, {"element", "h1:1"}, {"confidence", 0.5}}}}, {"not_looked_at", {rule, other}}}},
                                   {"b", {{"findings", {{{"rule", "q"}, {"element", trunk_}, {"confidence", 0.9}}, 7}}, {"not_looked_at", {rule}}}}});
  ASSERT_EQ(d["findings"].size(), 3u);
  EXPECT_EQ(d["findings"][0]["rule"], "q");
  EXPECT_EQ(d["findings"][0]["element"], far_);
  EXPECT_EQ(d["not_looked_at"], json::array({rule})) << "somebody has looked at the other";
}

TEST(MergedSettings, EachPathOnce) {
  const json s = merged_settings({{"a", {{"settings", {{{"path", "p"}, {"value", "1"}}}}}}, {"b", {{"settings", {{{"path", "p"}, {"value", "1"}}, {{"path", "q"}, {"value", "2"}}}}}}});
  EXPECT_EQ(s["settings"].size(), 2u);
  const json c = merged_changes({{"a", {{"changes", json::array()}}}, {"b", {{"changes", {{{"path", "p"}, {"from", "1"}, {"to", "2"}}}}, {"effective_seconds", 3.5}}}});
  EXPECT_EQ(c["changes"].size(), 1u);
  EXPECT_EQ(c["effective_seconds"], 3.5);
}

}  // namespace
}  // namespace railyard::front
