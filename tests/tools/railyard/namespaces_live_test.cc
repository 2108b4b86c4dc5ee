// Labs whose hosts are network namespaces, from the command line. Needs root, iproute2 and veth.
#include <algorithm>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <unistd.h>

#include "control/hosts/command.h"
#include "tests/tools/railyard/live_command_line.h"

namespace railyard::tools {
namespace {

using hosts::run_command;
using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// Two leaves, two spines, two hosts with two rails each: h1 at leaf1, h2 at leaf2, their second NICs the other way
// round.
constexpr const char* kLab = R"(
nodes:
  leaf1: { kind: switch }
  leaf2: { kind: switch }
  spine1: { kind: switch }
  spine2: { kind: switch }
  h1: { kind: host, nics: [{ address: 10.9.1.1 }, { address: 10.9.2.1 }] }
  h2: { kind: host, nics: [{ address: 10.9.1.2 }, { address: 10.9.2.2 }] }
hosts: { default: { attach: namespace } }
defaults: { link: { rate: 10Gbps, mtu: 3000 } }
links:
  - [h1:1, leaf1:1]
  - [h1:2, leaf2:1]
  - [h2:1, leaf2:2]
  - [h2:2, leaf1:2]
  - [leaf1:3, spine1:1]
  - [leaf2:3, spine1:2]
  - [leaf1:4, spine2:1]
  - [leaf2:4, spine2:2]
run: { memory: 256MiB }
)";

class NamespacesLive : public LiveCommandLine {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    if (const auto probe = run_command({"ip", "netns", "add", name_}); probe.status != 0)
      GTEST_SKIP() << "no network namespaces here: " << probe.output;
    const auto veth = run_command({"ip", "-n", name_, "link", "add", "a0", "type", "veth"});
    run_command({"ip", "netns", "del", name_});
    if (veth.status != 0) GTEST_SKIP() << "no veth here: " << veth.output;
    write("net.yaml", fmt::format("name: {}\n{}", name_, kLab));
  }
  void up() {
    const Outcome o = railyard({"up", "net.yaml", "--detach"});
    ASSERT_EQ(o.exit_code, kOk) << o.err;
  }
  Outcome on(const std::string& host, std::vector<std::string> words) const {
    words.insert(words.begin(), {"exec", host, "--"});
    return railyard(words);
  }
  // All that is there of the lab, outside of its own folder.
  std::vector<std::string> traces() const {
    std::vector<std::string> found;
    for (const char* folder : {"/var/run/netns", "/etc/netns"}) {
      std::error_code none;
      for (const auto& entry : std::filesystem::directory_iterator(folder, none))
        if (const std::string n = entry.path().filename(); n.starts_with("ry-" + name_)) found.push_back(n);
    }
    std::ranges::sort(found);
    return found;
  }
  pid_t daemon() const { return json::parse(railyard({"ls", "--json"}).out)[0]["pid"].get<pid_t>(); }
  // It holds its lab until the kernel has closed all it had open.
  void kill_daemon() const { ::kill(daemon(), SIGKILL); }

