// Replays in a lab that runs, through the API. Nothing here depends on how fast it runs.
#include "control/daemon/replays.h"

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/daemon/live_lab.h"
#include "control/daemon/routes.h"
#include "control/spec/load.h"
#include "dataplane/port/pcap_file.h"
#include "tests/control/daemon/running_lab_fixture.h"

namespace railyard::daemon {
namespace {

using namespace literals;
using nlohmann::json;
using testing::HasSubstr;

// What h1 sends to h2 in a run of its own: 25 frames, one per microsecond.
void make_capture(const std::filesystem::path& file) {
  lab::SessionOptions options;
  options.captures = {{{"h1", 1}, file.string() + ".ng", CaptureDirection::kOut}};
  lab::Session session(spec::parse(R"(name: source
nodes: { leaf1: { kind: switch }, h1: { kind: host }, h2: { kind: host } }
links: [[h1:1, leaf1:1], [h2:1, leaf1:2]]
traffic: [ { name: t, from: h1, to: h2, payload: 1000B, bytes: 25KB, rate: 8Gbps } ]
run: { duration: 1ms, memory: 256MiB }
)",
                                   "source.yaml"),
                       std::move(options));
  session.run(std::atomic<bool>{false});
  std::filesystem::rename(file.string() + ".ng", file);
}

// h1 sends a little to h2 by itself, h3 nothing.
class ReplaysTest : public RunningLabFixture {
 protected:
  ReplaysTest()
      : RunningLabFixture(R"(name: x
nodes:
  leaf1: { kind: switch }
  h1: { kind: host }
  h2: { kind: host }
  h3: { kind: host }
links: [[h1:1, leaf1:1], [h2:1, leaf1:2], [h3:1, leaf1:3]]
traffic: [ { name: t, from: h1, to: h2, payload: 1KB, rate: 10Mbps } ]
run: { clock: wall, memory: 256MiB }
)") {
    make_capture(file_);
  }
  std::string error_of(int status, const json& body) {
    return RunningLabFixture::error_of(status, "POST", "/replays", body);
  }
  json start(const std::string& at, json options = json::object()) {
    options["file"] = file_;
    options["at"] = at;
    return ask("POST", "/replays", options);
  }
  json show(const json& started) { return ask("GET", "/replays/" + started["id"].get<std::string>()); }
  json end(const json& started) { return ask("DELETE", "/replays/" + started["id"].get<std::string>()); }
  void wait_until_finished(const json& started) {
    while (!show(started)["finished"].get<bool>()) std::this_thread::yield();
  }
  std::uint64_t sent_by(const std::string& host) {
    const json s = ask("GET", "/status");
    for (const json& p : s["ports"])
      if (p["node"] == host) return p["tx"]["packets"];
    return 0;
  }

  std::string file_ = folder_ / "replayed.pcapng";
};

TEST_F(ReplaysTest, AQuietHostSendsTheFileOnceThenIsItselfAgain) {
  const json started = start("h3:1");
  EXPECT_EQ(started["frames"], 25);
  EXPECT_EQ(started["not_sendable"], 0);
  wait_until_finished(started);
  while (sent_by("h3") < 25) std::this_thread::yield();
  EXPECT_EQ(ask("GET", "/replays")["replays"].size(), 1u) << "until it is asked for";
  EXPECT_EQ(end(started)["sent"], 25);
  EXPECT_TRUE(ask("GET", "/replays")["replays"].empty());
  EXPECT_EQ(sent_by("h3"), 25u);
  EXPECT_TRUE(ask("GET", "/audit")["balanced"]);
  // And again.
  const json again = start("h3:1", {{"asap", true}});
  wait_until_finished(again);
  while (sent_by("h3") < 50) std::this_thread::yield();
}

TEST_F(ReplaysTest, TheHostsOwnTrafficGoesOnDuringAndAfterIt) {
  const json started = start("h1:1", {{"loop", true}, {"rate", 20'000'000}});
  while (show(started)["sent"] < 60) std::this_thread::yield();
  EXPECT_FALSE(show(started)["finished"]);
  const auto own = [&] { return sent_by("h1") - show(started)["sent"].get<std::uint64_t>(); };
  for (const std::uint64_t before = own(); own() < before + 5;) std::this_thread::yield();
  EXPECT_EQ(error_of(409, {{"file", file_}, {"at", "h1:1"}}),
            "h1:1 already replays " + file_ + "; `railyard replay --stop` stops it");
  const json other = start("h3:1", {{"loop", true}, {"rate", 20'000'000}});
  while (show(other)["sent"] < 30) std::this_thread::yield();
  const std::uint64_t replayed = end(started)["sent"];
  EXPECT_GE(replayed, 60u);
  for (const std::uint64_t before = sent_by("h1"); sent_by("h1") < before + 5;) std::this_thread::yield();
  end(other);
  const std::uint64_t then = sent_by("h3");
  EXPECT_TRUE(ask("GET", "/audit")["balanced"]);
  EXPECT_EQ(sent_by("h3"), then) << "it has ended when it is said to";
}

TEST_F(ReplaysTest, OneThatHasSentAllMakesRoomForTheNext) {
  wait_until_finished(start("h3:1"));
  wait_until_finished(start("h3:1"));
  EXPECT_EQ(ask("GET", "/replays")["replays"].size(), 1u);
}

TEST_F(ReplaysTest, InAHeldLabItWaitsForTime) {
  ask("POST", "/hold", {{"on", true}});
  const json first = start("h3:1");
  EXPECT_EQ(end(first)["sent"], 0);
  const json second = start("h3:1", {{"asap", true}});
  ask("POST", "/hold", {{"on", false}});
  wait_until_finished(second);
  EXPECT_TRUE(ask("GET", "/audit")["balanced"]);
}

TEST_F(ReplaysTest, WhatCannotBeIsSaidAndNothingIsSent) {
  EXPECT_EQ(error_of(400, {{"file", file_}, {"at", "leaf1:1"}}), "leaf1:1 is a switch port; expected a NIC of a host");
  EXPECT_THAT(error_of(404, {{"file", file_}, {"at", "h9:1"}}), HasSubstr("there is no node 'h9'"));
  EXPECT_EQ(error_of(400, {{"at", "h3:1"}}), "key 'file' is missing in the body");
  EXPECT_THAT(error_of(400, {{"file", "/nowhere/x.pcap"}, {"at", "h3:1"}}), HasSubstr("cannot open /nowhere/x.pcap"));
  EXPECT_EQ(error_of(400, {{"file", "/dev/zero"}, {"at", "h3:1"}}), "/dev/zero is not a file");
  EXPECT_EQ(error_of(400, {{"file", file_}, {"at", "h3:1"}, {"asap", true}, {"rate", 1}}),
            "rate and asap exclude each other");
  EXPECT_EQ(error_of(400, {{"file", file_}, {"at", "h3:1"}, {"loop", 1}}), "loop: 1; expected true or false");
  EXPECT_EQ(error_of(400, {{"file", file_}, {"at", "h3:1"}, {"rate", 0}}), "rate: 0; expected bit/s, at least 1");
  std::filesystem::resize_file(file_, std::filesystem::file_size(file_) - 100);
  EXPECT_THAT(error_of(400, {{"file", file_}, {"at", "h3:1"}}), HasSubstr(file_ + ": frame 25: "));
  EXPECT_TRUE(ask("GET", "/replays")["replays"].empty());
  EXPECT_EQ(sent_by("h3"), 0u);
}

}  // namespace
}  // namespace railyard::daemon
