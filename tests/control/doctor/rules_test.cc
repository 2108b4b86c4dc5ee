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

TEST(Rules, FewMissingPacketsCountWhenATransportHasMissedThem) {
  const auto missing = [](Json& r, int n, int retransmitted) {
    class3(r, 3)["rx"]["packets"] = 10'000 - n;
    r["flows"] = Json::array({{{"name", "t"},
                               {"src", "h1"},
                               {"dst", "h2"},
                               {"transport", "roce"},
                               {"roce", {{"retransmitted_packets", retransmitted}}}}});
  };
  EXPECT_THAT(found([&](Json& r) { missing(r, 12, 9); }), ElementsAre("one-way-loss at leaf1:2 -> h2:1"));
  EXPECT_THAT(found([&](Json& r) { missing(r, 12, 0); }), IsEmpty());
}

TEST(Rules, DamagedFramesAreNoSilentLoss) {
  EXPECT_THAT(found([](Json& r) {
                class3(r, 3)["rx"]["packets"] = 9'900;
                r["ports"][3]["drops"]["fcs_error"] = 100;
              }),
              ElementsAre("frame-errors at leaf1:2-h2:1"));
}

TEST(Rules, DamagedFramesAreCountedAndComeFromTheOtherEnd) {
  const auto evidence = [](const char* peer) {
    Json report = test::healthy();
    report["ports"] = Json::array({test::port_of("h2", 1, peer, false)});
    class3(report, 0)["rx"]["packets"] = 1'200'000;
    report["ports"][0]["drops"]["fcs_error"] = 34'567;
    const Case c(std::move(report), "a.json");
    for (const Found& f : diagnose(c))
      if (f.rule == &rules::kFrameErrors) return f.what.evidence.at(0);
    return std::string("not found");
  };
  EXPECT_EQ(evidence("leaf1:2"),
            "h2:1 received 34,567 of 1,234,567 frames with a wrong FCS or cut short: the way from leaf1:2 is damaged");
  EXPECT_EQ(evidence(""),
            "h2:1 received 34,567 of 1,234,567 frames with a wrong FCS or cut short: the way from its other end is damaged");
}

TEST(Rules, AnMtuIsBlamedOnTheLinkThatIsTooShort) {
  EXPECT_THAT(found([](Json& r) { class3(r, 3)["drops"]["giant"] = 5; }), ElementsAre("mtu-mismatch at leaf1:2-h2:1"));
  EXPECT_THAT(found([](Json& r) { class3(r, 0)["drops"]["too_big"] = 5; }), ElementsAre("mtu-mismatch at leaf1"));
}