  std::string name_ = fmt::format("nslive-{}", ::getpid() % 100'000);
};

TEST_F(NamespacesLive, HostsReachEachOtherOverTheFabric) {
  up();
  for (const char* target : {"10.9.1.2", "10.9.2.2", "h2"}) {
    const Outcome ping = on("h1", {"ping", "-c", "2", "-i", "0.05", "-W", "5", target});
    EXPECT_EQ(ping.exit_code, kOk) << ping.out << ping.err;
    EXPECT_THAT(ping.out, HasSubstr(" 0% packet loss"));
  }
  // Three routers lie between NICs at different leaves.
  EXPECT_THAT(on("h1", {"ping", "-c", "1", "-W", "5", "10.9.1.2"}).out, HasSubstr("ttl=61"));
  EXPECT_THAT(on("h1", {"ping", "-c", "1", "-W", "5", "-t", "2", "10.9.1.2"}).out,
              AllOf(HasSubstr("From 10.255.0."), HasSubstr("Time to live exceeded")));
  const json status = json::parse(railyard({"status", "--json"}).out);
  EXPECT_EQ(status["hosts"][0]["nics"][0]["attach"], "namespace");
  for (const json& a : status["attachments"]) {
    EXPECT_TRUE(a["link_up"]) << a;
    EXPECT_EQ(a["host_ring_full"], 0);
  }
  EXPECT_EQ(railyard({"status", "--audit"}).exit_code, kOk);
}

// As a shell does.
TEST_F(NamespacesLive, TheExitCodeIsThatOfTheCommand) {
  up();
  EXPECT_EQ(on("h1", {"sh", "-c", "exit 7"}).exit_code, 7);
  const Outcome none = on("h1", {"no-such-command", "a b"});
  EXPECT_EQ(none.exit_code, 127);
  EXPECT_THAT(none.err, HasSubstr("no-such-command: not found"));
  EXPECT_EQ(on("h1", {"/etc/passwd"}).exit_code, 126);
  EXPECT_EQ(on("h1", {"echo", "a b", "$HOME"}).out, "a b $HOME\n");
}

TEST_F(NamespacesLive, ExactlyTheMtuPassesAndOneMoreDoesNot) {
  up();
  EXPECT_EQ(on("h1", {"ping", "-c", "1", "-W", "5", "-M", "do", "-s", "2972", "10.9.1.2"}).exit_code, kOk);
  const Outcome longer = on("h1", {"ping", "-c", "1", "-W", "5", "-M", "do", "-s", "2973", "10.9.1.2"});
  EXPECT_THAT(longer.out + longer.err, testing::ContainsRegex("message too long, mtu[:=] ?3000"));
}

TEST_F(NamespacesLive, ALinkThatIsDownIsFelt) {
  up();
  EXPECT_EQ(on("h1", {"ping", "-c", "1", "-W", "5", "10.9.1.2"}).exit_code, kOk);
  railyard({"link", "down", "h1:1"});
  EXPECT_THAT(on("h1", {"ip", "link", "show", "eth1"}).out, HasSubstr("NO-CARRIER"));
  EXPECT_THAT(on("h1", {"ip", "link", "show", "eth2"}).out, HasSubstr("LOWER_UP"));
  EXPECT_NE(on("h1", {"ping", "-c", "1", "-W", "1", "10.9.1.2"}).exit_code, kOk);
  EXPECT_EQ(on("h1", {"ping", "-c", "1", "-W", "5", "10.9.2.2"}).exit_code, kOk) << "the other rail";
  railyard({"link", "up", "h1:1"});
  EXPECT_THAT(on("h1", {"ip", "link", "show", "eth1"}).out, HasSubstr("LOWER_UP"));
  EXPECT_EQ(on("h1", {"ping", "-c", "1", "-W", "5", "10.9.1.2"}).exit_code, kOk);
}

// As with a real switch: the host sees that its carrier is gone, and that it is back.
TEST_F(NamespacesLive, ALinkThatAFaultHasDownIsFelt) {
  up();
  const auto shows = [&](const std::string& host, const std::string& device, const std::string& what) {
    return becomes([&] { return on(host, {"ip", "link", "show", device}).out.find(what) != std::string::npos; });
  };
  const auto add = [&](const std::string& fault) {
    EXPECT_EQ(railyard({"fault", "add", "name: f, " + fault}).exit_code, kOk) << fault;
  };
  const auto rm = [&] { EXPECT_EQ(railyard({"fault", "rm", "f"}).exit_code, kOk); };
  EXPECT_TRUE(shows("h1", "eth1", "LOWER_UP"));

  add("on: leaf1:1, down: true");
  EXPECT_TRUE(shows("h1", "eth1", "NO-CARRIER"));
  EXPECT_TRUE(shows("h1", "eth2", "LOWER_UP")) << "the other rail";
  rm();
  EXPECT_TRUE(shows("h1", "eth1", "LOWER_UP"));

  add("on: leaf1:1, flap: { down: 1s, up: 1s }");
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(shows("h1", "eth1", "NO-CARRIER")) << i;
    EXPECT_TRUE(shows("h1", "eth1", "LOWER_UP")) << i;
  }
  rm();
  EXPECT_TRUE(shows("h1", "eth1", "LOWER_UP"));

  add("on: leaf1, crash: true");
  EXPECT_TRUE(shows("h1", "eth1", "NO-CARRIER"));
  EXPECT_TRUE(shows("h2", "eth2", "NO-CARRIER"));
  EXPECT_TRUE(shows("h1", "eth2", "LOWER_UP")) << "at leaf2";
  EXPECT_NE(on("h1", {"ping", "-c", "1", "-W", "1", "10.9.1.2"}).exit_code, kOk);
  rm();
  EXPECT_TRUE(shows("h1", "eth1", "LOWER_UP"));
  EXPECT_TRUE(shows("h2", "eth2", "LOWER_UP"));
  EXPECT_EQ(on("h1", {"ping", "-c", "1", "-W", "5", "10.9.1.2"}).exit_code, kOk);
  EXPECT_EQ(railyard({"status", "--audit"}).exit_code, kOk);
}

