// Probes in a lab that runs, through the API. Nothing here depends on how fast it runs.
#include "control/daemon/probes.h"

#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "control/daemon/probe_log.h"
#include "tests/control/daemon/running_lab_fixture.h"

namespace railyard::daemon {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// h1 sends a little to h2 by itself, h3 nothing.
class ProbesTest : public RunningLabFixture {
 protected:
  ProbesTest()
      : RunningLabFixture(R"(name: x
nodes: { leaf1: { kind: switch }, h1: { kind: host }, h2: { kind: host }, h3: { kind: host } }
links: [[h1:1, leaf1:1], [h2:1, leaf1:2], [h3:1, leaf1:3]]
traffic: [ { name: t, from: h1, to: h2, payload: 1KB, rate: 10Mbps } ]
run: { clock: wall, memory: 256MiB }
)") {}

  json result() {
    json r = ask("GET", "/probes/result");
    for (; r["state"] == "running"; r = ask("GET", "/probes/result")) std::this_thread::yield();
    return r;
  }
  std::string refused(int status, const json& body) { return error_of(status, "POST", "/probes", body); }
};

TEST_F(ProbesTest, TrainsAreSentOnceAndWhatCameIsSaid) {
  EXPECT_EQ(ask("GET", "/probes/result")["state"], "none");
  const json started =
      ask("POST", "/probes", {{"trains", {{"h3:1", "h1:1", 0, 64, 0}, {"h1:1", "h3:1", 100'000, 10, 5000}}}});
  EXPECT_EQ(started["trains"], 2);
  const json r = result();
  ASSERT_EQ(r["state"], "done");
  EXPECT_EQ(r["trains"][0]["received"], 64);
  EXPECT_EQ(r["trains"][0]["lost"], 0);
  EXPECT_NEAR(r["trains"][0]["bps"].get<double>(), 98.1e9, 0.1e9);
  EXPECT_EQ(r["trains"][1]["received"], 10);
  EXPECT_EQ(r["latency_ns"]["samples"], 74);
  EXPECT_TRUE(ask("GET", "/audit")["balanced"]);
  // And again.
  ask("POST", "/probes", {{"trains", {{"h3:1", "h2:1", 0, 5, 0}}}});
  EXPECT_EQ(result()["trains"][0]["received"], 5);
  wait_for_packets();
}

TEST_F(ProbesTest, OneRequestAtATimeAndItCanBeTakenAway) {
  ask("POST", "/probes", {{"trains", {{"h3:1", "h1:1", 3'600'000'000'000, 1, 0}}}});
  EXPECT_THAT(refused(409, {{"trains", {{"h3:1", "h2:1", 0, 1, 0}}}}), HasSubstr("on their way"));
  ask("DELETE", "/probes");
  ask("POST", "/probes", {{"trains", {{"h3:1", "h2:1", 0, 1, 0}}}});
  EXPECT_EQ(result()["trains"][0]["received"], 1);
}

TEST_F(ProbesTest, TrainsThatWereTakenAwayHaveNoResult) {
  ask("POST", "/probes", {{"trains", {{"h3:1", "h1:1", 3'600'000'000'000, 1, 0}}}});
  ask("DELETE", "/probes");
  EXPECT_EQ(result()["state"], "none");
}

TEST_F(ProbesTest, WhatIsWrongIsNamed) {
  EXPECT_THAT(refused(400, json::object()), HasSubstr("'trains' is missing"));
  EXPECT_THAT(refused(400, {{"trains", json::array({json::array({"h3:1", "h2:1"})})}}), HasSubstr("trains[0]"));
  EXPECT_THAT(refused(404, {{"trains", {{"h3:1", "h9:1", 0, 1, 0}}}}), HasSubstr("there is no NIC h9:1"));
  EXPECT_THAT(refused(400, {{"trains", {{"h3:1", "h3:1", 0, 1, 0}}}}), HasSubstr("one host"));
  EXPECT_THAT(refused(400, {{"trains", {{"h3:1", "h2:1", 0, 0, 0}}}}), HasSubstr("frames: 0; expected 1"));
  EXPECT_THAT(refused(400, {{"trains", {{"h3:1", "h2:1", 0, 1, 0}}}, {"dscp", 64}}),
              HasSubstr("dscp: 64; expected 0 to 63"));
  EXPECT_THAT(refused(400, {{"trains", {{"h3:1", "h2:1", 0, 1, 0}}}, {"ecn", true}}), HasSubstr("'ecn' is no key"));
  EXPECT_THAT(refused(409, {{"trains", {{"h3:1", "h2:1", 0, 1, 0}}}, {"payload", 9216}}),
              HasSubstr("longer than its MTU"));
  EXPECT_THAT(error_of(409, "GET", "/probes"), HasSubstr("expected `probe: { every: 10m }` in its file"));
  EXPECT_THAT(error_of(409, "DELETE", "/probes"), HasSubstr("no trains"));
}

TEST(ProbeLog, KeepsTheLastRoundsAndWarnsOnce) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("railyard-probe-log-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  {
    Log log((folder / "log").string());
    ProbeLog kept(folder / "probes.jsonl", 4, log);
    probes::History history({{{"h1", 1}, {"h2", 1}}}, 10, 0.1);
    for (const double bps : {100e9, 100e9, 100e9, 50e9, 50e9, 100e9}) {
      history.add({.samples = {{.bps = bps}}});
      kept.add(history);
    }
    EXPECT_EQ(kept.rounds(), 6u);
    EXPECT_EQ(kept.slow_pairs(), 0u);
  }
  std::ifstream file(folder / "probes.jsonl");
  std::vector<json> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(json::parse(line));
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines.front()["round"], 3);
  EXPECT_EQ(lines[1]["slow"].size(), 1u);
  std::ifstream log(folder / "log");
  const std::string said((std::istreambuf_iterator<char>(log)), {});
  EXPECT_EQ(said.find("below its median"), said.rfind("below its median")) << said;
  EXPECT_THAT(said, HasSubstr("no pair is slow any more"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace railyard::daemon
