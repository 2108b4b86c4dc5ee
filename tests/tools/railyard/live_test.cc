// Labs that stay up, from the command line: real daemons, each test with a place of its own for them.
#include <cstdlib>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/tools/railyard/live_command_line.h"

namespace railyard::tools {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class Live : public LiveCommandLine {
 protected:
  void up(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"up", "lab.yaml", "--detach"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome o = railyard(words);
    ASSERT_EQ(o.exit_code, kOk) << o.err;
    EXPECT_THAT(o.out, HasSubstr("is up: 1 switches, 2 hosts, 2 links"));
  }
  json list() const { return json::parse(railyard({"ls", "--json"}).out); }
  std::vector<std::string> state() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "state"))
      names.push_back(entry.path().filename());
    return names;
  }
  // The only line on standard error.
  std::string refused(int code, const std::vector<std::string>& words) const {
    const Outcome o = railyard(words);
    EXPECT_EQ(o.exit_code, code) << o.out << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
    return o.err;
  }
};

TEST_F(Live, UpLookBreakALinkDown) {
  up();
  EXPECT_EQ(list()[0]["name"], "small");
  EXPECT_TRUE(list()[0]["running"]);
  EXPECT_THAT(railyard({"status"}).out, AllOf(StartsWith("lab 'small': 1 switches, 2 hosts, 2 links; up for "),
                                              HasSubstr("leaf1:2        h2:1             100 Gb/s")));
  EXPECT_THAT(railyard({"link", "down", "leaf1:2"}).out, StartsWith("lab small: link leaf1:2 - h2:1 down at "));
  EXPECT_THAT(railyard({"status"}).out, HasSubstr("leaf1:2        h2:1                 down"));
  EXPECT_EQ(refused(kFailed, {"link", "down", "h2:1"}), "railyard: link h2:1 - leaf1:2 is already down\n");
  EXPECT_THAT(railyard({"link", "up", "h2:1"}).out, StartsWith("lab small: link h2:1 - leaf1:2 up at "));
  EXPECT_THAT(railyard({"status", "--audit"}).out, StartsWith("packet accounting balances at "));
  EXPECT_TRUE(json::parse(railyard({"status", "--audit", "--json"}).out)["balanced"]);
  EXPECT_EQ(json::parse(railyard({"status", "--json"}).out)["name"], "small");
  EXPECT_EQ(railyard({"pause"}).out, "lab small: paused\n");
  EXPECT_THAT(railyard({"status"}).out, StartsWith("lab 'small' (paused): "));
  EXPECT_EQ(railyard({"resume"}).out, "lab small: resumed\n");
  EXPECT_THAT(railyard({"logs"}).out,
              AllOf(HasSubstr("lab 'small' from "), HasSubstr("link leaf1:2 - h2:1 down: asked at "),
                    HasSubstr(", in effect at "), HasSubstr("paused")));
  EXPECT_EQ(railyard({"down"}).out, "lab 'small' stopped\n");
  EXPECT_EQ(railyard({"ls"}).out, "no running labs\n");
  EXPECT_TRUE(state().empty());
}

