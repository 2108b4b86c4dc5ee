// Everything that can go wrong, told to a lab that is up, from the command line. Nothing asserted depends on how fast
// it runs: what must come is waited for.
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/tools/railyard/live_command_line.h"

namespace railyard::tools {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

//        spine1
//       /      \            100 Mb/s, and 1 MiB of packet memory: three to one pauses at once
//   leaf1      leaf2
//   h1  h2     h3  h4       h2, h3, h4 -> h1
constexpr const char* kFaultyLab = R"(name: faulty
topology:
  preset: leaf-spine
  leaves: 2
  spines: 1
  hosts-per-leaf: 2
  host-link: { rate: 100Mbps }
  fabric-link: { rate: 100Mbps }
switches: { default: { buffer: 1MiB } }
traffic:
  - { name: t, pattern: incast, from: [h2, h3, h4], to: h1, payload: 1KB, dscp: 26, ecn: true, class: 3 }
run: { duration: 10ms, memory: 256MiB }
)";

class LiveFaultsCommand : public LiveCommandLine {
 protected:
  LiveFaultsCommand() { write("faulty.yaml", kFaultyLab); }
  void up() {
    const Outcome o = railyard({"up", "faulty.yaml", "--detach"});
    ASSERT_EQ(o.exit_code, kOk) << o.err;
  }
  json list() const { return json::parse(railyard({"fault", "ls", "--json"}).out)["faults"]; }
  json fault(const std::string& name) const {
    for (const json& f : list())
      if (f["name"] == name) return f;
    return {{"occurrences", 0}, {"frames", nullptr}, {"removed", false}};
  }
  std::uint64_t received_by_h1() const {
    const json status = json::parse(railyard({"status", "--json"}).out);
    for (const json& p : status["ports"])
      if (p["node"] == "h1") return p["rx"]["packets"];
    return 0;
  }
  void expect_packets_arrive(const std::string& after) const {
    const std::uint64_t before = received_by_h1();
    EXPECT_TRUE(becomes([&] { return received_by_h1() > before; })) << after;
  }
  void add(const std::string& text) const {
    const Outcome o = railyard({"fault", "add", text});
    ASSERT_EQ(o.exit_code, kOk) << text << ": " << o.err;
    EXPECT_THAT(o.out, HasSubstr(" added at "));
  }
  // Waits until it has begun, and touched a frame if its frames are counted; takes it away; the books balance.
  void expect_acts(const std::string& name, const std::string& text) const {
    add(text);
    EXPECT_TRUE(becomes([&] {
      const json f = fault(name);
      return f["occurrences"] >= 1 && (f["frames"].is_null() || f["frames"] >= 1);
    })) << text
        << fault(name);
    const Outcome removed = railyard({"fault", "rm", name});
    EXPECT_EQ(removed.exit_code, kOk) << removed.err;
    EXPECT_THAT(removed.out, StartsWith("lab faulty: fault " + name + " removed at "));
    EXPECT_TRUE(becomes([&] { return fault(name)["removed"].get<bool>(); })) << text;
    const Outcome audit = railyard({"status", "--audit"});
    EXPECT_EQ(audit.exit_code, kOk) << text << audit.out;
    EXPECT_THAT(audit.out, StartsWith("packet accounting balances at ")) << text;
  }
  std::vector<json> log_in(const std::string& text) const {
    std::vector<json> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(json::parse(line));
    return lines;
  }
};

// One line each, as in topologies/explicit.yaml; `for` is longer than it takes to see them act.
TEST_F(LiveFaultsCommand, ASwitchIsDrainedAndTakesTrafficAgain) {
  up();
  EXPECT_EQ(railyard({"undrain", "spine1"}).exit_code, kUsage) << "it is not drained";
  const Outcome drained = railyard({"drain", "spine1"});
  ASSERT_EQ(drained.exit_code, kOk) << drained.err;
  EXPECT_THAT(drained.out, AllOf(StartsWith("lab faulty: spine1 drained at "), HasSubstr("railyard undrain spine1")));
  ASSERT_EQ(list().size(), 1u);
  EXPECT_EQ(list()[0]["what"], "drain");
  EXPECT_THAT(railyard({"drain", "spine1"}).out, HasSubstr("drained already"));
  EXPECT_EQ(list().size(), 1u);
  // It is the only way: it goes on forwarding.
  expect_packets_arrive("drained");
  EXPECT_THAT(railyard({"undrain", "spine1"}).out, HasSubstr("lab faulty: spine1 takes traffic again"));
  EXPECT_TRUE(list()[0]["removed"]);
  EXPECT_THAT(railyard({"drain", "spine9"}).err, HasSubstr("spine9"));
  EXPECT_EQ(railyard({"drain", "spine9"}).exit_code, kInput);
  EXPECT_EQ(railyard({"drain", "h1"}).exit_code, kInput) << "not a switch";
  EXPECT_EQ(railyard({"down"}).exit_code, kOk);
}