TEST_F(NamespacesLive, TheCommandsExitCodeAndOutputAreItsOwn) {
  up();
  EXPECT_EQ(on("h1", {"sh", "-c", "exit 7"}).exit_code, 7);
  EXPECT_THAT(on("h2", {"hostname", "--no-such-option"}).exit_code, testing::Ne(kOk));
  EXPECT_THAT(on("h2", {"ip", "-br", "addr", "show", "eth2"}).out, HasSubstr("10.9.2.2/32"));
}

TEST_F(NamespacesLive, NothingIsLeftHoweverItEnds) {
  for (const bool killed : {false, true}) {
    up();
    EXPECT_THAT(traces(), testing::SizeIs(6)) << "three namespaces, each with a hosts file";
    // What still runs on a host goes with it.
    on("h1", {"sh", "-c", "sleep 1000 >/dev/null 2>&1 & echo $!"});
    if (killed) kill_daemon();
    EXPECT_EQ(railyard({"down"}).exit_code, kOk);
    EXPECT_THAT(traces(), IsEmpty());
  }
  // Or the next one finds it.
  up();
  kill_daemon();
  up();
  EXPECT_EQ(on("h1", {"ping", "-c", "1", "-W", "5", "10.9.1.2"}).exit_code, kOk);
  railyard({"down"});
  EXPECT_THAT(traces(), IsEmpty());
}

TEST_F(NamespacesLive, WhatFailsHalfwayLeavesNothing) {
  const std::string taken = "ry-" + name_ + "-h2";
  ASSERT_EQ(run_command({"ip", "netns", "add", taken}).status, 0);
  const Outcome o = railyard({"up", "net.yaml", "--detach"});
  EXPECT_EQ(o.exit_code, kFailed);
  EXPECT_THAT(o.err, HasSubstr(taken));
  EXPECT_THAT(traces(), ElementsAre(taken)) << "not ours";
  EXPECT_EQ(railyard({"ls"}).out, "no running labs\n");
  run_command({"ip", "netns", "del", taken});
}

TEST_F(NamespacesLive, RunDoesNotMakeThem) {
  const Outcome o = railyard({"run", "net.yaml", "--clock", "wall"});
  EXPECT_EQ(o.exit_code, kInput);
  EXPECT_THAT(o.err, HasSubstr("h1 has attach: namespace, which needs a live lab"));
  EXPECT_THAT(traces(), IsEmpty());
}

// Two labs of the same addresses do not see each other.
TEST_F(NamespacesLive, TwoLabsAreTwo) {
  up();
  const std::string other = name_ + "-b";
  ASSERT_EQ(railyard({"up", "net.yaml", "--detach", "--name", other}).exit_code, kOk);
  EXPECT_EQ(railyard({"exec", "--lab", other, "h1", "--", "ping", "-c", "1", "-W", "5", "10.9.1.2"}).exit_code, kOk);
  const json s = json::parse(railyard({"status", "--lab", name_, "--json"}).out);
  // Its own kernels may have told their leaf about multicast groups, which go no further.
  for (const json& p : s["ports"])
    EXPECT_EQ(p["node"].get<std::string>().starts_with("leaf") ? p["tx"]["packets"].get<int>() : 0, 0) << p;
}

// ---- Hosts that come and go -----------------------------------------------------------------------------------------

TEST_F(NamespacesLive, AHostComesToALabThatIsUpAndLeavesIt) {
  write("net.yaml", fmt::format("name: {}\n{}", name_, kLab));
  const Outcome o = railyard({"up", "net.yaml", "--detach", "--set", "hosts.default.attach=", "--set",
                              "nodes.h1.nics=[{address: 10.9.1.1, attach: namespace}, {address: 10.9.2.1, attach: "
                              "namespace}]"});
  ASSERT_EQ(o.exit_code, kOk) << o.err;
  EXPECT_THAT(on("h2", {"true"}).err, HasSubstr("h2"));
  EXPECT_EQ(on("h1", {"ping", "-c", "1", "-W", "5", "10.9.1.2"}).exit_code, kOk) << "the NIC answers itself";

  const Outcome attached = railyard({"attach", "h2", "namespace"});
  ASSERT_EQ(attached.exit_code, kOk) << attached.err;
  EXPECT_THAT(attached.out, HasSubstr(": h2: namespace at "));
  EXPECT_THAT(traces(), testing::Contains("ry-" + name_ + "-h2"));
  for (const char* to : {"10.9.1.2", "10.9.2.2", "h2"})
    EXPECT_EQ(on("h1", {"ping", "-c", "1", "-W", "5", to}).exit_code, kOk) << to;
  EXPECT_EQ(on("h2", {"ping", "-c", "1", "-W", "5", "h1"}).exit_code, kOk);
  EXPECT_EQ(railyard({"attach", "h2", "namespace"}).out, "lab " + name_ + ": h2 is namespace already\n");
  EXPECT_EQ(json::parse(railyard({"status", "--json"}).out)["attachments"].size(), 4u);

  ASSERT_EQ(railyard({"detach", "h2"}).exit_code, kOk);
  EXPECT_THAT(traces(), testing::Not(testing::Contains("ry-" + name_ + "-h2")));
  EXPECT_EQ(on("h1", {"ping", "-c", "1", "-W", "5", "10.9.1.2"}).exit_code, kOk) << "the NIC answers again";
  EXPECT_EQ(json::parse(railyard({"status", "--json"}).out)["attachments"].size(), 2u);
  ASSERT_EQ(railyard({"attach", "h2", "namespace"}).exit_code, kOk) << "once more";
  EXPECT_EQ(on("h1", {"ping", "-c", "1", "-W", "5", "10.9.1.2"}).exit_code, kOk);
  EXPECT_EQ(railyard({"status", "--audit"}).exit_code, kOk);
  railyard({"down"});
  EXPECT_THAT(traces(), IsEmpty());
}

