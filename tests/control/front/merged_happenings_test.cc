// What has happened at two sites, in one list.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/front/merged_happenings.h"
#include "tests/control/front/two_sites.h"

namespace railyard::front {
namespace {

using nlohmann::json;
using testing::ElementsAre;

json happening(std::uint64_t number, double at, const std::string& kind, const std::string& element, const std::string& text) {
  return {{"number", number}, {"unix_seconds", at}, {"modelled_seconds", at - 1000}, {"kind", kind}, {"element", element}, {"text", text}};
}

class Happened : public testing::Test {
 protected:
  std::vector<std::string> texts() const {
    std::vector<std::string> out;
    for (const daemon::Happening& h : all_.after(0)) out.push_back(h.text);
    return out;
  }
  SitePlan plan_ = two_sites();
  LinkMap map_{plan_};
  MergedHappenings all_{map_};
};

TEST_F(Happened, InTheOrderOfTheLabsClock) {
  EXPECT_EQ(all_.take("a", json::array({happening(1, 1010, "fault", "f", "fault f begins")}), 0, {}), 1u);
  const json of_b = json::array({happening(6, 1025, "drain", "leaf2", "leaf2 drained"), happening(7, 1035, "log", "info", "up")});
  EXPECT_EQ(all_.take("b", of_b, 5, {.unix_offset = 20, .modelled_offset = 4}), 7u);
  EXPECT_EQ(all_.take("b", of_b, 7, {}), 7u) << "it has said that before";
  EXPECT_TRUE(all_.after(0).empty());
  all_.settle();
  EXPECT_THAT(texts(), ElementsAre("leaf2 drained", "fault f begins", "b: up"));
  EXPECT_EQ(all_.after(0)[0].unix_seconds, 1005);
  EXPECT_EQ(all_.after(0)[0].modelled_seconds, 21);
  EXPECT_EQ(all_.after(2).size(), 1u);
}

// Both sites tell of it.
TEST_F(Happened, ALinkBetweenSitesFailsOnce) {
  const std::string trunk_a = plan_.trunks.at("a").begin()->first + ":1", trunk_b = plan_.trunks.at("b").begin()->first + ":1";
  const std::string at_a = plan_.trunks.at("b").begin()->second.far, at_b = plan_.trunks.at("a").begin()->second.far;
  const auto told = [&](const char* site, const std::string& near, const std::string& far, const std::string& state) {
    all_.take(site, json::array({happening(1, 1000, "link", near, "link " + near + " - " + far + " " + state)}), 0, {});
    all_.settle();
  };
  told("a", at_a, trunk_a, "down");
  told("b", at_b, trunk_b, "down");
  told("a", at_a, trunk_a, "up");
  EXPECT_THAT(texts(), ElementsAre("link " + at_a + " - " + at_b + " down"));
  told("b", trunk_b, at_b, "up");
  EXPECT_THAT(texts(), ElementsAre("link " + at_a + " - " + at_b + " down", "link " + at_a + " - " + at_b + " up"));
}

TEST_F(Happened, WhatIsNoneIsLeftOut) {
  EXPECT_EQ(all_.take("a", {7, json::array(), json::object(), {{"number", -1}}, {{"number", 3u}, {"text", 5}, {"unix_seconds", "x"}}}, 0, {}), 3u);
  EXPECT_EQ(all_.take("a", "nothing", 3, {}), 3u);
  all_.settle();
  ASSERT_EQ(all_.after(0).size(), 1u);
  EXPECT_EQ(all_.after(0)[0].text, "");
}

}  // namespace
}  // namespace railyard::front
