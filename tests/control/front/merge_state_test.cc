// Faults and hosts of two sites as those of one lab.
#include <string>

#include <gtest/gtest.h>

#include "control/api/message.h"
#include "control/front/merge_state.h"
#include "tests/control/front/two_sites.h"

namespace railyard::front {
namespace {

using nlohmann::json;

json state_of(const std::string& more) {
  return json::parse(R"({"held": false, "size": {"flows": 1, "collectives": 0}, "links_down": [], "hosts": [], "collectives": [], "faults": [])" +
                     (more.empty() ? "" : ", " + more) + "}");
}
json with_faults(const std::string& faults) { return state_of("\"faults\": [" + faults + "]"); }

class MergedState : public testing::Test {
 protected:
  json merged(const Answers& states, const std::string& why_b_is_away = {}) const {
    return merged_state("x", plan_, map_, states, {{"a", "x-a", ""}, {"b", "x-b", why_b_is_away}});
  }
  SitePlan plan_ = two_sites();
  LinkMap map_{plan_};
};

TEST_F(MergedState, AFaultAtTwoSitesIsOne) {
  const json s = merged({{"a", with_faults(R"({"name": "f", "what": "loss", "on": "leaf1:1", "active": true, "removed": false, "occurrences": 1, "frames": 3})")},
                         {"b", with_faults(R"({"name": "f", "what": "loss", "on": "leaf2:1", "active": false, "removed": false, "occurrences": 2, "frames": 4},
                                              {"name": "g", "what": "drain", "on": "leaf2", "active": true, "removed": false, "occurrences": 1, "frames": null})")}});
  ASSERT_EQ(s["faults"].size(), 2u);
  EXPECT_EQ(s["faults"][0]["on"], "leaf1:1, leaf2:1");
  EXPECT_EQ(s["faults"][0]["active"], true);
  EXPECT_EQ(s["faults"][0]["frames"], 7);
  EXPECT_EQ(s["faults"][0]["occurrences"], 2);
  EXPECT_EQ(s["faults"][0]["touches"]["links"], json({*map_.link_at("leaf1:1"), *map_.link_at("leaf2:1")}));
  EXPECT_EQ(s["faults"][1]["touches"]["nodes"], json({"leaf2"}));
  EXPECT_EQ(s["faults"][1]["frames"], nullptr);
}

TEST_F(MergedState, FaultsOfTheSameNameThatCameOneAfterTheOtherStayTwo) {
  const json s = merged({{"a", with_faults(R"({"name": "f", "what": "loss", "on": "leaf1:1", "active": false, "removed": true, "occurrences": 1, "frames": 3},
                                              {"name": "f", "what": "loss", "on": "leaf1:1", "active": true, "removed": false, "occurrences": 1, "frames": 0})")}});
  EXPECT_EQ(s["faults"].size(), 2u);
}

TEST_F(MergedState, LinksBetweenSitesAreNamedAsInTheLab) {
  const auto& [trunk, leads] = *plan_.trunks.at("b").begin();
  const std::size_t link = *map_.link_at(leads.far);
  const std::string a = map_.lab().links[link].a.node + ":" + std::to_string(map_.lab().links[link].a.port);
  const json s = merged({{"b", state_of("\"links_down\": [\"" + trunk + ":1\", \"nothing:1\", 7]")}});
  EXPECT_EQ(s["links_down"], json({a}));
}

TEST_F(MergedState, HostsOfASiteThatIsAwayAreDown) {
  const json s = merged({{"a", state_of(R"("hosts": [{"name": "h1", "state": "up"}, 3])")}}, "its daemon has ended");
  ASSERT_EQ(s["hosts"].size(), 2u);
  EXPECT_EQ(s["hosts"][0]["site"], "a");
  EXPECT_EQ(s["hosts"][1]["name"], "h2");
  EXPECT_EQ(s["hosts"][1]["state"], "down");
  EXPECT_EQ(s["sites"][1]["up"], false);
  EXPECT_EQ(s["sites"][1]["why"], "its daemon has ended");
}

TEST_F(MergedState, WhatIsNoStateIsNotTaken) {
  EXPECT_TRUE(is_state(state_of("")));
  EXPECT_FALSE(is_state(json()));
  EXPECT_FALSE(is_state(json::parse(R"({"held": 1, "size": {"flows": 1, "collectives": 0}})")));
  EXPECT_FALSE(is_state(json::parse(R"({"held": true, "size": {"flows": -1, "collectives": 0}})")));
  // Whose lists are none has nothing in them.
  const json s = merged({{"a", json::parse(R"({"held": true, "size": {"flows": 1, "collectives": 0}, "faults": {"a": 1}, "hosts": 7})")}});
  EXPECT_EQ(s["held"], true);
  EXPECT_TRUE(s["faults"].empty());
}

TEST_F(MergedState, TheLayoutHasAllNodesWithTheirSites) {
  const json layout = whole_layout(plan_, map_, "");
  ASSERT_EQ(layout["nodes"].size(), 5u);
  for (const json& node : layout["nodes"]) {
    EXPECT_EQ(node["site"], plan_.site_of.at(node["name"].get<std::string>()));
    EXPECT_NE(node["kind"], "trunk");
  }
  EXPECT_EQ(layout["links"].size(), map_.lab().links.size());
  EXPECT_THROW(whole_layout(plan_, map_, "paper"), api::ApiError);
}

}  // namespace
}  // namespace railyard::front
