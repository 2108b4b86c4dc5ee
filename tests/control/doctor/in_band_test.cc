// What in-band telemetry adds: the hop that delays, evidence for other findings, the switch at which packets part.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/doctor/rule.h"
#include "tests/control/doctor/report_of.h"

namespace railyard::doctor {
namespace {

using test::class3;
using test::Json;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

Json queue(const char* node, int port, const char* peer, double p99) {
  return {{"node", node}, {"port", port}, {"peer", peer}, {"class", 3}, {"packets", 100}, {"waited_ns", {{"p50", p99 / 2}, {"p99", p99}}}};
}

Json hop(const char* node, Json in, Json out, Json arrived, Json left) {
  return {{"node", node}, {"in", std::move(in)}, {"out", std::move(out)}, {"ingress_ns", std::move(arrived)}, {"egress_ns", std::move(left)}};
}

// A packet from h1 by a spine to h2; from leaf1:5 to spine1 it takes `detour` ns, and 500 ns over other links.
Json sampled(int detour) {
  const Json null;
  Json hops = Json::array();
  hops.push_back(hop("h1", null, 1, null, 0));
  hops.push_back(hop("leaf1", 1, 5, 500, 600));
  hops.push_back(hop("spine1", 1, 2, 600 + detour, 700 + detour));
  hops.push_back(hop("leaf2", 5, 1, 1200 + detour, 1300 + detour));
  hops.push_back(hop("h2", 1, null, 1800 + detour, null));
  return {{"flow", "t"}, {"latency_ns", 1800 + detour}, {"hops", std::move(hops)}};
}

Json in_band(std::vector<Json> queues, std::vector<Json> slowest) {
  Json r = test::healthy();
  r["int"] = {{"sampled", 1000}, {"queues", std::move(queues)}, {"slowest", std::move(slowest)}};
  return r;
}

std::vector<Found> diagnosed(const Json& r) { return diagnose(Case(r, "a.json")); }

TEST(InBand, ALinkThatTakesLongerThanTheOthersIsNamed) {
  EXPECT_THAT(diagnosed(in_band({}, {sampled(500), sampled(500)})), IsEmpty());
  const auto all = diagnosed(in_band({}, {sampled(40'000), sampled(40'100)}));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_STREQ(all[0].rule->id, "hop-delay");
  EXPECT_EQ(all[0].what.element, "leaf1:5 -> spine1:1") << "this report has no such port; else it is its link";
  EXPECT_THAT(all[0].what.evidence, Contains(HasSubstr("took 40.1 us from leaf1:5 -> spine1:1 beyond its cable, and 0.5 us over other links")));
}

TEST(InBand, TheQueueInWhichPacketsWait) {
  EXPECT_THAT(diagnosed(in_band({queue("leaf1", 2, "h2:1", 5e3), queue("leaf1", 1, "h1:1", 100)}, {})), IsEmpty()) << "5 us are no delay";
  EXPECT_THAT(diagnosed(in_band({queue("leaf1", 2, "h2:1", 50e3), queue("leaf1", 1, "h1:1", 40e3)}, {})), IsEmpty()) << "they all wait";
  const auto all = diagnosed(in_band({queue("leaf1", 2, "h2:1", 50e3), queue("leaf1", 1, "h1:1", 100)}, {}));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].what.element, "leaf1:2");
}

TEST(InBand, WaitingIsEvidenceOfOtherFindings) {
  Json r = in_band({queue("leaf1", 2, "h2:1", 50e3)}, {});
  class3(r, 1)["drops"]["egress_full"] = 100;
  class3(r, 1)["max_depth_bytes"] = 600'000;
  const auto all = diagnosed(r);
  ASSERT_EQ(all.size(), 1u) << "buffer-full explains the queue";
  EXPECT_STREQ(all[0].rule->id, "buffer-full");
  EXPECT_THAT(all[0].what.evidence, Contains(HasSubstr("waited 25.0 us (median), 50.0 us (p99) at leaf1:2 towards h2:1")));
}

TEST(InBand, PacketsThatOvertakeEachOtherPartAtASwitch) {
  Json r = test::healthy();
  r["flows"] = Json::array({{{"name", "t"}, {"src", "h1"}, {"dst", "h2"}, {"transport", "roce"}, {"roce", {{"out_of_sequence", 20}}}}});
  EXPECT_EQ(diagnosed(r).at(0).what.element, "leaf1:1-h1:1");
  const auto by = [](int port) {
    Json p = sampled(500);
    p["hops"][1]["out"] = port;
    return p;
  };
  r["int"] = in_band({}, {by(5), by(6), by(5)})["int"];
  const auto all = diagnosed(r);
  EXPECT_EQ(all.at(0).what.element, "leaf1");
  EXPECT_THAT(all[0].what.evidence, Contains(HasSubstr("packets of t left leaf1 by leaf1:5 (2 packets), leaf1:6 (1 packet)")));
}

}  // namespace
}  // namespace railyard::doctor
