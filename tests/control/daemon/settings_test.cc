// What a lab that is up is told: setting it through the API, and the assignments that are kept.
#include "control/daemon/settings.h"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/spec_error.h"
#include "tests/control/daemon/running_lab_fixture.h"

namespace railyard::daemon {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// Two hosts that send to each other over leaf1, slowly enough for any machine.
constexpr const char* kLab = R"(name: x
nodes: { leaf1: { kind: switch }, h1: { kind: host }, h2: { kind: host } }
links: [[h1:1, leaf1:1], [h2:1, leaf1:2]]
traffic: [ { name: t, pattern: permutation, payload: 1KB, rate: 10Mbps } ]
run: { clock: wall, memory: 256MiB }
)";

class LiveSettingsTest : public RunningLabFixture {
 protected:
  LiveSettingsTest() : RunningLabFixture(kLab) { lab_->made_of(settings_); }
  json set(const std::vector<std::string>& assignments) { return ask("POST", "/settings", {{"set", assignments}}); }
  std::string value(const std::string& path) { return ask("GET", "/settings/" + path)["settings"][0]["value"]; }
  std::string refused(int status, const std::vector<std::string>& assignments) {
    return error_of(status, "POST", "/settings", {{"set", assignments}});
  }
};

TEST_F(LiveSettingsTest, TheAnswerSaysWhatIsDifferentAndSinceWhen) {
  const json done = set({"qos.default.classes.3.ecn.kmin=100KB", "traffic.t.rate=20Mbps"});
  EXPECT_EQ(done["changes"], (json{{{"path", "qos.default.classes.3.ecn.kmax"}, {"from", "auto"}, {"to", "400KB"}},
                                   {{"path", "qos.default.classes.3.ecn.kmin"}, {"from", "auto"}, {"to", "100KB"}},

                                   {{"path", "traffic.t.rate"}, {"from", "10Mbps"}, {"to", "20Mbps"}}}));
  EXPECT_GT(done["effective_seconds"], 0.0);
  EXPECT_THAT(log(), HasSubstr("set qos.default.classes.3.ecn.kmin=100KB traffic.t.rate=20Mbps: asked at "));
  EXPECT_THAT(log(), HasSubstr(", in effect at "));
  EXPECT_EQ(value("qos.default.classes.3.ecn.kmin"), "100KB");
  EXPECT_EQ(value("traffic.t.rate"), "20Mbps");
  EXPECT_TRUE(ask("GET", "/audit")["balanced"]);
}

TEST_F(LiveSettingsTest, OneAfterTheOtherEachOverTheLast) {
  set({"qos.default.classes.3.alpha=", "qos.default.classes.3.xoff=64KiB"});
  set({"qos.default.classes.3.xoff=128KiB"});
  EXPECT_EQ(set({"qos.default.classes.3.xoff=128KiB"})["changes"], json::array()) << "it is so already";
  const json back = set({"qos.default.classes.3.xoff=", "qos.default.classes.3.alpha=1/8"});
  EXPECT_EQ(back["changes"].size(), 2u);
  EXPECT_EQ(value("qos.default.classes.3.alpha"), "1/8");
}

TEST_F(LiveSettingsTest, ALinkThatBecomesFasterIsSo) {
  EXPECT_EQ(set({"links.leaf1:1.rate=400Gbps"})["changes"],
            (json{{{"path", "links.h1:1.rate"}, {"from", "100Gbps"}, {"to", "400Gbps"}}}));
  const json status = ask("GET", "/status");
  for (const json& p : status["ports"])
    EXPECT_EQ(p["rate_bps"], p["node"] == "h1" || p["peer"] == "h1:1" ? 400'000'000'000 : 100'000'000'000);
  EXPECT_TRUE(ask("GET", "/audit")["balanced"]);
}

TEST_F(LiveSettingsTest, HostsOutsideFollow) {
  std::vector<std::int64_t> told;
  bool fail = true;
  lab_->when_set([&](const spec::Lab& now) {
    told.push_back(now.links[0].rate.bps);
    if (fail) throw std::runtime_error("no tc");
  });
  EXPECT_THAT(refused(500, {"links.leaf1:1.rate=200Gbps"}),
              AllOf(HasSubstr("set in the fabric"), HasSubstr("no tc"), HasSubstr("set it again")));
  EXPECT_EQ(value("links.h1:1.rate"), "200Gbps");
  fail = false;
  EXPECT_EQ(set({"links.leaf1:1.rate=200Gbps"})["changes"], json::array())
      << "nothing is different, and yet it is tried";
  EXPECT_THAT(told, ElementsAre(200'000'000'000, 200'000'000'000));
}

