// Hosts that are slow in a collective, whose NICs all send as much as the slowest one; and slots that are slower than links.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/doctor/rule.h"
#include "tests/control/doctor/report_of.h"

namespace railyard::doctor {
namespace {

using test::class3;
using test::Json;
using test::named;
using testing::ElementsAre;
using testing::IsEmpty;

// Four ranks at 100 Gb/s; what a message takes in the median, in ns.
Json ring(const std::vector<int>& times) {
  Json r = test::healthy();
  r["ports"].push_back(test::port_of("leaf1", 3, "h3:1", true));
  r["ports"].push_back(test::port_of("leaf1", 4, "h4:1", true));
  r["ports"].push_back(test::port_of("h3", 1, "leaf1:3", false));
  r["ports"].push_back(test::port_of("h4", 1, "leaf1:4", false));
  for (Json& p : r["ports"]) p["rate_bps"] = 100e9;
  r["collectives"] = Json::array({{{"name", "sum"},
                                   {"algorithm", "ring"},
                                   {"ranks", {"h1", "h2", "h3", "h4"}},
                                   {"rank_message_ns", times},
                                   {"retransmitted_packets", 0},
                                   {"job", nullptr},
                                   {"schedule", nullptr}}});
  return r;
}

TEST(SlowHosts, ARankWhoseMessagesTakeLongerIsASlowSender) {
  EXPECT_THAT(named(ring({40'000, 41'000, 90'000, 40'000})), IsEmpty()) << "ranks of a ring are not all alike";
  EXPECT_THAT(named(ring({40'000, 41'000, 180'000, 40'000})), ElementsAre("slow-sender at h3"));
}

TEST(SlowHosts, QueuesPausesAndLossesExplainLongMessages) {
  const Json slow = ring({40'000, 41'000, 180'000, 40'000});
  Json queue = slow;
  class3(queue, 1)["max_depth_bytes"] = 1'000'000;  // 80 us at 100 Gb/s, there and back
  EXPECT_THAT(named(queue), IsEmpty());
  Json paused = slow;
  paused["ports"][6]["classes"][3]["paused_ns"] = 100'000;
  EXPECT_THAT(named(paused), IsEmpty());
  Json lossy = slow;
  lossy["collectives"][0]["retransmitted_packets"] = 12;
  EXPECT_THAT(named(lossy), IsEmpty());
  Json far = slow;
  for (Json& p : far["ports"]) p["propagation_ns"] = 10'000;
  EXPECT_THAT(named(far), IsEmpty()) << "2 km: some ranks are further apart than others";
}

TEST(SlowHosts, AFabricThatIsFullOrOneSlowSinkIsToBlameItself) {
  const Json slow = ring({40'000, 41'000, 180'000, 40'000});
  Json full = slow;
  full["ports"].push_back(test::port_of("leaf1", 9, "spine1:1", true));
  full["ports"].push_back(test::port_of("spine1", 1, "leaf1:9", true));
  full["ports"].back()["utilisation"] = 0.95;
  EXPECT_THAT(named(full), IsEmpty());
  Json sink = slow;
  sink["ports"][5]["busy_intervals"] = 120;
  EXPECT_THAT(named(sink), IsEmpty()) << "frames wait for h4 all the time";
}

TEST(SlowHosts, NicsOfDifferentRatesAreSlowByDesign) {
  Json r = ring({40'000, 41'000, 180'000, 40'000});
  r["ports"][6]["rate_bps"] = 25e9;
  EXPECT_THAT(named(r), IsEmpty());
}

TEST(SlowHosts, ASlotThatIsSlowerThanTheLinkIsTheCauseOfASlowHost) {
  Json r = ring({40'000, 41'000, 180'000, 40'000});
  r["ports"][6]["slot_bps"] = 63e9;
  r["ports"][6]["utilisation"] = 0.1;
  r["ports"][4]["utilisation"] = 0.1;
  EXPECT_THAT(named(r), ElementsAre("slow-sender at h3")) << "nobody uses it";
  r["ports"][6]["utilisation"] = 0.6;
  EXPECT_THAT(named(r), ElementsAre("pcie-limit at h3"));
  // It pauses its switch for what the slot does not take.
  Json pausing = ring({40'000, 41'000, 40'000, 40'000});
  pausing["ports"][6]["slot_bps"] = 63e9;
  pausing["ports"][6]["classes"][3]["xoff_sent"] = 6;
  pausing["ports"][4]["classes"][3]["xoff_received"] = 6;
  pausing["ports"][4]["classes"][3]["pfc_received"] = 12;
  pausing["ports"][4]["classes"][3]["pause_share"] = 0.3;
  EXPECT_THAT(named(pausing), ElementsAre("pcie-limit at h3"));
  pausing["ports"][6].erase("slot_bps");
  EXPECT_THAT(named(pausing), ElementsAre("slow-receiver at h3"));
}

// h4 asks for less than the others get. With as much in flight as they, over a longer way, it waits for its window.
TEST(SlowHosts, WhoHasAsMuchInFlightAsTheOthersWaitsForItsWindow) {
  const auto flow = [](const char* from, const char* to, double share, int p50) {
    return Json{{"name", from},          {"src", from},        {"dst", to},
                {"transport", "roce"},   {"share", share},     {"goodput_bps", share * 98e9},
                {"delivered_packets", 1000}, {"goodput_ns", 1e6},     {"limit_bps", 98e9},  {"offered_bps", nullptr},
                {"latency_ns", {{"p50", p50}, {"p90", p50}, {"max", p50}}}};
  };
  Json r = ring({40'000, 40'000, 40'000, 40'000});
  r["collectives"] = Json::array();
  r["flows"] = Json::array({flow("h1", "h2", 0.9, 2'000), flow("h2", "h3", 0.9, 2'000), flow("h3", "h4", 0.9, 2'000), flow("h4", "h1", 0.3, 2'000)});
  EXPECT_THAT(named(r), ElementsAre("slow-sender at h4"));
  for (const char* percentile : {"p50", "p90", "max"}) r["flows"][3]["latency_ns"][percentile] = 2'900;
  r["flows"][3]["goodput_bps"] = 70e9;
  r["flows"][3]["share"] = 0.62;
  EXPECT_THAT(named(r), IsEmpty());
}

}  // namespace
}  // namespace railyard::doctor
