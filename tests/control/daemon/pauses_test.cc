// Who pauses whom in a lab that runs, through the API. Nothing here depends on how fast it runs.
#include "control/daemon/pauses.h"

#include <chrono>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/daemon/pause_history.h"
#include "tests/control/daemon/running_lab_fixture.h"

namespace railyard::daemon {
namespace {

// Two hosts send more than the link of the third takes.
class LivePauses : public RunningLabFixture {
 protected:
  explicit LivePauses(const std::string& more = "")
      : RunningLabFixture(R"(name: x
nodes: { leaf1: { kind: switch }, h1: { kind: host }, h2: { kind: host }, h3: { kind: host } }
defaults: { link: { rate: 1Gbps } }
links: [[h1:1, leaf1:1], [h2:1, leaf1:2], [h3:1, leaf1:3]]
switches: { default: { buffer: 1MiB } }
traffic: [ { name: t, pattern: incast, from: [h1, h2], to: h3, dscp: 26, rate: 900Mbps } ]
run: { clock: wall, memory: 256MiB)" +
                          more + " }\n") {}
};

TEST_F(LivePauses, TheTreeGoesFromTheCongestedPortToTheHosts) {
  json p;
  do p = ask("GET", "/pauses");
  while (p["trees"]["held"].size() < 2);
  EXPECT_TRUE(p["watched"].get<bool>());
  EXPECT_TRUE(p["deadlocks"].empty());
  ASSERT_EQ(p["trees"]["widest"].size(), 1u);
  EXPECT_EQ(p["trees"]["widest"][0]["root"], "leaf1:3 class 3");
  for (const json& held : p["trees"]["held"]) {
    EXPECT_EQ(held["root"], "leaf1:3 class 3");
    EXPECT_THAT(held["victim"].get<std::string>(), testing::AnyOf("h1:1 class 3", "h2:1 class 3"));
  }
  while (p["now"].empty()) p = ask("GET", "/pauses");
  EXPECT_EQ(p["now"][0]["root"], "leaf1:3 class 3");
  EXPECT_GT(p["paused"].get<int>(), 0);
}

// The daemon keeps what it has seen, watched or not: the instant of a look has its tree later, and one before has none.
TEST_F(LivePauses, ThePastIsKept) {
  watch_->start({}, [this]() -> std::optional<json> { return lab_->pauses(); });
  const auto now = [] { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); };
  const double before = now();
  json seen;
  do seen = ask("GET", "/pauses?at=" + std::to_string(now()));
  while (seen["trees"].empty());
  watch_->stop();
  EXPECT_EQ(seen["trees"][0]["root"], "leaf1:3 class 3");
  const double at = seen["unix_seconds"];
  EXPECT_GT(at, before);
  EXPECT_EQ(ask("GET", "/pauses?at=" + std::to_string(at + 0.001))["trees"], seen["trees"]);
  EXPECT_TRUE(ask("GET", "/pauses?at=" + std::to_string(before - 1))["trees"].empty());
}

TEST(ThePauseHistory, IsBounded) {
  PauseHistory history;
  EXPECT_TRUE(history.at(5)["trees"].empty());
  const json large = json::array({{{"root", std::string(1'000'000, 'x')}, {"levels", json::array()}}});
  for (int i = 0; i < 30; ++i) history.add(i, large);
  EXPECT_LE(history.octets(), PauseHistory::kMostOctets);
  EXPECT_TRUE(history.at(5)["trees"].empty()) << "forgotten";
  EXPECT_EQ(history.at(29.5)["unix_seconds"], 29.0);
  EXPECT_TRUE(history.at(29 + PauseHistory::kHolds + 0.1)["trees"].empty()) << "nobody has looked since";
  history.add(29 + PauseHistory::kKept + 1, json::array());
  EXPECT_EQ(history.octets(), 2u);
}

class LivePausesUnwatched : public LivePauses {
 protected:
  LivePausesUnwatched() : LivePauses(", deadlock: off") {}
};

TEST_F(LivePausesUnwatched, OnlyNowIsKnown) {
  json p;
  do p = ask("GET", "/pauses");
  while (p["now"].empty());
  EXPECT_FALSE(p["watched"].get<bool>());
  EXPECT_FALSE(p.contains("trees"));
}

// Five switches in a ring, each host sends to the next but one.
class LiveDeadlock : public RunningLabFixture {
 protected:
  LiveDeadlock()
      : RunningLabFixture(R"(name: x
nodes:
  { s1: { kind: switch }, s2: { kind: switch }, s3: { kind: switch }, s4: { kind: switch }, s5: { kind: switch },
    h1: { kind: host }, h2: { kind: host }, h3: { kind: host }, h4: { kind: host }, h5: { kind: host } }
defaults: { link: { rate: 1Gbps } }
switches: { default: { buffer: 512KiB } }
links:
  [[s1:1, s2:2], [s2:1, s3:2], [s3:1, s4:2], [s4:1, s5:2], [s5:1, s1:2],
   [h1:1, s1:3], [h2:1, s2:3], [h3:1, s3:3], [h4:1, s4:3], [h5:1, s5:3]]
traffic: [ { name: round, from: [h1, h2, h3, h4, h5], to: [h3, h4, h5, h1, h2], dscp: 26 } ]
run: { clock: wall, memory: 256MiB, deadlock: 20ms }
)") {}
};

TEST_F(LiveDeadlock, IsNamedWhileTheLabRuns) {
  json p;
  do p = ask("GET", "/pauses");
  while (p["deadlocks"].empty());
  EXPECT_EQ(p["deadlocks"][0]["ring"].size(), 5u);
  EXPECT_EQ(p["deadlocks"][0]["ring"][0], "s1:1 class 3");
  EXPECT_TRUE(p["deadlocks"][0]["resolved_ns"].is_null());
}

}  // namespace
}  // namespace railyard::daemon