TEST_F(LiveFaultsCommand, EveryKindActsAndGoes) {
  up();
  const std::vector<std::pair<std::string, std::string>> all{
      {"down", "on: leaf1:1, down: true, for: 100s"},
      {"flap", "on: 'leaf1:3', flap: { down: 10ms, up: 10ms }, for: 100s"},
      {"rate", "on: leaf1:1 out, rate: 1/4, for: 100s"},
      {"delay", "on: leaf1:1 out, delay: { time: 1ms, jitter: 500us }, for: 100s"},
      {"loss", "on: leaf1:1 out, loss: 10%, for: 100s"},
      {"loss", "on: leaf1:1, loss: { good-to-bad: 10%, bad-to-good: 10%, in-good: 0, in-bad: 1 }, for: 100s"},
      {"bit-errors", "on: leaf1:1, bit-errors: 1e-5, for: 100s"},
      {"corrupt", "on: leaf1:1, corrupt: true, probability: 10%, for: 100s"},
      {"duplicate", "on: leaf1:1, duplicate: true, probability: 10%, for: 100s"},
      {"drop", "on: leaf1:1 out, match: { ip.dscp: 26, nth: 3 }, drop: true, for: 100s"},
      {"mark", "on: h2 out, mark: true, for: 100s"},
      {"reorder", "on: leaf1:1, reorder: { behind: 1, within: 10ms }, probability: 10%, for: 100s"},
      {"truncate", "on: leaf1:1, truncate: 128B, probability: 10%, for: 100s"},
      {"trim", "on: leaf1:1, trim: { keep: 128B, dscp: 40 }, probability: 10%, for: 100s"},
      {"lose-pause", "on: h2, lose-pause: true, for: 100s"},
      {"pfc-storm", "on: h1, pfc-storm: 3, for: 100s"},
      {"ignore-pause", "on: h2, ignore-pause: true, for: 100s"},
      {"mtu", "on: h1, mtu: 576, for: 100s"},
      {"dscp-map", "on: leaf1, dscp-map: { 26: 0 }, for: 100s"},
      {"ecn", "on: leaf1:1/3, ecn: { kmin: 1KB, kmax: 2KB, pmax: 50% }, for: 100s"},
      {"buffer", "on: leaf1, buffer: 256KiB, for: 100s"},
      {"crash", "on: spine1, crash: true, for: 100s"},
      {"stop-receiving", "on: h1, stop-receiving: true, for: 100s"},
      {"receive", "on: h1, receive: 10Mbps, for: 100s"},
      {"straggle", "on: 'h*', straggle: 1/10, for: 100s"},
      {"skew", "on: h1, skew: { ahead: 5us }, for: 100s"}};
  EXPECT_EQ(all.size(), 26u);
  for (const auto& [kind, text] : all) {
    expect_acts("x", "name: x, " + text);
    EXPECT_EQ(list().back()["what"], kind);
    expect_packets_arrive(text);
  }
  EXPECT_EQ(list().size(), all.size());

  // For people.
  const std::string table = railyard({"fault", "ls"}).out;
  EXPECT_THAT(table, StartsWith("fault  what            on "));
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 27);
  EXPECT_THAT(table, AllOf(HasSubstr("x      stop-receiving  h1 "), HasSubstr(" removed        1 ")));
  const std::vector<json> log = log_in(railyard({"fault", "log"}).out);
  for (const char* event : {"added", "begin", "end", "removed"})
    EXPECT_GE(std::ranges::count(log, event, [](const json& e) { return e["event"].get<std::string>(); }), 26) << event;
}

