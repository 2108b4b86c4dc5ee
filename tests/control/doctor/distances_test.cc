// What light takes between NICs, and findings that leave it out.
#include "control/doctor/distances.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/doctor/rule.h"
#include "tests/control/doctor/report_of.h"

namespace railyard::doctor {
namespace {

using test::Json;
using test::named;
using testing::ElementsAre;
using testing::IsEmpty;

void add_link(Json& r, const char* node, int port, const char* peer, int peer_port, bool to_host, int ns) {
  const std::string here = std::string(node) + ":" + std::to_string(port), there = std::string(peer) + ":" + std::to_string(peer_port);
  r["ports"].push_back(test::port_of(node, port, there.c_str(), true));
  r["ports"].back()["propagation_ns"] = ns;
  r["ports"].push_back(test::port_of(peer, peer_port, here.c_str(), !to_host));
  r["ports"].back()["propagation_ns"] = ns;
}

// Two leaves with two hosts each; a way of 1 us by spine1, and of 5 us by spine2.
Json two_ways() {
  Json r = test::healthy();
  r["ports"] = Json::array();
  add_link(r, "leaf1", 1, "h1", 1, true, 15);
  add_link(r, "leaf1", 2, "h2", 1, true, 15);
  add_link(r, "leaf2", 1, "h3", 1, true, 15);
  add_link(r, "leaf2", 2, "h4", 1, true, 15);
  add_link(r, "leaf1", 3, "spine1", 1, false, 500);
  add_link(r, "leaf2", 3, "spine1", 2, false, 500);
  add_link(r, "leaf1", 4, "spine2", 1, false, 2'500);
  add_link(r, "leaf2", 4, "spine2", 2, false, 2'500);
  return r;
}

TEST(Distances, AreThoseOfTheShortestAndOfTheLongestEqualWay) {
  const Case c(two_ways(), "a.json");
  Distances d(c);
  EXPECT_EQ(d.between("h1", "h2:1").most, 30);
  EXPECT_EQ(d.widest(), 0);
  const Way across = d.between("h1", "h3");
  EXPECT_EQ(across.least, 1'030);
  EXPECT_EQ(across.most, 5'030);
  EXPECT_EQ(d.widest(), 4'000);
}

TEST(Distances, ShortCablesAreNotCounted) {
  Json r = two_ways();
  for (Json& p : r["ports"]) p["propagation_ns"] = 100;
  const Case c(r, "a.json");
  EXPECT_EQ(Distances(c).between("h1", "h3").most, 0);
}

// Flows of h4 in both directions; the others are between hosts of a leaf.
Json latencies(Json r, int of_h4) {
  const auto flow = [](const char* from, const char* to, int p50) {
    return Json{{"name", std::string(from) + ">" + to}, {"src", from}, {"dst", to}, {"transport", "roce"},
                {"delivered_packets", 1000},            {"share", 0.9}, {"latency_ns", {{"p50", p50}, {"p90", p50}, {"max", p50}}}};
  };
  r["flows"] = Json::array({flow("h1", "h2", 2'000), flow("h2", "h1", 2'000), flow("h3", "h1", 7'000), flow("h1", "h4", of_h4),
                            flow("h4", "h1", of_h4)});
  return r;
}

TEST(Distances, AHostFarAwayIsNotLate) {
  EXPECT_THAT(named(latencies(two_ways(), 7'000)), IsEmpty());
  EXPECT_THAT(named(latencies(two_ways(), 30'000)), ElementsAre("extra-delay at leaf2:2-h4:1"));
}

TEST(Distances, PacketsThatAreFasterThanLightShowAWrongClock) {
  Json r = latencies(two_ways(), 7'000);
  r["flows"][3]["latency_ns"]["p50"] = 600;
  EXPECT_THAT(named(r), ElementsAre("clock-skew at h1"));
}

}  // namespace
}  // namespace railyard::doctor
