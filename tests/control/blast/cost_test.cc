// Costs, from reports that are written by hand.
#include "control/blast/cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railyard::blast {
namespace {

using Json = nlohmann::ordered_json;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr Duration kMillisecond{1'000'000'000};

// Two flows with an end, complete after 10 ms.
Json good() {
  return Json::parse(R"({
    "traffic": [{"name": "t", "with_end": 2}],
    "flows": [
      {"name": "t/a", "start_ns": 0, "fct_ns": 9000000, "lost": 0, "delivered_bytes": 1000, "last_delivered_ns": 9000000},
      {"name": "t/b", "start_ns": 1000000, "fct_ns": 9000000, "lost": 2, "delivered_bytes": 1000, "last_delivered_ns": 10000000}],
    "collectives": [],
    "drops": [{"reason": "wred", "frames": 2}],
    "ports": [{"lost_on_link": 0, "lost_to_faults": 0}],
    "reroutings": []})");
}

Cost cost(const Json& with, const Json& without = good(), Duration lasts = kMillisecond * 4) {
  return cost_of({}, with, without, kMillisecond * 3, lasts, {});
}

TEST(Cost, OfNothingIsNothing) {
  const Cost c = cost(good());
  EXPECT_EQ(c.lost, 0u);
  EXPECT_DOUBLE_EQ(c.stretch.value(), 1);
  EXPECT_FALSE(c.single_point());
  EXPECT_EQ(c.hit, 0u);
  EXPECT_FALSE(c.repaired_ns.has_value());
}

TEST(Cost, CountsWhatIsLostBeyondTheUsual) {
  Json with = good();
  with["drops"] = Json::parse(R"([{"reason": "wred", "frames": 5}, {"reason": "link_down", "frames": 40}])");
  with["ports"][0]["lost_on_link"] = 7;
  with["flows"][0]["lost"] = 50;
  with["flows"][0]["fct_ns"] = 20'000'000;
  const Cost c = cost(with);
  EXPECT_EQ(c.lost, 3u + 40 + 7);
  EXPECT_THAT(c.reasons, ElementsAre(Pair("link_down", 40), Pair("lost_on_link", 7), Pair("wred", 3)));
  EXPECT_EQ(c.hit, 1u);
  EXPECT_DOUBLE_EQ(c.stretch.value(), 2);
}

// What a rack's own hosts lose is no loss to others.
TEST(Cost, FlowsOfHostsThatFailDoNotCount) {
  Json without = good();
  for (Json& f : without["flows"]) f["name"] = f["name"] == "t/a" ? "t/h1->h2:1" : "t/h10:1->h3:1";
  Json with = without;
  for (Json& f : with["flows"]) f["fct_ns"] = nullptr;
  Element rack;
  rack.hosts = {"h1"};
  EXPECT_THAT(cost_of(rack, with, without, kMillisecond * 3, kMillisecond, {}).gone, ElementsAre("t/h10:1->h3:1"));
  rack.hosts = {"h3", "h2"};
  EXPECT_THAT(cost_of(rack, with, without, kMillisecond * 3, kMillisecond, {}).gone, IsEmpty());
}

TEST(Cost, WhatIsNeverCompleteMakesASinglePointOfFailure) {
  Json with = good();
  with["flows"][1]["fct_ns"] = nullptr;
  const Cost c = cost(with);
  EXPECT_THAT(c.gone, ElementsAre("t/b"));
  EXPECT_TRUE(c.single_point());
  EXPECT_FALSE(c.stretch.has_value()) << "the job never ended";
  // What was not complete without the failure either is none of its business.
  EXPECT_THAT(cost(with, with).gone, IsEmpty());
}

TEST(Cost, TrafficWithoutAnEndComesBackOrNot) {
  Json without = good();
  without["traffic"][0]["with_end"] = 0;
  for (Json& f : without["flows"]) {
    f["fct_ns"] = nullptr;
    f["last_delivered_ns"] = 19'900'000;
  }
  Json with = without;
  with["flows"][0]["last_delivered_ns"] = 3'000'000;
  with["flows"][0]["delivered_bytes"] = 250;
  const Cost c = cost_of({}, with, without, kMillisecond * 3, kMillisecond * 4, kMillisecond * 20);
  EXPECT_THAT(c.gone, ElementsAre("t/a"));
  EXPECT_DOUBLE_EQ(c.stretch.value(), 2000.0 / 1250);
}

TEST(Cost, ACollectiveIsWork) {
  Json without = good();
  without["flows"] = Json::array();
  without["traffic"] = Json::array();
  without["collectives"] = Json::parse(
      R"([{"name": "ar", "completed": true, "iterations": [{"start_ns": 0, "time_ns": 4}, {"start_ns": 4, "time_ns": 6}]}])");
  Json with = without;
  with["collectives"][0]["iterations"][1]["time_ns"] = 16;
  EXPECT_DOUBLE_EQ(cost(with, without).stretch.value(), 2);
  with["collectives"][0]["completed"] = false;
  with["collectives"][0]["iterations"][1]["time_ns"] = nullptr;
  EXPECT_THAT(cost(with, without).gone, ElementsAre("ar"));
}

// At 3 ms it fails, at 7 ms it is back.
TEST(Cost, RepairAndReturnAreToldApart) {
  Json with = good();
  with["reroutings"] = Json::parse(R"([
    {"began_ns": 3000000, "first_change_ns": 5000000, "last_change_ns": 6100000},
    {"began_ns": 7000000, "first_change_ns": 8000000, "last_change_ns": 9500000}])");
  const Cost c = cost(with);
  EXPECT_EQ(c.first_change_ns, 2'000'000);
  EXPECT_EQ(c.repaired_ns, 3'100'000);
  EXPECT_EQ(c.restored_ns, 2'500'000);
  const Cost for_ever = cost(with, good(), {});
  EXPECT_EQ(for_ever.repaired_ns, 6'500'000);
  EXPECT_FALSE(for_ever.restored_ns.has_value());
}

TEST(Cost, SinglePointsOfFailureComeFirst) {
  std::vector<Cost> all(4);
  all[0].element.name = "cheap";
  all[0].stretch = 1;
  all[1].element.name = "slow";
  all[1].stretch = 3;
  all[2].element.name = "point";
  all[2].gone = {"t/a"};
  all[3].element.name = "lossy";
  all[3].stretch = 1;
  all[3].lost = 10;
  sort_by_cost(all);
  EXPECT_EQ(all[0].element.name, "point");
  EXPECT_EQ(all[1].element.name, "slow");
  EXPECT_EQ(all[2].element.name, "lossy");
}

}  // namespace
}  // namespace railyard::blast