TEST_F(LiveFaultsCommand, ShortForm) {
  up();
  const Outcome o = railyard({"fault", "add", "name=x", "on=h1", "loss=10%"});
  EXPECT_EQ(o.exit_code, kOk) << o.err;
  EXPECT_TRUE(becomes([&] { return fault("x")["frames"] >= 1; }));
  EXPECT_EQ(fault("x")["what"], "loss");
  EXPECT_EQ(fault("x")["on"], "h1");
  const std::string table = railyard({"fault", "ls"}).out;
  EXPECT_THAT(table, HasSubstr("x      loss            h1  active "));
  const json removed = json::parse(railyard({"fault", "rm", "x", "--json"}).out);
  EXPECT_GE(removed["frames"], 1u);
  EXPECT_EQ(railyard({"fault", "add", "on=h1", "loss"}).exit_code, kUsage);
}

TEST_F(LiveFaultsCommand, BadOnesLeaveTheLabAsItWas) {
  up();
  add("name: there, on: h1, loss: 1%");
  const auto names = [&] {
    std::string all;
    for (const json& f : list()) all += f["name"].get<std::string>() + " ";
    return all;
  };
  for (const auto& [text, place, expectation] : std::vector<std::tuple<std::string, std::string, std::string>>{
           {"on: leaf9:1, loss: 1%", "fault:1:6: on: ", "there is no node 'leaf9'; did you mean 'leaf1'?"},
           {"on: leaf1:77, loss: 1%",
            "fault:1:6: on: ", "there is no link at leaf1:77; expected one of the ports with a link, 1-3"},
           {"on: h1, loss: 1%, for: -1s", "fault:1:25: for: ", "-1s is negative; expected "},
           {"on: h1, loss: 1%, at: -1us", "fault:1:24: at: ", "-1us is negative; expected "},
           {"on: h1, drop: true, probability: 1.5", "fault:1:35: probability: ", "1.5 is above 1; expected 0..1"},
           {"on: h1, loss: 1.5", "fault:1:16: loss: ", "1.5 is above 1; expected 0..1 or 0%..100%"},
           {"on: h1, match: { bth.pns: 1 }, drop: true",
            "fault:1:19: match: ", "unknown header field 'bth.pns'; did you mean 'bth.psn'"},
           {"on: h1, crash: true", "fault:1:6: on: ", "h1 is a host; expected a switch for crash"},
           {"on: h1, los: 1%", "fault:1:10: ", "unknown key 'los'; did you mean 'loss'?"},
           {"on: h1", "fault", "has no kind of fault; expected one of los"}}) {
    const std::string said = error(kInput, {"fault", "add", text});
    EXPECT_THAT(said, AllOf(StartsWith("railyard: " + place), HasSubstr(expectation))) << text;
    EXPECT_EQ(names(), "there ") << text;
  }
  EXPECT_THAT(error(kInput, {"set", "qos.default.classes.3.alpha=0"}),
              AllOf(StartsWith("railyard: --set qos.default.classes.3.alpha=0: qos.default.classes.3.alpha: "),
                    HasSubstr("expected")));
  EXPECT_THAT(error(kUsage, {"fault", "rm", "their"}), HasSubstr("there is no fault 'their'; expected there"));
  EXPECT_EQ(names(), "there ");
  expect_packets_arrive("all of them");
  EXPECT_THAT(railyard({"status", "--audit"}).out, StartsWith("packet accounting balances at "));
}

