// Faults of a lab that runs, through the API. Nothing here depends on how fast it runs.
#include "control/daemon/faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/fault/fault_log.h"
#include "control/spec/load.h"
#include "tests/control/daemon/running_lab_fixture.h"

namespace railyard::daemon {
namespace {

using testing::HasSubstr;

class LiveFaultsTest : public RunningLabFixture {
 protected:
  LiveFaultsTest() : RunningLabFixture(kTwoHosts) {}
  json fault(const std::string& name) {
    const json answer = ask("GET", "/faults");
    for (const json& f : answer["faults"])
      if (f["name"] == name) return f;
    return nullptr;
  }
  // A change is made at an instant that is still to come if the lab is behind, and modelled time slips.
  void wait_until_it_is_removed(const std::string& name) {
    while (!fault(name)["removed"].get<bool>()) std::this_thread::yield();
  }
  void wait_until_it_touched(const std::string& name, std::uint64_t frames) {
    while (fault(name)["frames"].get<std::uint64_t>() < frames) std::this_thread::yield();
  }
};

TEST_F(LiveFaultsTest, ComeAndGo) {
  const json added = ask("POST", "/faults", {{"fault", "on: h1 out, loss: 50%"}});
  EXPECT_EQ(added["fault"], "loss-1");
  wait_until_it_touched("loss-1", 10);
  EXPECT_TRUE(fault("loss-1")["active"].get<bool>());
  const json removed = ask("DELETE", "/faults/loss-1");
  EXPECT_GE(removed["frames"].get<std::uint64_t>(), 10u);
  EXPECT_GT(removed["effective_seconds"].get<double>(), added["effective_seconds"].get<double>());
  wait_until_it_is_removed("loss-1");
  // The next one without a name may have it again; and every frame arrives again.
  ask("POST", "/faults", {{"fault", "on: h2, down: true, for: 1us"}});
  wait_for_packets();
  EXPECT_TRUE(ask("GET", "/audit")["balanced"].get<bool>());
}

TEST_F(LiveFaultsTest, TheLogCanBeReplayed) {
  ask("POST", "/faults", {{"fault", "name: a, on: h2, loss: 10%"}});
  wait_until_it_touched("a", 1);
  ask("DELETE", "/faults/a");
  wait_until_it_is_removed("a");
  std::string log;
  const json answer = ask("GET", "/faults/log");
  for (const json& line : answer["lines"]) log += line.get<std::string>() + "\n";
  const auto logged = fault::read_log(log, "log");
  ASSERT_EQ(logged.size(), 1u);
  ASSERT_EQ(logged[0].happened.size(), 1u);
  EXPECT_EQ(logged[0].happened[0].begin, logged[0].added);
  EXPECT_EQ(logged[0].happened[0].end, logged[0].removed);
}

// What one did by hand is in it where that is asked for: a link is a fault "down", whichever of its ends was named.
TEST_F(LiveFaultsTest, LinksTakenDownByHandAreInTheLogOfTheSession) {
  const json down = ask("POST", "/links", {{"link", "leaf1:2"}, {"up", false}});
  ask("POST", "/links", {{"link", "h2:1"}, {"up", true}});
  ask("POST", "/links", {{"link", "h2:1"}, {"up", false}});
  EXPECT_TRUE(ask("GET", "/faults/log")["lines"].empty());
  EXPECT_EQ(error_of(400, "GET", "/faults/log?links=perhaps"), "links: 'perhaps'; expected true or false");
  std::string log;
  const json answer = ask("GET", "/faults/log?links=true");
  for (const json& line : answer["lines"]) log += line.get<std::string>() + "\n";
  const auto logged = fault::read_log(log, "log");
  ASSERT_EQ(logged.size(), 2u);
  EXPECT_NEAR(seconds(logged[0].added - Instant{}), down["effective_seconds"].get<double>(), 1e-9);
  ASSERT_EQ(logged[0].happened.size(), 1u);
  EXPECT_EQ(logged[0].happened[0].end, logged[0].removed);
  EXPECT_EQ(logged[1].happened[0].end, Instant::never()) << "it is down still";
  // And a lab takes them.
  spec::Lab lab = settings_.lab();
  for (const fault::LoggedFault& f : logged) lab.faults.push_back(spec::parse_fault(lab, f.text, f.place));
  EXPECT_EQ(lab.faults.size(), 2u);
}

TEST_F(LiveFaultsTest, BadOnesLeaveTheLabAsItWas) {
  const auto error = [&](const std::string& text) { return error_of(400, "POST", "/faults", {{"fault", text}}); };
  EXPECT_THAT(error("on: leaf9:1, loss: 1%"), HasSubstr("there is no node 'leaf9'; did you mean 'leaf1'?"));
  EXPECT_THAT(error("on: h1, loss: 1.5"), HasSubstr("1.5 is above 1"));
  EXPECT_THAT(error("on: h1, loss: 1%, for: -1s"), HasSubstr("is negative"));
  EXPECT_THAT(error("on: h1, drop: true, match: { bth.pns: 1 }"), HasSubstr("unknown header field 'bth.pns'"));
  EXPECT_THAT(error("on: h1, loss: 1%, at: 0ps"), HasSubstr("has passed"));
  EXPECT_THAT(error("on: h1, loss: 1%, at: 0ps"), testing::StartsWith("fault loss-1: at: "));
  EXPECT_THAT(error("on: h1, drop: true, match: { flow: t/h2->h7 }"), HasSubstr("there is no flow 't/h2->h7'; "));
  EXPECT_THAT(error("on: [h1"), HasSubstr("fault"));
  EXPECT_THAT(error_of(404, "DELETE", "/faults/nobody"), HasSubstr("there is no fault 'nobody'"));
  EXPECT_TRUE(ask("GET", "/faults")["faults"].empty());
  ask("POST", "/faults", {{"fault", "name: a, on: h1, loss: 1%"}});
  EXPECT_THAT(error("name: a, on: h2, loss: 1%"), HasSubstr("a fault a exists already"));
  wait_for_packets();
}

}  // namespace
}  // namespace railyard::daemon