// A preset's links cannot be named one by one: its keys are listed in their place, and each works as it is listed.
TEST(Settings, ListsOnlyWhatCanBeSet) {
  constexpr const char* kPreset = R"(name: x
topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 2, fabric-link: { rate: 400Gbps } }
nodes: { h9: { kind: host } }
links: [[h9:1, leaf1:5, { rate: 25Gbps }]]
traffic: [ { name: t, from: h1, to: h2, payload: 1KB, rate: 100Mbps } ]
run: { duration: 1ms }
)";
  const Settings settings(kPreset, "x.yaml", {"topology.host-link.rate=200Gbps"});
  std::vector<std::string> links;
  for (const spec::Saying& s : settings.changeable()) {
    // Thresholds by the port's rate are shown as auto; only `ecn: auto` sets them.
    if (s.value != "auto") {
      EXPECT_EQ(settings.with({s.path + "=" + s.value}).lab(), settings.lab()) << s.path;
    }
    if (s.path.starts_with("links.") || s.path.starts_with("topology.")) links.push_back(s.path + "=" + s.value);
  }
  EXPECT_THAT(links, ElementsAre("links.h9:1.rate=25Gbps", "topology.host-link.rate=200Gbps",
                                 "topology.fabric-link.rate=400Gbps"));
  EXPECT_THROW(settings.with({"links.leaf1:1.rate=50Gbps"}).lab(), spec::SpecError);
}

TEST(Settings, OfAFatTreeListsItsCoreLinksToo) {
  const Settings settings("name: x\ntopology: { preset: fat-tree, k: 4, core-link: { rate: 200Gbps } }\n", "x.yaml", {});
  std::vector<std::string> links;
  for (const spec::Saying& s : settings.changeable())
    if (s.path.starts_with("links.") || s.path.starts_with("topology.")) links.push_back(s.path + "=" + s.value);
  EXPECT_THAT(links, ElementsAre("topology.host-link.rate=100Gbps", "topology.fabric-link.rate=100Gbps",
                                 "topology.core-link.rate=200Gbps"));
}

TEST_F(LiveSettingsTest, WhileItIsHeldToo) {
  ask("POST", "/hold", {{"on", true}});
  set({"qos.default.classes.0.weight=7"});
  set({"qos.default.classes.0.weight=8"});
  ask("POST", "/hold", {{"on", false}});
  EXPECT_EQ(value("qos.default.classes.0.weight"), "8");
}

TEST_F(LiveSettingsTest, WhatCannotBeIsSaidAndChangesNothing) {
  const json before = ask("GET", "/settings");
  EXPECT_EQ(refused(400, {"qos.default.classes.0.weight=7", "qos.default.classes.3.ecn.kmax=1MB",
                          "qos.default.classes.3.ecn.kmin=2MB"}),
            "--set qos.default.classes.3.ecn.kmin=2MB: qos.default.classes.3.ecn.kmin: 2MB is above kmax (1MB); "
            "expected kmin <= kmax");
  EXPECT_THAT(refused(400, {"qos.default.classes.3.alfa=1"}), HasSubstr("unknown key 'alfa'"));
  EXPECT_THAT(refused(400, {"traffic.t.rate=5"}), HasSubstr("5 has no unit"));
  EXPECT_THAT(refused(400, {"traffic.t.rate=200Gbps"}), HasSubstr("is above the rate of h1:1's link (100Gbps)"));
  EXPECT_THAT(refused(400, {"traffic.u.rate=5Gbps"}), HasSubstr("there is no element 'u'"));
  EXPECT_THAT(refused(400, {"weight"}), HasSubstr("expected path=value"));
  EXPECT_EQ(refused(409, {"qos.default.classes.0.weight=7", "switches.default.cell=512B"}),
            "switches.default.cell (256B -> 512B) cannot change in a running lab; stop the lab and start it with the "
            "new value");
  EXPECT_THAT(refused(409, {"run.clock=virtual", "run.duration=1s"}),
              HasSubstr("run.clock (wall -> virtual) cannot change"));
  EXPECT_THAT(refused(400, {}), HasSubstr("nothing to set"));
  EXPECT_EQ(error_of(400, "POST", "/settings"), "key 'set' is missing in the body");
  EXPECT_EQ(error_of(404, "GET", "/settings/qos.other"), "there is no settable key 'qos.other' in a live lab");
  EXPECT_EQ(ask("GET", "/settings"), before);
  set({"qos.default.classes.0.weight=9"});
  EXPECT_EQ(value("qos.default.classes.0.weight"), "9") << "what was refused is not in the way";
}

std::vector<std::string> kept(std::vector<std::string> before, const std::vector<std::string>& more) {
  return Settings("", "", std::move(before)).with(more).assignments();
}

TEST(Settings, OfTheSamePathTheLastIsKept) {
  EXPECT_THAT(kept({"a.b=1", "c=2"}, {"a.b=3"}), ElementsAre("c=2", "a.b=3"));
  EXPECT_THAT(kept({}, {"a=1", "a=2", "a=3"}), ElementsAre("a=3"));
}

TEST(Settings, WhatALaterOneRestsOnIsKept) {
  EXPECT_THAT(kept({"a={ b: 1 }", "a.b=2"}, {"a={ b: 3 }"}), ElementsAre("a={ b: 1 }", "a.b=2", "a={ b: 3 }"));
  EXPECT_THAT(kept({"a.b=1"}, {"a.b="}), ElementsAre("a.b=1", "a.b="));
  EXPECT_THAT(kept({"a.b=1", "a.b="}, {"a.b=2"}), ElementsAre("a.b=1", "a.b=2"));
  EXPECT_THAT(kept({"a.b=1", "a.bc=2"}, {"a.b=3"}), ElementsAre("a.bc=2", "a.b=3"));
}

}  // namespace
}  // namespace railyard::daemon