TEST_F(NamespacesLive, ATapComesToOneNic) {
  const Outcome o = railyard({"up", "net.yaml", "--detach", "--set", "hosts.default.attach=", "--set",
                              "nodes.h1.nics=[{address: 10.9.1.1, attach: namespace}, {address: 10.9.2.1, attach: "
                              "namespace}]"});
  ASSERT_EQ(o.exit_code, kOk) << o.err;
  const std::string tap = fmt::format("ryt{}", ::getpid() % 100'000);
  EXPECT_THAT(railyard({"attach", "h2", "tap=" + tap}).err,
              HasSubstr("h2 has 2 NICs; expected one of them, such as h2:1"));
  const Outcome attached = railyard({"attach", "h2:1", "tap=" + tap});
  ASSERT_EQ(attached.exit_code, kOk) << attached.err;
  EXPECT_EQ(run_command({"ip", "link", "show", tap}).status, 0);
  EXPECT_THAT(railyard({"attach", "h2:2", "tap=" + tap}).err, HasSubstr("it is already attached to h2:1"));
  EXPECT_THAT(railyard({"attach", "h2:2", "netdev=nosuch"}).err, HasSubstr("interface 'nosuch': no such interface"));
  // Its host: a namespace of this test's own.
  const std::string netns = name_ + "-tap";
  run_command({"ip", "netns", "add", netns});
  run_command({"ip", "link", "set", tap, "netns", netns});
  run_command({"ip", "-n", netns, "addr", "add", "10.9.1.2/16", "dev", tap});
  run_command({"ip", "-n", netns, "link", "set", tap, "up"});
  EXPECT_EQ(on("h1", {"ping", "-c", "1", "-W", "5", "10.9.1.2"}).exit_code, kOk);
  EXPECT_EQ(run_command({"ip", "netns", "exec", netns, "ping", "-c", "1", "-W", "5", "10.9.1.1"}).status, 0);
  EXPECT_EQ(railyard({"detach", "h2:1"}).exit_code, kOk);
  EXPECT_NE(run_command({"ip", "-n", netns, "link", "show", tap}).status, 0) << "it went with the port";
  run_command({"ip", "netns", "del", netns});
  EXPECT_EQ(railyard({"status", "--audit"}).exit_code, kOk);
}

TEST_F(NamespacesLive, AHostThatCannotComeLeavesTheLabAsItWas) {
  up();
  const std::string before = railyard({"status", "--json"}).out;
  EXPECT_THAT(railyard({"attach", "h1", "vm"}).err, HasSubstr("a virtual machine cannot be changed in a running lab"));
  EXPECT_THAT(railyard({"attach", "h1:1", "tap=t1"}).err, HasSubstr("a namespace has all NICs of its host"));
  EXPECT_THAT(railyard({"attach", "h9", "namespace"}).err, HasSubstr("there is no host 'h9'"));
  EXPECT_THAT(railyard({"attach", "h1", "namespaces"}).err, HasSubstr("expected namespace, or KIND=VALUE"));
  EXPECT_THAT(railyard({"attach", "h1", "tab=x"}).err, HasSubstr("unknown key 'tab'; did you mean 'tap'"));
  EXPECT_EQ(json::parse(railyard({"status", "--json"}).out)["hosts"], json::parse(before)["hosts"]);
  EXPECT_EQ(on("h1", {"ping", "-c", "1", "-W", "5", "10.9.1.2"}).exit_code, kOk);
}

}  // namespace
}  // namespace railyard::tools
