// A lab that runs, through what the API can do with it. Nothing here depends on how fast it runs.
#include "control/daemon/live_lab.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/daemon/routes.h"
#include "tests/control/daemon/running_lab_fixture.h"

namespace railyard::daemon {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// Two hosts that send to each other over leaf1, slowly enough for any machine; a thread is its engine's.
class LiveLabTest : public RunningLabFixture {
 protected:
  LiveLabTest()
      : RunningLabFixture(R"(name: x
nodes:
  leaf1: { kind: switch }
  h1: { kind: host }
  h2: { kind: host, address: 10.7.0.1 }
links: [[h1:1, leaf1:1], [h2:1, leaf1:2]]
traffic: [ { name: t, pattern: permutation, payload: 1KB, rate: 10Mbps } ]
run: { clock: wall, memory: 256MiB }
)") {}
};

TEST_F(LiveLabTest, StatusShowsWhatIsCountedWhileItGoesOn) {
  wait_for_packets();
  const json s = ask("GET", "/status");
  EXPECT_EQ(s["name"], "x");
  EXPECT_EQ(s["size"], (json{{"switches", 1}, {"hosts", 2}, {"links", 2}, {"flows", 2}, {"collectives", 0}}));
  EXPECT_EQ(s["hosts"][1]["nics"][0]["address"], "10.7.0.1");
  EXPECT_EQ(s["hosts"][1]["nics"][0]["attach"], "built-in");
  const json& p = port(s, "leaf1", 2);
  EXPECT_EQ(p["peer"], "h2:1");
  EXPECT_EQ(p["rate_bps"], 100'000'000'000);
  EXPECT_GE(p["tx"]["packets"], 3);
  EXPECT_TRUE(p["up"]);
}

TEST_F(LiveLabTest, MetricsAreForPrometheus) {
  wait_for_packets();
  const api::Response r = public_route(*lab_, {"GET", "/metrics", nullptr});
  EXPECT_EQ(r.media_type, "text/plain; version=0.0.4; charset=utf-8");
  for (const char* line : {"\nrailyard_lab_info{lab=\"x\"} 1\n", "\nrailyard_port_up{switch=\"leaf1\",port=\"2\"} 1\n",
                           "\nrailyard_lateness_seconds{quantile=\"0.99\"} ",
                           "\nrailyard_sent_packets_total{switch=\"leaf1\",port=\"2\",class=\"3\"} "})
    EXPECT_THAT(r.text, HasSubstr(line));
  ask("POST", "/links", {{"link", "leaf1:2"}, {"up", false}});
  EXPECT_THAT(public_route(*lab_, {"GET", "/metrics", nullptr}).text,
              HasSubstr("\nrailyard_port_up{host=\"h2\",port=\"1\"} 0\n"));
  EXPECT_THAT(public_route(*lab_, {"GET", "/metrics", nullptr, "application/openmetrics-text"}).text,
              testing::EndsWith("\n# EOF\n"));
  EXPECT_THROW(public_route(*lab_, {"POST", "/metrics", nullptr}), api::ApiError);
  EXPECT_THROW(public_route(*lab_, {"GET", "/status", nullptr}), api::ApiError);
}

// One link of leaf1 retries, and those of leaf2 have credits for a class.
class LiveLinkLayerTest : public RunningLabFixture {
 protected:
  LiveLinkLayerTest()
      : RunningLabFixture(R"(name: x
qos:
  default: {}
  credits: { classes: { 3: { lossless: true, cbfc: on } } }
switches: { default: { qos: default }, other: { qos: credits } }
hosts: { default: { qos: default }, other: { qos: credits } }
nodes:
  leaf1: { kind: switch }
  leaf2: { kind: switch, profile: other }
  h1: { kind: host }
  h2: { kind: host }
  h3: { kind: host, profile: other }
  h4: { kind: host, profile: other }
links:
  - [h1:1, leaf1:1, { llr: on }]
  - [h2:1, leaf1:2]
  - [h3:1, leaf2:1]
  - [h4:1, leaf2:2]
traffic:
  - { name: t, from: h1, to: h2, payload: 1KB, rate: 10Mbps }
  - { name: u, from: h3, to: h4, payload: 1KB, rate: 10Mbps, dscp: 24 }
faults: [{ name: f, on: h1:1, bit-errors: 1e-5 }]
run: { clock: wall, memory: 256MiB }
)") {}
};

TEST_F(LiveLinkLayerTest, StatusShowsRetriesAndCreditsOfLinksThatHaveThem) {
  const auto look = [this](const char* node, int n, const char* what, const char* counter) {
    return port(ask("GET", "/status"), node, n)[what].value(counter, 0);
  };
  while (look("h1", 1, "llr", "retries") + look("leaf1", 1, "llr", "retries") == 0) std::this_thread::yield();
  while (look("leaf2", 1, "cbfc", "messages_sent") == 0 || look("h3", 1, "cbfc", "messages_received") == 0)
    std::this_thread::yield();
  const json s = ask("GET", "/status");
  EXPECT_LE(port(s, "h1", 1)["llr"]["frames"], port(s, "h1", 1)["llr"]["retries"]);
  EXPECT_TRUE(port(s, "leaf1", 1).contains("llr")) << "both directions";
  EXPECT_FALSE(port(s, "leaf1", 2).contains("llr"));
  EXPECT_FALSE(port(s, "h2", 1).contains("llr"));
  EXPECT_FALSE(port(s, "leaf1", 1).contains("cbfc"));
  for (const int n : {1, 2}) EXPECT_TRUE(port(s, "leaf2", n).contains("cbfc"));
}

TEST_F(LiveLabTest, TheBooksBalanceAtAnyInstant) {
  for (int i = 0; i < 20; ++i) {
    const json books = ask("GET", "/audit");
    EXPECT_TRUE(books["balanced"]) << books;
    EXPECT_EQ(books["generated"], books["consumed"].get<std::uint64_t>() + books["dropped"].get<std::uint64_t>() +
                                      books["lost_on_links"].get<std::uint64_t>() +
                                      books["queued"].get<std::uint64_t>() + books["on_the_wire"].get<std::uint64_t>());
  }
}

TEST_F(LiveLabTest, ItsReportSaysHowLateItIs) {
  wait_for_packets();
  const json files = ask("GET", "/report");
  EXPECT_GT(json::parse(files["report.json"].get<std::string>())["engine"]["lateness_ns"]["max"], 0);
  EXPECT_THAT(files["report.txt"].get<std::string>(), HasSubstr("Wall clock: lateness p50 "));
  EXPECT_THAT(files["report.html"].get<std::string>(), HasSubstr("lateness p50 / p99 / max"));
}

TEST_F(LiveLabTest, ALinkThatIsDownCarriesNothingUntilItIsUp) {
  wait_for_packets();
  const json down = ask("POST", "/links", {{"link", "h2:1"}, {"up", false}});
  EXPECT_EQ(down["link"], "h2:1 - leaf1:2");
  EXPECT_GT(down["effective_seconds"], 0.0);
  const json s = ask("GET", "/status");
  EXPECT_FALSE(port(s, "leaf1", 2)["up"]) << "at both ends";
  EXPECT_FALSE(port(s, "h2", 1)["up"]);
  EXPECT_TRUE(port(s, "leaf1", 1)["up"]);
  // The switch goes on to get frames for it, and drops them.
  const auto dropped = [this] { return port(ask("GET", "/status"), "leaf1", 2)["drops"].value("link_down", 0); };
  while (dropped() == 0) std::this_thread::yield();
  const std::uint64_t then = received_by_h2();
  const int until = dropped() + 3;
  while (dropped() < until) std::this_thread::yield();
  EXPECT_EQ(received_by_h2(), then);
  EXPECT_EQ(error_of(409, "POST", "/links", {{"link", "leaf1:2"}, {"up", false}}),
            "link leaf1:2 - h2:1 is already down");
  ask("POST", "/links", {{"link", "leaf1:2"}, {"up", true}});
  wait_for_packets();
  EXPECT_THAT(log(), HasSubstr("link h2:1 - leaf1:2 down: asked at "));
  EXPECT_TRUE(ask("GET", "/audit")["balanced"]);
}

TEST_F(LiveLabTest, HeldItStandsStill) {
  wait_for_packets();
  ask("POST", "/hold", {{"on", true}});
  EXPECT_EQ(error_of(409, "POST", "/hold", {{"on", true}}), "the lab is already paused");
  const json at = ask("GET", "/audit");
  EXPECT_EQ(ask("GET", "/audit")["at_seconds"], at["at_seconds"]);
  EXPECT_EQ(ask("GET", "/audit")["generated"], at["generated"]);
  EXPECT_TRUE(ask("GET", "/lab")["held"]);
  ask("POST", "/hold", {{"on", false}});
  wait_for_packets();
}

TEST_F(LiveLabTest, WhatCannotBeIsSaidAndChangesNothing) {
  EXPECT_EQ(error_of(404, "POST", "/links", {{"link", "leaf2:1"}, {"up", false}}),
            "leaf2:1: there is no node 'leaf2'; did you mean 'leaf1'?");
  EXPECT_EQ(error_of(404, "POST", "/links", {{"link", "h2:2"}, {"up", false}}),
            "h2:2: h2 has no port 2; expected 1..1");
  EXPECT_THAT(error_of(400, "POST", "/links", {{"link", "leaf1"}, {"up", false}}), HasSubstr("'leaf1': "));
  EXPECT_EQ(error_of(400, "POST", "/links", {{"link", "leaf1:1"}}), "key 'up' is missing in the body");
  EXPECT_EQ(error_of(400, "POST", "/links", {{"link", 7}, {"up", false}}), "key 'link' has a wrong type");
  EXPECT_EQ(error_of(400, "POST", "/links"), "key 'link' is missing in the body");
  EXPECT_EQ(error_of(405, "GET", "/links"), "GET excludes /links");
  EXPECT_EQ(error_of(404, "GET", "/nothing"), "there is no /nothing");
  EXPECT_EQ(error_of(404, "GET", "/hosts/"), "there is no /hosts/");
  EXPECT_EQ(error_of(404, "GET", "/hosts/h3"), "lab 'x' has no host 'h3'; did you mean 'h1'?");
  EXPECT_EQ(error_of(409, "GET", "/hosts/leaf1"),
            "leaf1 is a switch without a speaker; expected a host, or a switch with `control: frr` or `control: namespace`");
  EXPECT_EQ(ask("GET", "/hosts/h1")["kind"], "built-in");
  EXPECT_EQ(error_of(409, "POST", "/restart", {{"host", "h1"}}),
            "h1 is built-in: it cannot be rebooted; expected a host with `attach: vm`");
  EXPECT_EQ(error_of(404, "POST", "/restart", {{"host", "h3"}}), "lab 'x' has no host 'h3'; did you mean 'h1'?");
  EXPECT_EQ(error_of(409, "POST", "/again", {{"name", "t"}}), "traffic t has not been stopped");
  EXPECT_EQ(error_of(404, "POST", "/again", {{"name", "s"}}), "there is no traffic or collective 's'; did you mean 't'?");
  const json status = ask("GET", "/status");
  for (const json& p : status["ports"]) EXPECT_TRUE(p["up"]);
}

TEST_F(LiveLabTest, AGuestThatIsDownIsSaidAndBootedAnew) {
  Guests::Look look{Guests::State::kDown, "its QEMU has exited"};
  int restarted = 0;
  lab_->add_host("h1", {.kind = "vm",
                        .location = "/nowhere",
                        .look = [&] { return look; },
                        .restart =
                            [&] {
                              look = {Guests::State::kBooting, {}};
                              return restarted++ == 0;
                            }});
  json h1 = ask("GET", "/hosts/h1");
  EXPECT_EQ(h1["state"], "down");
  EXPECT_EQ(h1["why"], "its QEMU has exited");
  EXPECT_EQ(ask("GET", "/status")["hosts"][0]["state"], "down");
  EXPECT_EQ(ask("POST", "/restart", {{"host", "h1"}})["state"], "booting");
  EXPECT_EQ(error_of(409, "POST", "/restart", {{"host", "h1"}}), "h1 is already booting");
  look.state = Guests::State::kUp;
  h1 = ask("GET", "/hosts/h1");
  EXPECT_EQ(h1["state"], "up");
  EXPECT_FALSE(h1.contains("why"));
  EXPECT_FALSE(ask("GET", "/hosts/h2").contains("state")) << "built-in";
}

TEST_F(LiveLabTest, TrafficIsStoppedAndStartedAgain) {
  lab_->made_of(settings_);
  wait_for_packets();
  EXPECT_EQ(ask("POST", "/stop", {{"name", "t"}})["what"], "traffic");
  EXPECT_EQ(ask("GET", "/flows")["traffic"][0]["stopped"], true);
  EXPECT_TRUE(ask("GET", "/flows")["traffic"][0]["rate_bps"].is_null());
  // What was on its way arrives, and then nothing more does for hours.
  std::uint64_t before = 0;
  while (received_by_h2() != std::exchange(before, received_by_h2())) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(error_of(409, "POST", "/stop", {{"name", "t"}}), "traffic t is already stopped");
  EXPECT_THAT(error_of(404, "POST", "/stop", {{"name", "u"}}), HasSubstr("there is no traffic or collective 'u'"));
  EXPECT_EQ(ask("POST", "/again", {{"name", "t"}})["what"], "traffic");
  EXPECT_EQ(ask("GET", "/flows")["traffic"][0]["rate_bps"], 10'000'000);
  wait_for_packets();
}

// The way of a flow is that of its own packets.
TEST_F(LiveLabTest, AFlowIsFollowedByItsName) {
  const json p = ask("POST", "/path", {{"flow", "t/h1->h2"}});
  EXPECT_EQ(p["from"], "h1:1");
  EXPECT_EQ(p["to"], "h2:1");
  EXPECT_TRUE(p["arrives"].get<bool>());
  ASSERT_EQ(p["hops"].size(), 1u);
  EXPECT_EQ(p["hops"][0]["out"], "leaf1:2");
  EXPECT_GE(p["flow"]["source_port"].get<int>(), 0xC000);
  EXPECT_EQ(error_of(404, "POST", "/path", {{"flow", "t/h1->h9"}}), "there is no built-in flow 't/h1->h9'");
  error_of(400, "POST", "/path", {{"flow", 7}});
}

TEST_F(LiveLabTest, TheReportIsServedFileByFile) {
  const api::Response page = route(*lab_, [] {}, {"GET", "/report/report.html", nullptr});
  EXPECT_THAT(page.media_type, HasSubstr("text/html"));
  EXPECT_THAT(page.text, testing::StartsWith("<!DOCTYPE html>"));
  ASSERT_FALSE(page.fields.empty());
  EXPECT_THAT(page.fields[0].second, HasSubstr("sandbox")) << "a report has no session and no script";
  EXPECT_TRUE(json::parse(route(*lab_, [] {}, {"GET", "/report/report.json", nullptr}).text).contains("flows"));
  EXPECT_THAT(error_of(404, "GET", "/report/passwd"), HasSubstr("a report has no 'passwd'"));
  error_of(405, "POST", "/report/report.html");
  error_of(404, "GET", "/report/a/b");
}

TEST_F(LiveLabTest, DownEndsTheRun) {
  EXPECT_TRUE(ask("POST", "/down")["down"]);
  engine_.join();
}

// Counters are read by this thread while the engine's counts: what ThreadSanitizer is for.
TEST_F(LiveLabTest, LookingDisturbsNobody) {
  for (int i = 0; i < 50; ++i) ask("GET", "/status");
  end();
  const json s = ask("GET", "/status");
  EXPECT_EQ(port(s, "leaf1", 1)["peer"], "h1:1");
}

}  // namespace
}  // namespace railyard::daemon