TEST(Rules, FramesThatComeTwiceAreInNoOtherClass) {
  EXPECT_THAT(found([](Json& r) { class3(r, 3)["rx"]["packets"] = 10'050; }),
              ElementsAre("duplicated-frames at leaf1:2 -> h2:1"));
}

TEST(Rules, ALinkThatIsSlowWhileFramesWait) {
  const auto slow = [](Json& r, int busy, int intervals) {
    r["ports"][1]["rate_bps"] = 100e9;
    r["ports"][1]["busy_intervals"] = busy;
    r["ports"][1]["slow_intervals"] = intervals;
    r["ports"][1]["slow_bps"] = 25e9;
  };
  EXPECT_THAT(found([&](Json& r) { slow(r, 50, 48); }), ElementsAre("slow-link at leaf1:2-h2:1"));
  EXPECT_THAT(found([&](Json& r) { slow(r, 50, 2); }), IsEmpty());
}

TEST(Rules, ALinkThatGoesDownAgainAndAgainFlaps) {
  EXPECT_THAT(found([](Json& r) { r["ports"][1]["link_downs"] = 1; }), ElementsAre("link-down at leaf1:2-h2:1"));
  EXPECT_THAT(found([](Json& r) { r["ports"][3]["link_downs"] = 4; }), ElementsAre("link-flapping at leaf1:2-h2:1"));
  EXPECT_THAT(found([](Json& r) {
                r["ports"][0]["link_downs"] = 1;
                r["ports"][1]["link_downs"] = 1;
              }),
              ElementsAre("switch-reset at leaf1"))
      << "all of its links";
}

// Three hosts' worth of flows; times in ns.
Json flow(const char* from, const char* to, int p50, double share = 0.9) {
  return {{"name", std::string(from) + ">" + to},
          {"src", from},
          {"dst", to},
          {"transport", "roce"},
          {"delivered_packets", 1000},
          {"share", share},
          {"latency_ns", {{"p50", p50}, {"p90", p50}, {"max", p50}}}};
}

TEST(Rules, PacketsThatArriveBeforeTheyWereSentShowAWrongClock) {
  EXPECT_THAT(found([](Json& r) {
                r["flows"] = Json::array({flow("h1", "h2", 0), flow("h2", "h3", 3'000), flow("h3", "h1", 103'000)});
              }),
              ElementsAre("clock-skew at h1"));
}

TEST(Rules, MarksThatNoSwitchMade) {
  const auto marked = [](Json& r, int arrived) {
    r["flows"] = Json::array({flow("h1", "h2", 3'000)});
    r["flows"][0]["marked"] = arrived;
    r["flows"][0]["ce_share"] = 0.1;
    class3(r, 1)["ecn_marked"] = 50;
    class3(r, 1)["max_depth_bytes"] = 500'000;
  };
  EXPECT_THAT(found([&](Json& r) { marked(r, 200); }), ElementsAre("marks-unexplained at leaf1:1-h1:1"));
  EXPECT_THAT(found([&](Json& r) { marked(r, 50); }), IsEmpty());
}

TEST(Rules, TrimmedHeadersThatFindNoRoom) {
  const auto trimmed = [](Json& r, int dropped) {
    class3(r, 1)["trimmed"] = 100;
    class3(r, 1)["drops"]["trim_queue_full"] = dropped;
    r["flows"] = Json::array({flow("h1", "h2", 3'000)});
    r["flows"][0]["trimmed"] = 100;
  };
  EXPECT_THAT(found([&](Json& r) { trimmed(r, 90); }), ElementsAre("trim-misclassified at leaf1"));
  EXPECT_THAT(found([&](Json& r) { trimmed(r, 2); }), IsEmpty());
}

// A rank sends 1 GB for tensor parallelism, `across` of it in groups that span hosts, and `data` for data parallelism.
Json training_job(double across, double data, double efficiency = 0.2) {
  Json sent{{"tp", 1e9}};
  if (across > 0) sent["tp_across_hosts"] = across;
  if (data > 0) sent["dp"] = data;
  return {{"name", "train"},
          {"algorithm", "ring"},
          {"ranks", {"h1/gpu1", "h1/gpu2", "h2/gpu1", "h2/gpu2"}},
          {"repeats", 1},
          {"fabric_bytes", 4e9},
          {"job", nullptr},
          {"schedule",
           {{"efficiency", efficiency}, {"training", {{"parallelism", "tp 2, dp 2"}, {"microbatches", 2}, {"sent_bytes", sent}}}}}};
}
std::vector<std::string> found_in(const Json& job) {
  return found([&](Json& r) { r["collectives"] = Json::array({job}); });
}

TEST(Rules, TensorParallelGroupsThatSpanHostsAreBlamed) {
  EXPECT_THAT(found_in(training_job(1e9, 0)), ElementsAre("tensor-across-hosts at train"));
  EXPECT_THAT(found_in(training_job(1e9, 2e9)), ElementsAre("tensor-across-hosts at train"));
  EXPECT_THAT(found_in(training_job(1e9, 0, 0.8)), IsEmpty()) << "efficient";
  EXPECT_THAT(found_in(training_job(1e9, 4e9)), IsEmpty()) << "a fifth of what it sends";
}

// However many bytes of the job's other messages are in the fabric.
TEST(Rules, TensorParallelGroupsInOneHostAreFine) {
  EXPECT_THAT(found_in(training_job(0, 0)), IsEmpty());
  EXPECT_THAT(found_in(training_job(0, 3e9)), IsEmpty());
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
                class3(r, 2)["paused_ns"] = 300'000;
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
  const auto marked = [](Json& r, int sent, int handled, int ignored) {
    r["flows"] = Json::array(
        {{{"name", "t"},
          {"src", "h1"},
          {"dst", "h2"},
          {"transport", "roce"},
          {"roce",
           {{"qps", 1}, {"ecn_marked", 500}, {"cnp_sent", sent}, {"cnp_handled", handled}, {"cnp_ignored", ignored}}}}});
  };
  EXPECT_THAT(found([&](Json& r) { marked(r, 0, 0, 0); }), ElementsAre("ecn-not-echoed at h2"));
  EXPECT_THAT(found([&](Json& r) { marked(r, 90, 0, 90); }), ElementsAre("no-congestion-control at h1"));
  EXPECT_THAT(found([&](Json& r) { marked(r, 90, 0, 0); }), ElementsAre("no-congestion-control at fabric"));
  EXPECT_THAT(found([&](Json& r) { marked(r, 90, 90, 0); }), IsEmpty());
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

// leaf1 maps class 3 to class 1, and packets go both ways: both links differ at both ends, and leaf1 is an end of both.
TEST(Rules, ADeviceWithAnotherMapIsNamedNotItsNeighbours) {
  const auto other_map = [](Json& r) {
    for (const std::size_t port : {0u, 1u}) {
      auto& classes = r["ports"][port]["classes"];
      for (const char* way : {"rx", "tx"}) {
        classes[1][way]["packets"] = 10'000;
        classes[3][way]["packets"] = 0;
      }
    }
    for (const std::size_t port : {2u, 3u})
      for (const char* way : {"rx", "tx"}) class3(r, port)[way]["packets"] = 10'000;
  };
  EXPECT_THAT(found(other_map), ElementsAre("dscp-rewritten at leaf1"));
}

TEST(Rules, AnEndThatSendsNoPausesIsNotCalledSmallHeadroom) {
  const auto drops = [](Json& r, int cells) {
    class3(r, 0)["drops"]["headroom_full"] = 40;
    class3(r, 0)["max_headroom_cells"] = cells;
  };
  EXPECT_THAT(found([&](Json& r) { drops(r, 800); }), ElementsAre("pfc-one-sided at leaf1:1-h1:1"));
  EXPECT_THAT(found([&](Json& r) { drops(r, 0); }), ElementsAre("headroom-small at leaf1:1")) << "no frame fits";
}

TEST(Rules, PacketsOnTheirWayOverAllLinksAreNotLostOnOne) {
  const auto noticed = [](Json& r, int at_first, int at_second) {
    class3(r, 0)["rx"]["packets"] = 10'000 - at_first;
    class3(r, 3)["rx"]["packets"] = 10'000 - at_second;
    r["flows"] = Json::array({{{"name", "t"},
                               {"src", "h1"},
                               {"dst", "h2"},
                               {"transport", "roce"},
                               {"roce", {{"retransmitted_packets", 9}}}}});
  };
  EXPECT_THAT(found([&](Json& r) { noticed(r, 6, 7); }), IsEmpty());
  EXPECT_THAT(found([&](Json& r) { noticed(r, 6, 80); }), ElementsAre("one-way-loss at leaf1:2 -> h2:1"));
}

// h1 -> h2 is bound by the slot of h2: its other flow is, too, and that of h1 is not.
TEST(Rules, ASlotThatLimitsAReceiverIsTheReceivers) {
  const auto flow = [](const char* from, const char* to, double limit) {
    return Json{{"name", "t"}, {"src", from}, {"dst", to}, {"limit_bps", limit}, {"offered_bps", nullptr}, {"transport", "roce"}};
  };
  EXPECT_THAT(found([&](Json& r) {
                for (auto& p : r["ports"]) p["rate_bps"] = 100e9;
                for (const std::size_t port : {1u, 3u}) r["ports"][port]["utilisation"] = 0.6;
                r["flows"] = Json::array({flow("h1:1", "h2:1", 62e9), flow("h2:1", "h3:1", 62e9), flow("h3:1", "h1:1", 98e9)});
              }),
              testing::Contains("pcie-limit at h2"));
}

}  // namespace
}  // namespace railyard::doctor
