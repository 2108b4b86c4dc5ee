#include <functional>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/doctor/rule.h"
#include "control/doctor/table.h"
#include "tests/control/doctor/report_of.h"

namespace railyard::doctor {
namespace {

using test::class3;
using test::Json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// "rule at element", the surest first.
std::vector<std::string> found(const std::function<void(Json&)>& change) {
  Json report = test::healthy();
  change(report);
  const Case c(std::move(report), "a.json");
  std::vector<std::string> out;
  for (const auto& [rule, d] : diagnose(c)) out.push_back(std::string(rule->id) + " at " + d.element);
  return out;
}

TEST(Rules, AHealthyLabHasNoFinding) {
  EXPECT_THAT(found([](Json&) {}), IsEmpty());
}

TEST(Rules, LossIsFoundByBothEndsCounters) {
  EXPECT_THAT(found([](Json& r) { class3(r, 3)["rx"]["packets"] = 9'900; }),
              ElementsAre("one-way-loss at leaf1:2 -> h2:1"));
  EXPECT_THAT(found([](Json& r) { class3(r, 3)["rx"]["packets"] = 9'990; }), IsEmpty()) << "ten may be on their way";
  EXPECT_THAT(found([](Json& r) {
                class3(r, 3)["rx"]["packets"] = 9'900;
                class3(r, 1)["drops"]["link_down"] = 30;
              }),
              ElementsAre("link-down at leaf1:2-h2:1"));
}

TEST(Rules, DamagedFramesAreNoSilentLoss) {
  EXPECT_THAT(found([](Json& r) {
                class3(r, 3)["rx"]["packets"] = 9'900;
                r["ports"][3]["drops"]["fcs_error"] = 100;
              }),
              ElementsAre("frame-errors at leaf1:2-h2:1"));
}

TEST(Rules, AnMtuIsBlamedOnTheLinkThatIsTooShort) {
  EXPECT_THAT(found([](Json& r) { class3(r, 3)["drops"]["giant"] = 5; }), ElementsAre("mtu-mismatch at leaf1:2-h2:1"));
  EXPECT_THAT(found([](Json& r) { class3(r, 0)["drops"]["too_big"] = 5; }), ElementsAre("mtu-mismatch at leaf1"));
}

// The same overflow of a headroom has four causes.
TEST(Rules, AnOverflowOfHeadroomIsBlamedOnWhoDidNotStop) {
  const auto overflow = [](Json& r) {
    class3(r, 0)["drops"]["headroom_full"] = 50;
    class3(r, 0)["xoff_sent"] = 10;
  };
  EXPECT_THAT(found([&](Json& r) {
                overflow(r);
                class3(r, 2)["xoff_received"] = 10;
              }),
              ElementsAre("pfc-ignored at h1"));
  EXPECT_THAT(found([&](Json& r) {
                overflow(r);
                class3(r, 2)["xoff_received"] = 1;
              }),
              ElementsAre("pfc-lost at leaf1:1 -> h1:1"));
  EXPECT_THAT(found([&](Json& r) {
                overflow(r);
                class3(r, 2)["pfc_not_enabled"] = 10;
              }),
              ElementsAre("pfc-one-sided at leaf1:1-h1:1"));
  EXPECT_THAT(found([&](Json& r) {
                overflow(r);
                class3(r, 2)["xoff_received"] = 10;
                class3(r, 2)["pause_share"] = 0.3;
              }),
              ElementsAre("headroom-small at leaf1:1"));
}

TEST(Rules, AHostThatPausesWithoutAnEndIsAStormElseASlowReceiver) {
  const auto paused = [](Json& r, int xoff, int all) {
    class3(r, 1)["xoff_received"] = xoff;
    class3(r, 1)["pfc_received"] = all;
    class3(r, 1)["pause_share"] = 0.3;
  };
  EXPECT_THAT(found([&](Json& r) { paused(r, 2, 3); }), ElementsAre("pfc-storm at h2"));
  EXPECT_THAT(found([&](Json& r) { paused(r, 6, 12); }), ElementsAre("slow-receiver at h2"));
}

TEST(Rules, AClassThatChangesIsFoundWhereItChangesFirst) {
  const auto moved = [](Json& r) {
    for (const std::size_t port : {0u, 1u}) {
      const char* way = port == 0 ? "rx" : "tx";
      class3(r, port)[way]["packets"] = 6'000;
      r["ports"][port]["classes"][0][way]["packets"] = 4'000;
    }
  };
  // h2 maps the DSCP as h1 does: the second link disagrees again, and is not to blame.
  EXPECT_THAT(found(moved), ElementsAre("dscp-rewritten at leaf1:1"));
}

TEST(Rules, QueuesThatPauseAndDoNotMark) {
  const auto congested = [](Json& r) {
    r["flows"] = Json::array({{{"name", "t"}, {"src", "h1"}, {"dst", "h2"}, {"transport", "roce"}, {"marked", 0}}});
    class3(r, 0)["xoff_sent"] = 10;
    class3(r, 2)["xoff_received"] = 10;
    class3(r, 2)["pause_share"] = 0.1;
    class3(r, 1)["max_depth_bytes"] = 500'000;
  };
  EXPECT_THAT(found(congested), ElementsAre("ecn-absent at leaf1:2"));
  EXPECT_THAT(found([&](Json& r) {
                congested(r);
                class3(r, 1)["ecn_marked"] = 5;
              }),
              IsEmpty());
  EXPECT_THAT(found([&](Json& r) {
                congested(r);
                r["flows"][0]["transport"] = "generator";
              }),
              IsEmpty())
      << "nobody reacts to marks of a generator";
}

TEST(Rules, MarksWithoutCnps) {
  const auto marked = [](Json& r, int sent, int handled) {
    r["flows"] = Json::array({{{"name", "t"},
                               {"src", "h1"},
                               {"dst", "h2"},
                               {"transport", "roce"},
                               {"marked", 500},
                               {"roce", {{"qps", 1}, {"cnp_sent", sent}, {"cnp_handled", handled}}}}});
  };
  EXPECT_THAT(found([&](Json& r) { marked(r, 0, 0); }), ElementsAre("ecn-not-echoed at h2"));
  EXPECT_THAT(found([&](Json& r) { marked(r, 9, 0); }), ElementsAre("ecn-not-echoed at h1"));
  EXPECT_THAT(found([&](Json& r) { marked(r, 9, 9); }), IsEmpty());
}

TEST(Rules, ASwitchThatRestartsExplainsItsLinks) {
  EXPECT_THAT(found([](Json& r) {
                class3(r, 1)["drops"]["crash"] = 20;
                class3(r, 2)["drops"]["link_down"] = 20;
              }),
              ElementsAre("switch-reset at leaf1"));
}

// An operator has no list of faults, and no counter of what they did.
TEST(Rules, TheListOfFaultsChangesNothing) {
  EXPECT_THAT(
      found([](Json& r) {
        r["faults"] = Json::array({{{"name", "secret"}, {"what", "loss"}, {"on", "leaf1:1"}, {"active", true}}});
        for (auto& p : r["ports"]) p["lost_to_faults"] = 1000;
      }),
      IsEmpty());
}

TEST(Rules, EachHasANameOfItsOwnAndSaysWhatWouldRefuteIt) {
  std::set<std::string> ids;
  for (const Rule* r : all_rules()) {
    EXPECT_TRUE(ids.insert(r->id).second) << r->id;
    EXPECT_STRNE(r->finds, "");
    EXPECT_STRNE(r->remedy, "");
    EXPECT_STRNE(r->refutes, "");
    EXPECT_THAT(rules_text(), HasSubstr(r->id));
  }
}

}  // namespace
}  // namespace railyard::doctor
