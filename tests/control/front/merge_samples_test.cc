// What links carry, put together from the counters of two sites.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "control/front/merge_samples.h"
#include "tests/control/front/two_sites.h"

namespace railyard::front {
namespace {

using nlohmann::json;

// Of a site with so many links; its ends send `from`, `from` + 1, ...
json sample_of(std::size_t links, double from, const std::string& up = {}) {
  json out{{"up", up.empty() ? std::string(links, '1') : up}, {"held", false}, {"busy", from / 1000}, {"lateness_p99_ns", from}, {"slip_seconds", 0}};
  for (const char* key : {"bps", "use", "depth", "marked", "pauses", "drops"}) {
    out[key] = json::array();
    for (std::size_t e = 0; e < 2 * links; ++e) out[key].push_back(from + static_cast<double>(e));
  }
  return out;
}

class MergedSample : public testing::Test {
 protected:
  std::size_t links_of(const char* site) const { return map_.at(site).size(); }
  // The link between the sites: its number in the lab, and at a site.
  std::size_t crossing() const { return at("a").link; }
  LinkMap::Part at(const char* site) const { return map_.at(site)[number(site)]; }
  std::size_t number(const char* site) const {
    std::size_t i = 0;
    while (map_.at(site)[i].has_a && map_.at(site)[i].has_b) ++i;
    return i;
  }

  SitePlan plan_ = two_sites();
  LinkMap map_{plan_};
};

TEST_F(MergedSample, EachEndIsThatOfItsOwnSite) {
  const json s = merged_sample(map_, {{"a", sample_of(links_of("a"), 100)}, {"b", sample_of(links_of("b"), 500)}});
  ASSERT_EQ(s["bps"].size(), 2 * map_.lab().links.size());
  EXPECT_EQ(s["up"], std::string(map_.lab().links.size(), '1'));
  for (const char* site : {"a", "b"})
    for (std::size_t i = 0; i < links_of(site); ++i) {
      const LinkMap::Part& p = map_.at(site)[i];
      const double from = *site == 'a' ? 100 : 500;
      if (p.has_a) {
        EXPECT_EQ(s["bps"][2 * p.link], from + 2 * static_cast<double>(i));
      }
      if (p.has_b) {
        EXPECT_EQ(s["bps"][2 * p.link + 1], from + 2 * static_cast<double>(i) + 1);
      }
    }
  EXPECT_EQ(s["lateness_p99_ns"], 500);
  EXPECT_EQ(s["busy"], 0.5);
}

TEST_F(MergedSample, WhatATrunkDropsCountsForTheOtherEnd) {
  json a = sample_of(links_of("a"), 0);
  json b = sample_of(links_of("b"), 0);
  for (json* s : {&a, &b}) (*s)["drops"] = std::vector<int>((*s)["drops"].size(), 0);
  const std::size_t own = 2 * number("a") + (at("a").has_a ? 0 : 1);
  a["drops"][own] = 5;
  a["drops"][own ^ 1] = 7;
  const json s = merged_sample(map_, {{"a", a}, {"b", b}});
  const std::size_t end = 2 * crossing() + (at("a").has_a ? 0 : 1);
  EXPECT_EQ(s["drops"][end], 5);
  EXPECT_EQ(s["drops"][end ^ 1], 7);
}

TEST_F(MergedSample, ALinkBetweenSitesIsDownIfEitherSaysSo) {
  std::string up(links_of("b"), '1');
  up[number("b")] = '0';
  const json s = merged_sample(map_, {{"a", sample_of(links_of("a"), 0)}, {"b", sample_of(links_of("b"), 0, up)}});
  std::string expected(map_.lab().links.size(), '1');
  expected[crossing()] = '0';
  EXPECT_EQ(s["up"], expected);
}

TEST_F(MergedSample, LinksOfASiteThatIsAwayOrSaysNonsenseAreDown) {
  json other = sample_of(links_of("b"), 500);
  std::vector<json> nonsense{json(), json::array(), {{"up", 7}}, sample_of(links_of("b") - 1, 0)};
  nonsense.push_back(other);
  nonsense.back()["drops"][0] = "many";
  nonsense.push_back(other);
  nonsense.back()["use"] = json::object();
  std::string expected;
  for (std::size_t l = 0; l < map_.lab().links.size(); ++l) {
    bool is_of_a = false;
    for (const LinkMap::Part& p : map_.at("a")) is_of_a |= p.link == l && p.has_a && p.has_b;
    expected += is_of_a ? '1' : '0';
  }
  EXPECT_EQ(merged_sample(map_, {{"a", sample_of(links_of("a"), 0)}})["up"], expected);
  for (const json& b : nonsense) EXPECT_EQ(merged_sample(map_, {{"a", sample_of(links_of("a"), 0)}, {"b", b}})["up"], expected) << b;
  EXPECT_EQ(merged_sample(map_, {})["bps"].size(), 2 * map_.lab().links.size());
}

json history_from(double t, std::size_t steps, double value) {
  json h{{"step_seconds", 1.0}};
  for (const char* key : {"t", "modelled", "out", "in", "depth", "marked", "pauses", "drops"}) h[key] = json::array();
  for (std::size_t s = 0; s < steps; ++s) {
    h["t"].push_back(t + static_cast<double>(s));
    h["modelled"].push_back(static_cast<double>(s));
    for (const char* key : {"out", "in", "depth", "marked", "pauses", "drops"}) h[key].push_back(value);
  }
  return h;
}

TEST(MergedHistory, AddsWhatWasAtTheSameTime) {
  const json h = merged_history({{"a", history_from(100, 5, 10)}, {"b", history_from(102.3, 2, 1)}, {"c", json("none")}});
  EXPECT_EQ(h["t"], json({100.0, 101.0, 102.0, 103.0, 104.0}));
  EXPECT_EQ(h["out"], json({10.0, 10.0, 11.0, 11.0, 11.0}));
  EXPECT_EQ(h["depth"], json({10.0, 10.0, 10.0, 10.0, 10.0}));
  EXPECT_EQ(merged_history({})["t"], json::array());
  EXPECT_EQ(merged_history({{"a", history_from(100, 0, 0)}})["out"], json::array());
}

TEST(MergedHistory, IsColumnsOfEqualLength) {
  json h = history_from(100, 3, 1);
  EXPECT_TRUE(is_history(h));
  h["drops"].erase(0);
  EXPECT_FALSE(is_history(h));
  h = history_from(100, 3, 1);
  h["step_seconds"] = 0;
  EXPECT_FALSE(is_history(h));
  EXPECT_FALSE(is_history(json()));
}

}  // namespace
}  // namespace railyard::front