TEST_F(Live, ThePageIsWhereItIsSaid) {
  const Outcome up = railyard({"up", "lab.yaml", "--detach", "--web"});
  ASSERT_EQ(up.exit_code, kOk) << up.err;
  EXPECT_THAT(up.out, AllOf(HasSubstr("\n  http://127.0.0.1:"), HasSubstr("/#code="), HasSubstr("\n  Token for programs: ")));
  const std::string file = (folder_ / "state/small/token").string();
  struct stat st {};
  ASSERT_EQ(::stat(file.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600u);
  const std::string web = railyard({"web"}).out;
  EXPECT_THAT(web, AllOf(StartsWith("lab small: http://127.0.0.1:"), HasSubstr("Token for programs: " + file)));
  EXPECT_NE(web.substr(web.find('#'), 70), up.out.substr(up.out.find('#'), 70)) << "each link works once";
  const std::string log = railyard({"logs"}).out;
  EXPECT_THAT(log, AllOf(HasSubstr("listening at http://127.0.0.1:"), testing::Not(HasSubstr("code="))));
  EXPECT_EQ(railyard({"down"}).out, "lab 'small' stopped\n");
  EXPECT_TRUE(state().empty());
}

TEST_F(Live, APageElsewhereOrOfALabWithoutOneIsRefused) {
  for (const char* listen : {"0.0.0.0:8421", "192.0.2.1:8421", "[2001:db8::1]:0"})
    EXPECT_THAT(refused(kUsage, {"up", "lab.yaml", "--detach", "--listen", listen}), HasSubstr("is no loopback address"));
  for (const char* listen : {"8421", "localhost:8421", "127.0.0.1", "127.0.0.1:70000"})
    EXPECT_THAT(refused(kUsage, {"up", "lab.yaml", "--detach", "--listen", listen}), HasSubstr("expected one such as 127.0.0.1:8421"));
  up();
  EXPECT_EQ(refused(kFailed, {"web"}), "railyard: the lab has no page; start it with `railyard up --web`\n");
}

TEST_F(Live, WhatItIsToldWhileItIsUp) {
  up();
  EXPECT_THAT(railyard({"set", "qos.default.classes.3.ecn.kmin=100KB", "qos.default.classes.3.path=spray"}).out,
              AllOf(StartsWith("lab small: qos.default.classes.3.ecn.kmax: auto -> 400KB\n"
                               "lab small: qos.default.classes.3.ecn.kmin: auto -> 100KB\n"
                               "lab small: qos.default.classes.3.path: ecmp -> spray\n"
                               "lab small: in effect at "),
                    HasSubstr(" s\n")));
  EXPECT_EQ(railyard({"get", "qos.default.classes.3.ecn.kmin"}).out, "qos.default.classes.3.ecn.kmin  100KB\n");
  EXPECT_EQ(railyard({"set", "qos.default.classes.3.path=spray"}).out, "lab small: no change\n");
  EXPECT_THAT(railyard({"set"}).out, HasSubstr("links.h1:1.rate "));
  EXPECT_EQ(json::parse(railyard({"set", "links.h1:1.rate=25Gbps", "--json"}).out)["changes"][0]["to"], "25Gbps");
  EXPECT_EQ(json::parse(railyard({"get", "links", "--json"}).out)["settings"][0]["value"], "25Gbps");
  EXPECT_THAT(refused(kInput, {"set", "qos.default.classes.3.ecn.kmax=1MB", "qos.default.classes.3.ecn.kmin=2MB"}),
              StartsWith("railyard: --set qos.default.classes.3.ecn.kmin=2MB: qos.default.classes.3.ecn.kmin: 2MB is "
                         "above kmax"));
  EXPECT_THAT(refused(kFailed, {"set", "run.seed=2"}), StartsWith("railyard: run.seed (1 -> 2) cannot change in "));
  EXPECT_THAT(railyard({"logs"}).out, HasSubstr("set links.h1:1.rate=25Gbps: asked at "));
}

// What built-in traffic has brought so far, and all of it as the report of a run.
TEST_F(Live, FlowsAndAReportWhileItIsUp) {
  up({"--set", "traffic.t.transport=roce", "--set", "traffic.0.bytes=1MB"});
  json flows;
  do {
    flows = json::parse(railyard({"status", "--json"}).out)["flows"];
  } while (flows.at(0)["fct_ns"].is_null());
  EXPECT_EQ(flows[0]["delivered_bytes"], 1'000'000);
  EXPECT_EQ(flows[0]["roce"]["verified"], flows[0]["roce"]["messages"]);
  const std::string status = railyard({"status"}).out;
  EXPECT_THAT(status, AllOf(HasSubstr("flow "), HasSubstr("RoCE: "), HasSubstr("delivered and verified")));
  const std::string dir = (folder_ / "out").string();
  const Outcome o = railyard({"report", dir});
  ASSERT_EQ(o.exit_code, kOk) << o.err;
  EXPECT_EQ(o.out, "");
  const json report = json::parse(read("out/report.json"));
  EXPECT_EQ(report["flows"][0]["delivered_bytes"], 1'000'000);
  EXPECT_TRUE(report["audit"]["balanced"]);
  EXPECT_EQ(report["run"]["clock"], "wall");
  EXPECT_GT(report["engine"]["simulated_seconds"], 0);
  EXPECT_GT(report["engine"]["lateness_ns"]["max"], 0);
  EXPECT_THAT(read("out/report.html"), HasSubstr("</html>"));
  EXPECT_EQ(json::parse(railyard({"compare", dir, dir, "--json"}).out)["settings"], json::array())
      << "its lab is known";
  EXPECT_THAT(refused(kFailed, {"report", "/proc/nothing"}), StartsWith("railyard: cannot create /proc/nothing: "));
  EXPECT_EQ(refused(kFailed, {"again", "t"}), "railyard: traffic t has not been stopped\n");
}

// Ultra Ethernet's engine under the wall clock, and what is told of it: flows, NICs, and a PDC that fails.
TEST_F(Live, FlowsOverUetWhileItIsUp) {
  const auto start = [&](const char* bytes) {
    up({"--set", "traffic.t.transport=uet", "--set", "traffic.0.dscp=26", "--set",
        std::string("traffic.0.bytes=") + bytes, "--set", "hosts.default.uet.rto=50ms", "--set",
        "hosts.default.uet.retries=1"});
  };
  start("1MB");
  json status;
  do {
    status = json::parse(railyard({"status", "--json"}).out);
  } while (status["flows"].at(0)["fct_ns"].is_null());
  EXPECT_EQ(status["flows"][0]["delivered_bytes"], 1'000'000);
  EXPECT_EQ(status["flows"][0]["uet"]["verified"], status["flows"][0]["uet"]["messages"]);
  ASSERT_EQ(status["uet_nics"].size(), 2u);
  EXPECT_GT(status["uet_nics"][0]["pdcs_opened"], 0);
  EXPECT_THAT(railyard({"status"}).out,
              AllOf(HasSubstr("flow "), HasSubstr("UET: 1 flow at 2 NICs\n"), HasSubstr("delivered and verified"),
                    HasSubstr("PDCs, counted at both ends: ")));
  const std::string dir = (folder_ / "out").string();
  ASSERT_EQ(railyard({"report", dir}).exit_code, kOk);
  EXPECT_EQ(json::parse(read("out/report.json"))["flows"][0]["delivered_bytes"], 1'000'000);
  railyard({"down"});

  start("unlimited");
  EXPECT_EQ(railyard({"link", "down", "h2:1"}).exit_code, kOk);
  std::string text;
  do {
    text = railyard({"status"}).out;
  } while (text.find("FAILED: ") == std::string::npos);
  EXPECT_THAT(text, AllOf(HasSubstr(": retry_exceeded at "), HasSubstr(" failed, ")));
}

// What 10 Mb/s of 1 KB payloads have sent after half a modelled second, with run.duration: 1ms in the file.
TEST_F(Live, TrafficGoesOnUntilTheLabIsDownUnlessAsked) {
  const auto sent = [&](std::vector<std::string> sets) {
    for (const char* s : {"traffic.0.bytes=unlimited", "traffic.0.payload=1KB", "traffic.0.rate=10Mbps"})
      sets.insert(sets.end(), {"--set", s});
    up(sets);
    json status;
    do {
      status = json::parse(railyard({"status", "--json"}).out);
    } while (status["engine"]["modelled_seconds"].get<double>() < 0.5);
    railyard({"down"});
    for (const json& p : status["ports"])
      if (p["node"] == "h1") return p["tx"]["packets"].get<int>();
    return -1;
  };
  EXPECT_GT(sent({}), 400);
  EXPECT_LT(sent({"--set", "run.duration=10ms"}), 20);
}

TEST_F(Live, SeveralByName) {
  up();
  up({"--name", "second"});
  EXPECT_EQ(
      refused(kFailed, {"up", "lab.yaml"}),
      "railyard: lab 'small' is already running; stop it by `railyard down small`, or use --name for another name\n");
  EXPECT_EQ(refused(kFailed, {"status"}),
            "railyard: several labs are running: second, small; choose one with --lab or RAILYARD_LAB\n");
  EXPECT_THAT(railyard({"status", "--lab", "second"}).out, StartsWith("lab 'second': "));
  EXPECT_EQ(refused(kFailed, {"pause", "--lab", "third"}),
            "railyard: no running lab 'third'; expected one of second, small\n");
  EXPECT_EQ(refused(kFailed, {"down"}),
            "railyard: several labs are running: second, small; choose one with --lab or RAILYARD_LAB\n");
  EXPECT_EQ(refused(kFailed, {"status", "-l", "smal"}), "railyard: no running lab 'smal'; did you mean 'small'?\n");
  // The environment names one, and an argument goes before it.
  ::setenv("RAILYARD_LAB", "second", 1);
  EXPECT_EQ(railyard({"pause"}).out, "lab second: paused\n");
  EXPECT_EQ(railyard({"resume", "-l", "second"}).out, "lab second: resumed\n");
  EXPECT_THAT(railyard({"status", "--lab", "small"}).out, StartsWith("lab 'small': "));
  EXPECT_EQ(railyard({"down", "small"}).out, "lab 'small' stopped\n");
  ::setenv("RAILYARD_LAB", "third", 1);
  up();
  EXPECT_EQ(railyard({"down"}).out, "lab 'third' stopped\n");
  ::unsetenv("RAILYARD_LAB");
  EXPECT_EQ(railyard({"down", "--lab", "second"}).out, "lab 'second' stopped\n");
  EXPECT_EQ(list().size(), 0u);
}

// Two labs that share memory: the one that is client of the socket comes first, waits, and finds the other; again when
// that has been away.
TEST_F(Live, TwoLabsShareMemoryWhicheverComesFirst) {
  const std::string socket = (folder_ / "m.sock").string();
  const auto memif = [&](const std::string& role) {
    return "nodes.h1.attach={memif: {socket: " + socket + ", role: " + role + "}}";
  };
  const auto linked = [&](const std::string& lab) {
    const json status = json::parse(railyard({"status", "--lab", lab, "--json"}).out);
    return status["attachments"][0]["link_up"].get<bool>();
  };
  up({"--name", "client", "--set", "traffic=", "--set", memif("client")});
  EXPECT_FALSE(linked("client"));
  for (int life = 0; life < 2; ++life) {
    up({"--name", "server", "--set", "traffic=", "--set", memif("server")});
    EXPECT_TRUE(becomes([&] { return linked("client"); })) << life;
    EXPECT_TRUE(linked("server"));
    EXPECT_EQ(railyard({"down", "server"}).exit_code, kOk);
    EXPECT_TRUE(becomes([&] { return !linked("client"); })) << life;
  }
}

TEST_F(Live, WhatAKilledDaemonLeftIsRemovedByDownOrByTheNextUp) {
  for (const bool by_up : {false, true}) {
    up();
    ASSERT_EQ(::kill(list()[0]["pid"].get<pid_t>(), SIGKILL), 0);
    while (list()[0]["running"].get<bool>()) ::usleep(1000);
    EXPECT_THAT(railyard({"ls"}).out, HasSubstr("not running; `railyard down small` removes its leftovers"));
    EXPECT_THAT(refused(kFailed, {"status"}), HasSubstr("lab 'small' is dead: its daemon (PID "));
    EXPECT_THAT(refused(kFailed, {"pause", "-l", "small"}), HasSubstr("lab 'small' is dead: its daemon (PID "));
    for (const std::vector<std::string>& logs : {std::vector<std::string>{"logs"}, {"logs", "-l", "small"}, {"logs", "-f"}}) {
      const Outcome o = railyard(logs);
      EXPECT_EQ(o.exit_code, kOk) << o.err;
      EXPECT_NE(o.out, "") << "what it was doing when it was killed";
    }
    if (by_up) up();
    EXPECT_EQ(railyard({"down"}).exit_code, kOk);
    EXPECT_TRUE(state().empty());
  }
}

// Stopped, it is alive and silent.
TEST_F(Live, AHungDaemonIsNamedWithItsPid) {
  up();
  const auto pid = list()[0]["pid"].get<pid_t>();
  ASSERT_EQ(::kill(pid, SIGSTOP), 0);
  EXPECT_THAT(railyard({"ls"}).out,
              HasSubstr("lab 'small' is hung: railyardd (PID " + std::to_string(pid) + ") does not answer"));
  ASSERT_EQ(::kill(pid, SIGCONT), 0);
  EXPECT_EQ(railyard({"down"}).exit_code, kOk);
}

TEST_F(Live, ALabThatDoesNotComeUpLeavesNothing) {
  EXPECT_THAT(refused(kInput, {"up", "nowhere.yaml"}), HasSubstr("nowhere.yaml: cannot be read"));
  EXPECT_THAT(refused(kInput, {"up", "lab.yaml", "--set", "nodes.h1.colour=red"}), HasSubstr("unknown key 'colour'"));
  EXPECT_THAT(refused(kUsage, {"up", "lab.yaml", "--name", "a/b"}),
              HasSubstr("'a/b' is not a valid name of a live lab"));
  EXPECT_THAT(refused(kFailed, {"up", "lab.yaml", "--set", "run.memory=16TiB"}), HasSubstr("DPDK could not start"));
  EXPECT_THAT(
      refused(kInput, {"up", "lab.yaml", "--set", "traffic=", "--set", "nodes.h1.attach={vhost-user: /nowhere/x.sock}"}),
      HasSubstr("there is no directory /nowhere"));
  EXPECT_EQ(railyard({"ls"}).out, "no running labs\n");
  EXPECT_TRUE(!std::filesystem::exists(folder_ / "state") || state().empty());
}

TEST_F(Live, WithoutALab) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"status"},
                                                {"pause"},
                                                {"logs"},
                                                {"set", "traffic.0.rate=1Gbps"},
                                                {"get"},
                                                {"link", "down", "leaf1:1"},
                                                {"exec", "h1", "--", "true"},
                                                {"shell", "h1"},
                                                {"down"}})
    EXPECT_EQ(refused(kFailed, words), "railyard: no running lab; `railyard up SPEC` starts one\n") << words[0];
}