// What has happened live happens again under the virtual clock, at the same instants of modelled time.
TEST_F(LiveFaultsCommand, TheLogIsReplayedUnderTheVirtualClock) {
  up();
  add("name: lossy, on: leaf1:1 out, loss: 10%, every: 20ms, for: 5ms, count: 3");
  add("name: cut, on: leaf2:1, down: true, after: 1ms, for: 10ms");
  add("name: reaction, on: h2, when: queue leaf1:1/3 depth > 4KiB, for: 2ms, count: 2, straggle: 1/10");
  add("name: gone, on: spine1, crash: true");
  EXPECT_TRUE(becomes([&] {
    return fault("lossy")["occurrences"] == 3 && fault("cut")["occurrences"] == 1 &&
           fault("reaction")["occurrences"] >= 1 && fault("gone")["occurrences"] == 1;
  }));
  railyard({"fault", "rm", "gone"});
  railyard({"fault", "rm", "reaction"});
  const auto over = [&](const char* name) { return fault(name)["removed"].get<bool>(); };
  EXPECT_TRUE(becomes([&] {
    for (const char* name : {"lossy", "cut"})
      if (fault(name)["active"].get<bool>()) return false;
    return over("gone") && over("reaction");
  }));
  const std::string log = railyard({"fault", "log"}).out;
  write("live.log", log);
  const std::vector<json> live = log_in(log);
  ASSERT_FALSE(live.empty());
  std::set<std::string> added;
  for (const json& e : live) {
    EXPECT_LE(e["requested_ps"], e["effective_ps"]) << e;
    if (e["event"] == "added")
      added.insert(e["fault"].get<std::string>());
    else
      EXPECT_TRUE(added.contains(e["fault"].get<std::string>())) << "happens before it is there: " << e;
    // It begins a window after the queue was so deep.
    if (e["event"] == "begin" && e["fault"] == "reaction") {
      EXPECT_LT(e["requested_ps"], e["effective_ps"]);
    }
    if (e["event"] != "added") {
      EXPECT_EQ(e["frames"].is_null(), e["what"] == "straggle") << e;
    }
  }
  const std::string duration = std::to_string(live.back()["effective_ps"].get<std::int64_t>() + 1'000'000'000) + "ps";
  const Outcome o = railyard(
      {"run", "faulty.yaml", "-q", "--duration", duration, "--replay", "live.log", "--fault-log", "again.log"});
  EXPECT_EQ(o.exit_code, kOk) << o.err;
  const std::vector<json> again = log_in(read("again.log"));
  ASSERT_EQ(again.size(), live.size()) << log << read("again.log");
  for (std::size_t i = 0; i < live.size(); ++i)
    for (const char* key : {"event", "fault", "what", "on", "effective_ps"})
      EXPECT_EQ(again[i][key], live[i][key]) << live[i];
}

// A run whose faults fire by themselves, some by chance and by what queues do, and one that does as its log says.
TEST_F(LiveFaultsCommand, ARunAndItsReplayHaveOneDigest) {
  write("faults.yaml", std::string(kFaultyLab) + R"(faults:
  - { name: lossy, on: leaf1:1 out, every: 3ms, for: 1ms, loss: 10% }
  - { name: chance, on: leaf2:1, every: 2ms, for: 500us, probability: 50%, down: true }
  - { name: reaction, on: h2, when: queue leaf1:1/3 depth > 4KiB, for: 2ms, count: 2, straggle: 1/10 }
)");
  const auto run = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"run", "faults.yaml", "-q", "--digest", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome o = railyard(words);
    EXPECT_EQ(o.exit_code, kOk) << o.err;
    return json::parse(o.out)["trace_digest"].get<std::string>();
  };
  const std::string first = run({"--fault-log", "l.log"});
  EXPECT_EQ(run({"--replay", "l.log", "--fault-log", "again.log"}), first);
  EXPECT_NE(run({"--set", "faults="}), first);
  const auto acted = [&](const std::string& name) {
    return std::ranges::count_if(log_in(read("again.log")),
                                 [&](const json& e) { return e["fault"] == name && e["event"] == "begin"; });
  };
  EXPECT_EQ(acted("lossy"), 4);
  EXPECT_GE(acted("chance"), 1);
  EXPECT_GE(acted("reaction"), 1);
}

TEST_F(LiveFaultsCommand, ALogThatIsBrokenIsRefusedAtItsLine) {
  const Outcome o = railyard({"run", "faulty.yaml", "-q", "--set",
                              "faults=[{ name: a, on: h1, at: 1ms, for: 1ms, loss: "
                              "10% }]",
                              "--fault-log", "l.log"});
  ASSERT_EQ(o.exit_code, kOk) << o.err;
  const std::string log = read("l.log");
  const auto refused = [&](const std::string& text) {
    write("bad.log", text);
    return error(kInput, {"run", "faulty.yaml", "-q", "--replay", "bad.log"});
  };
  const std::string first = log.substr(0, log.find('\n') + 1);
  EXPECT_EQ(refused(first + "{\"event\":\n"),
            "railyard: bad.log:2:1: is not a JSON object; expected a line of a fault log");
  EXPECT_EQ(refused(log + first),
            "railyard: bad.log:4:1: adds a, which exists already; expected a line of a fault log");
  EXPECT_EQ(refused(log.substr(first.size())),
            "railyard: bad.log:1:1: names a, which was not added; expected a line of a fault log");
  std::string elsewhere = log;
  elsewhere.replace(elsewhere.find(R"(\"h1\")"), 6, R"(\"h9\")");
  EXPECT_THAT(refused(elsewhere), AllOf(StartsWith("railyard: bad.log:1"), HasSubstr("there is no node 'h9'")));
  EXPECT_THAT(error(kInput, {"run", "faulty.yaml", "-q", "--replay", "nowhere.log"}), HasSubstr("nowhere.log"));
}

}  // namespace
}  // namespace railyard::tools
