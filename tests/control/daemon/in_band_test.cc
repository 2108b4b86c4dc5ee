// In-band telemetry of a lab that runs, through the API. Nothing here depends on how fast it runs.
#include "control/daemon/in_band.h"

#include <cstdint>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/control/daemon/running_lab_fixture.h"

namespace railyard::daemon {
namespace {

using testing::HasSubstr;

class LiveIntTest : public RunningLabFixture {
 protected:
  LiveIntTest() : RunningLabFixture(kTwoHosts) {}
  std::string file(const char* name) const { return (folder_ / name).string(); }
  void wait_for_arrivals(std::uint64_t n) {
    while (ask("GET", "/int")["int"]["arrived"].get<std::uint64_t>() < n) std::this_thread::yield();
  }
};

TEST_F(LiveIntTest, GoesToAFileUntilItIsEnded) {
  EXPECT_EQ(ask("GET", "/int"), (json{{"running", false}}));
  const json begun = ask("POST", "/int", {{"what", "{ one-in: 2 }"}, {"file", file("a.jsonl")}});
  EXPECT_TRUE(begun["running"].get<bool>());
  wait_for_arrivals(20);
  EXPECT_THAT(error_of(409, "POST", "/int", {{"what", "{}"}}), HasSubstr("already"));
  const json done = ask("DELETE", "/int");
  EXPECT_FALSE(done["running"].get<bool>());
  EXPECT_THAT(done["text"].get<std::string>(), HasSubstr("1 packet in 2 sampled"));
  std::ifstream in(file("a.jsonl"));
  std::uint64_t lines = 0;
  std::uint64_t at_leaf1 = 0;
  for (std::string line; std::getline(in, line); ++lines) {
    const json j = json::parse(line);
    EXPECT_EQ(j["flow"], "t/h1->h2");
    if (j["node"] != "leaf1" || j["egress_ps"].is_null()) continue;
    ++at_leaf1;
    EXPECT_EQ(j["in"], 1);
    EXPECT_EQ(j["out"], 2);
  }
  EXPECT_EQ(lines, done["int"]["records"].get<std::uint64_t>());
  EXPECT_GE(at_leaf1, 20u);
  // And another may begin, without a file.
  ask("POST", "/int", {{"what", "{ one-in: 1, classes: [0, 3], flows: t }"}});
  wait_for_arrivals(20);
  EXPECT_EQ(ask("GET", "/int")["int"]["one_in"], 1);
}

TEST_F(LiveIntTest, AFifoWithoutAReaderIsRefusedAndTheLabGoesOn) {
  ASSERT_EQ(::mkfifo(file("fifo").c_str(), 0600), 0);
  EXPECT_THAT(error_of(409, "POST", "/int", {{"what", "{}"}, {"file", file("fifo")}}),
              HasSubstr("nobody reads this FIFO; start its reader first"));
  wait_for_packets();
  EXPECT_FALSE(ask("GET", "/int")["running"].get<bool>());
}

// /dev/full is a disk without room.
TEST_F(LiveIntTest, AFullDiskEndsTheRecordsAndNotTheSums) {
  ask("POST", "/int", {{"what", "{ one-in: 1 }"}, {"file", "/dev/full"}});
  while (!ask("GET", "/int").contains("error")) std::this_thread::yield();
  const json now = ask("GET", "/int");
  EXPECT_TRUE(now["running"].get<bool>());
  wait_for_arrivals(now["int"]["arrived"].get<std::uint64_t>() + 10);
  const json done = ask("DELETE", "/int");
  EXPECT_EQ(done["error"], "cannot write /dev/full: No space left on device");
  EXPECT_GT(done["int"]["arrived"].get<std::uint64_t>(), 0u);
  wait_for_packets();
  // And another may begin.
  ask("POST", "/int", {{"what", "{ one-in: 2 }"}, {"file", file("a.jsonl")}});
}

TEST_F(LiveIntTest, WhatCannotBeIsRefused) {
  EXPECT_THAT(error_of(409, "POST", "/int", {{"what", "{}"}, {"file", "/nowhere/a.jsonl"}}),
              HasSubstr("cannot write /nowhere/a.jsonl"));
  EXPECT_THAT(error_of(400, "POST", "/int", {{"what", "{ one-in: 0 }"}}), HasSubstr("expected 1.."));
  EXPECT_THAT(error_of(400, "POST", "/int", {{"what", "{ classes: 9 }"}}), HasSubstr("expected 0..7"));
  EXPECT_THAT(error_of(400, "POST", "/int", {{"what", "{ flows: s }"}}), HasSubstr("there is no traffic 's'"));
  EXPECT_THAT(error_of(400, "POST", "/int", {{"what", "{ flows: t/h2->h1 }"}}), HasSubstr("there is no flow"));
  EXPECT_THAT(error_of(400, "POST", "/int", {{"file", "x"}}), HasSubstr("'what' is missing"));
  EXPECT_THAT(error_of(409, "DELETE", "/int"), HasSubstr("no in-band telemetry"));
  wait_for_packets();
}

}  // namespace
}  // namespace railyard::daemon
