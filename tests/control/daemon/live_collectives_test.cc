// Built-in collectives of a lab that runs: stopped, started again, repeated.
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/control/daemon/running_lab_fixture.h"

namespace railyard::daemon {
namespace {

// `long` goes on for hours; `short` is done soon.
class LiveCollectives : public RunningLabFixture {
 protected:
  LiveCollectives()
      : RunningLabFixture(R"(name: x
nodes: { leaf1: { kind: switch }, h1: { kind: host }, h2: { kind: host }, h3: { kind: host } }
links: [[h1:1, leaf1:1], [h2:1, leaf1:2], [h3:1, leaf1:3]]
collectives:
  - { name: long, ranks: ["h*:1"], size: 12000B, repeats: 10000, gap: 1ms }
  - { name: short, ranks: ["h*:1"], size: 12000B, repeats: 2 }
run: { clock: wall, memory: 256MiB, scale: 1/10 }
)") {}

  json collective(const std::string& name) {
    const json all = ask("GET", "/collectives");
    for (const json& c : all["collectives"])
      if (c["name"] == name) return c;
    return nullptr;
  }
  std::size_t done(const std::string& name) {
    std::size_t n = 0;
    const json of = collective(name);
    for (const json& i : of["iterations"]) n += i["time_ns"].is_null() ? 0 : 1;
    return n;
  }
  void wait_for_more(const std::string& name, std::size_t than) {
    while (done(name) <= than) std::this_thread::yield();
  }
};

TEST_F(LiveCollectives, OneIsStoppedBetweenIterationsAndGoesOn) {
  wait_for_more("long", 2);
  EXPECT_EQ(ask("POST", "/stop", {{"name", "long"}})["what"], "collective");
  EXPECT_EQ(error_of(409, "POST", "/stop", {{"name", "long"}}), "collective long is already stopped");
  EXPECT_TRUE(collective("long")["stopped"]);
  // All ranks finish what they have begun.
  while (collective("long")["iterations"].size() != done("long")) std::this_thread::yield();
  const std::size_t before = done("long");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(done("long"), before);
  EXPECT_EQ(ask("POST", "/again", {{"name", "long"}})["what"], "collective");
  EXPECT_FALSE(collective("long")["stopped"]);
  wait_for_more("long", before);
  EXPECT_EQ(error_of(409, "POST", "/again", {{"name", "long"}}),
            "collective long is still running; `railyard stop long` stops it");
}

// The ranks of a copy that was left out are through with all steps at once.
class LiveElasticJob : public RunningLabFixture {
 protected:
  LiveElasticJob()
      : RunningLabFixture(R"(name: x
nodes: { leaf1: { kind: switch }, h1: { kind: host }, h2: { kind: host }, h3: { kind: host }, s1: { kind: host } }
links: [[h1:1, leaf1:1], [h2:1, leaf1:2], [h3:1, leaf1:3], [s1:1, leaf1:4]]
jobs:
  - name: train
    model: { layers: 1, hidden: 64, heads: 1, feed-forward: 64, vocabulary: 64, sequence: 16 }
    parallelism: { dp: 3 }
    ranks: [h1, h2, h3]
    storage: [s1]
    checkpoint: { every: 1 }
    failures: [{ step: 1, restart: 1us, rank: 2, elastic: smaller-batch }]
    forward: 500us
    backward: 500us
    steps: 10000
run: { clock: wall, memory: 256MiB, scale: 1/10 }
)") {}
  std::size_t done() {
    std::size_t n = 0;
    const json all = ask("GET", "/collectives");
    for (const json& i : all["collectives"][0]["iterations"]) n += i["time_ns"].is_null() ? 0 : 1;
    return n;
  }
};

TEST_F(LiveElasticJob, IsStoppedBetweenTwoSteps) {
  while (done() < 3) std::this_thread::yield();
  ask("POST", "/stop", {{"name", "train"}});
  const std::size_t then = done();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // ten steps of time
  const std::size_t later = done();
  EXPECT_LE(later, then + 2) << "the step that had begun, and at most one that a rank was ahead";
  ask("POST", "/again", {{"name", "train"}});
  while (done() < later + 3) std::this_thread::yield();
}

TEST_F(LiveCollectives, OneThatHasEndedIsRepeated) {
  while (!collective("short")["completed"]) std::this_thread::yield();
  EXPECT_EQ(error_of(409, "POST", "/stop", {{"name", "short"}}),
            "collective short has ended; `railyard again short` repeats it");
  ask("POST", "/again", {{"name", "short"}});
  while (done("short") < 4) std::this_thread::yield();
  const json again = collective("short");
  EXPECT_EQ(again["repeats"], 4);
  EXPECT_TRUE(again["verified"]);
}

TEST_F(LiveCollectives, WhoWatchesIsToldHowFarTheyAre) {
  while (lab_->state()["collectives"][1]["done"] != 2) std::this_thread::yield();
  const json told = lab_->state()["collectives"];
  EXPECT_EQ(told[1], (json{{"name", "short"}, {"done", 2}, {"repeats", 2}, {"stopped", false}}));
  EXPECT_EQ(told[0]["repeats"], 10000);
}

TEST_F(LiveCollectives, UnknownOnesAreRefused) {
  EXPECT_EQ(error_of(404, "POST", "/stop", {{"name", "shirt"}}),
            "there is no traffic or collective 'shirt'; did you mean 'short'?");
  EXPECT_EQ(error_of(404, "POST", "/again", {{"name", "shirt"}}),
            "there is no traffic or collective 'shirt'; did you mean 'short'?");
}

}  // namespace
}  // namespace railyard::daemon