TEST_F(Live, HostsThatNothingCanRunOn) {
  up();
  EXPECT_THAT(refused(kFailed, {"exec", "h1", "--", "true"}), HasSubstr("h1 is built-in: it cannot run commands"));
  EXPECT_EQ(refused(kUsage, {"exec", "h9", "--", "true"}),
            "railyard: lab 'small' has no host 'h9'; did you mean 'h1'?\n");
}

// One table for all commands (docs/exit-codes.md): what the command line names and the lab does not have is 2, a value
// that does not fit is 3, what cannot be done now is 1.
TEST_F(Live, ExitCodesOfWhatTheLabDoesNotHave) {
  up();
  const struct {
    int code;
    std::vector<std::string> words;
  } kCases[] = {
      {kUsage, {"exec", "h9", "true"}},
      {kUsage, {"shell", "h9"}},
      {kUsage, {"agent", "h9"}},
      {kUsage, {"restart", "h9"}},
      {kUsage, {"attach", "h9", "namespace"}},
      {kUsage, {"attach", "h1", "tap="}},
      {kUsage, {"detach", "h9"}},
      {kUsage, {"link", "down", "leaf9:1"}},
      {kUsage, {"link", "down", "leaf1:9"}},
      {kUsage, {"link", "down", "leaf1"}},
      {kUsage, {"capture", "leaf9:1", "-w", "x"}},
      {kUsage, {"fault", "rm", "nobody"}},
      {kUsage, {"series", "q.csv", "--every", "1ns"}},
      {kUsage, {"int", "q.jsonl", "--flow", "nobody"}},
      {kInput, {"set", "qos.nobody=1"}},
      {kInput, {"get", "qos.nobody"}},
      {kInput, {"fault", "add", "on: leaf9:1, loss: 1%"}},
      {kInput, {"fault", "add", "on: leaf1:1, los: 1%"}},
      {kFailed, {"restart", "h1"}},
      {kFailed, {"again", "t"}},
      {kFailed, {"resume"}},
      {kFailed, {"set", "run.seed=2"}},
      {kFailed, {"series", "/nowhere/q.csv"}},
      {kFailed, {"int", "/nowhere/q.jsonl"}},
      {kFailed, {"int", "--end"}},
  };
  for (const auto& c : kCases) {
    std::string line;
    for (const std::string& word : c.words) line += word + " ";
    SCOPED_TRACE(line);
    refused(c.code, c.words);
  }
}

// Nobody reads it: the lab must not wait.
TEST_F(Live, RecordingsToAFifoWithoutAReaderAreRefused) {
  up();
  ASSERT_EQ(::mkfifo((folder_ / "fifo").c_str(), 0600), 0);
  EXPECT_THAT(refused(kFailed, {"series", "fifo"}), HasSubstr("nobody reads this FIFO; start its reader first"));
  EXPECT_THAT(refused(kFailed, {"int", "fifo"}), HasSubstr("nobody reads this FIFO; start its reader first"));
  EXPECT_EQ(railyard({"status"}).exit_code, kOk);
}

}  // namespace
}  // namespace railyard::tools
