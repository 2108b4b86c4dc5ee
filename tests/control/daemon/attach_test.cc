// Hosts that come to a lab that runs, and leave it, through the API: ports that share memory, so that no privilege is
// needed, and namespaces that nobody really makes. Nothing here depends on how fast it runs.
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/daemon/host_maker.h"
#include "tests/control/daemon/running_lab_fixture.h"

namespace railyard::daemon {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

// h1 sends a little to h2; h3 and h4 have nothing to do.
class AttachTest : public RunningLabFixture {
 protected:
  AttachTest()
      : RunningLabFixture(R"(name: x
nodes:
  leaf1: { kind: switch }
  h1: { kind: host }
  h2: { kind: host }
  h3: { kind: host }
  h4: { kind: host, nics: 2 }
links: [[h1:1, leaf1:1], [h2:1, leaf1:2], [h3:1, leaf1:3], [h4:1, leaf1:4], [h4:2, leaf1:5]]
traffic: [ { name: t, from: h1, to: h2, payload: 1KB, rate: 10Mbps } ]
run: { clock: wall, memory: 256MiB }
)") {
    lab_->made_of(settings_);
  }
  ~AttachTest() override { end(); }

  json memif(const std::string& role) const {
    return {{"memif", {{"socket", (folder_ / "m.sock").string()}, {"role", role}}}};
  }
  json attach(const std::string& to, const json& what) {
    return ask("POST", "/attachments", {{"to", to}, {"attach", what}});
  }
  std::string refused(int status, const std::string& to, const json& what) {
    return error_of(status, "POST", "/attachments", {{"to", to}, {"attach", what}});
  }
  std::vector<std::string> attached() {
    std::vector<std::string> out;
    const json status = ask("GET", "/status");
    for (const json& a : status["attachments"])
      out.push_back(a["host"].get<std::string>() + ":" + std::to_string(a["port"].get<int>()));
    return out;
  }
};

TEST_F(AttachTest, APortComesAndGoesAndTheOthersGoOn) {
  const json answer = attach("h3", memif("server"));
  EXPECT_TRUE(answer["changed"]);
  EXPECT_GT(answer["effective_seconds"], 0.0);
  EXPECT_THAT(attached(), testing::ElementsAre("h3:1"));
  EXPECT_EQ(ask("GET", "/hosts/h3")["nics"][0]["attach"], "memif");
  EXPECT_THAT(log(), HasSubstr("attach memif to h3: asked at "));
  const json status = ask("GET", "/status");
  EXPECT_EQ(status["attachments"][0]["pfc"], "yes");
  EXPECT_TRUE(std::filesystem::exists(folder_ / "m.sock"));
  EXPECT_FALSE(attach("h3", memif("server"))["changed"]) << "it is there already";
  wait_for_packets();

  EXPECT_TRUE(attach("h3", "built-in")["changed"]);
  EXPECT_THAT(attached(), testing::IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "m.sock"));
  EXPECT_TRUE(attach("h4:2", memif("server"))["changed"]) << "the socket is free again";
  EXPECT_THAT(attached(), testing::ElementsAre("h4:2"));
  EXPECT_TRUE(attach("h4:2", memif("client"))["changed"]) << "another in its place";
  EXPECT_THAT(attached(), testing::ElementsAre("h4:2"));
  wait_for_packets();
  EXPECT_TRUE(ask("GET", "/audit")["balanced"]);
}

// What is set later does not undo it.
TEST_F(AttachTest, ItStaysWhenSomethingElseIsSet) {
  attach("h3", memif("server"));
  ask("POST", "/settings", {{"set", {"qos.default.classes.3.ecn.kmin=100KB"}}});
  EXPECT_THAT(attached(), testing::ElementsAre("h3:1"));
  EXPECT_EQ(ask("GET", "/hosts/h3")["nics"][0]["attach"], "memif");
}

TEST_F(AttachTest, WhatCannotBeLeavesTheLabAsItWas) {
  EXPECT_THAT(refused(409, "h1", memif("server")), HasSubstr("h1:1 has built-in traffic (t)"));
  EXPECT_THAT(refused(409, "h2", memif("server")), HasSubstr("built-in traffic"));
  EXPECT_THAT(refused(404, "h9", memif("server")), StartsWith("there is no host 'h9'"));
  EXPECT_THAT(refused(404, "leaf1", memif("server")), StartsWith("there is no host 'leaf1'"));
  EXPECT_THAT(refused(404, "h3:2", memif("server")), StartsWith("h3 has 1 NICs"));
  EXPECT_THAT(refused(400, "h4", memif("server")), HasSubstr("expected one of them, such as h4:1"));
  EXPECT_THAT(refused(400, "h3", {{"memif", {{"role", "server"}}}}), HasSubstr("no socket"));
  EXPECT_THAT(refused(400, "h3", {{"mammif", "x"}}), HasSubstr("did you mean 'memif'"));
  EXPECT_THAT(refused(409, "h3", {{"netdev", "no-such-if"}}), HasSubstr("interface 'no-such-if'"));
  EXPECT_THAT(refused(409, "h3", {{"vhost-user", "/nowhere/x.sock"}}), HasSubstr("there is no directory /nowhere"));
  EXPECT_THAT(refused(409, "h3", "vm"), HasSubstr("a virtual machine cannot be changed in a running lab"));
  attach("h3", memif("server"));
  EXPECT_THAT(refused(409, "h4:1", memif("server")), HasSubstr("it is already attached to h3:1"));
  EXPECT_THAT(attached(), testing::ElementsAre("h3:1"));
}

// ---- Namespaces
// ------------------------------------------------------------------------------------------------------

class Maker final : public HostMaker {
 public:
  lab::Interfaces make(const spec::Lab& lab, const std::string& host) override {
    made.push_back(host);
    EXPECT_EQ(lab.find(host)->nics[0].attach, spec::Attachment{spec::AttachNamespace{}});
    return {{{host, 1}, {.netns = "ry-no-such-namespace", .name = "eth1", .socket = {}}}};
  }
  MadeHost reach(const std::string&) const override { return {.kind = "namespace", .location = "somewhere"}; }
  void remove(const std::string& host) override { removed.push_back(host); }

  std::vector<std::string> made;
  std::vector<std::string> removed;
};

TEST_F(AttachTest, ANamespaceWhosePortCannotBeOpenedIsRemovedAgain) {
  EXPECT_THAT(refused(503, "h3", "namespace"),
              HasSubstr("the lab is still starting: namespaces cannot be created yet"));
  Maker maker;
  lab_->hosts_are_made_by(maker);
  EXPECT_THAT(refused(409, "h3", "namespace"), HasSubstr("network namespace 'ry-no-such-namespace'"));
  EXPECT_THAT(maker.made, testing::ElementsAre("h3"));
  EXPECT_THAT(maker.removed, testing::ElementsAre("h3"));
  EXPECT_EQ(ask("GET", "/hosts/h3")["nics"][0]["attach"], "built-in");
  EXPECT_THAT(refused(400, "h4:1", "namespace"), HasSubstr("a namespace has all NICs of its host"));
}

}  // namespace
}  // namespace railyard::daemon
