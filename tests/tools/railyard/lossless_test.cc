// Lossless classes as a user sees them: reports of deadlocks and pause trees, what `check` says, and frames that
// Wireshark's dissectors read.
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/tools/railyard/command_line.h"
#include "tests/tools/railyard/tshark.h"

namespace railyard::tools {
namespace {

using Json = nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

class Lossless : public CommandLine {
 protected:
  Json run(const std::string& scenario, std::vector<std::string> options = {}) const {
    return run_to(kOk, scenario, std::move(options));
  }
  Json run_to(int exit_code, const std::string& scenario, std::vector<std::string> options = {}) const {
    options.insert(options.begin(), {"run", topology("scenarios/" + scenario), "--json"});
    const Outcome o = railyard(options);
    EXPECT_EQ(o.exit_code, exit_code) << o.err;
    return Json::parse(o.out);
  }
};

TEST_F(Lossless, ADeadlockIsInTheReport) {
  const Json r = run_to(kUnverified, "deadlock-ring.yaml");
  ASSERT_EQ(r["deadlocks"].size(), 1u);
  EXPECT_EQ(r["deadlocks"][0]["ring"],
            (Json{"s1:1 class 3", "s2:1 class 3", "s3:1 class 3", "s4:1 class 3", "s5:1 class 3"}));
  EXPECT_TRUE(r["deadlocks"][0]["resolved_ns"].is_null());
  EXPECT_LT(r["deadlocks"][0]["since_ns"], r["deadlocks"][0]["seen_ns"]);
  const Outcome text = railyard({"run", topology("scenarios/deadlock-ring.yaml")});
  EXPECT_THAT(text.out, AllOf(HasSubstr("DEADLOCK since "), HasSubstr("\n  s1:1 class 3\n  s2:1 class 3\n")));
  EXPECT_THAT(text.out, HasSubstr("  FAIL  deadlock          1 deadlock, allowed 0: s1:1 class 3 -> s2:1 class 3 -> "
                                  "s3:1 class 3 -> s4:1 class 3 -> s5:1 class 3 -> s1:1 class 3, since "));
  EXPECT_EQ(run("deadlock-ring.yaml", {"--set", "run.deadlock=off"})["deadlocks"], Json::array());
  run("deadlock-ring.yaml", {"--expect", "deadlocks == 1"});
  // Met, and would be without the deadlock, too.
  for (const char* vacuous : {"deadlocks >= 0", "deadlocks <= 5", "deadlocks != 7"})
    EXPECT_EQ(railyard({"run", topology("scenarios/deadlock-ring.yaml"), "--expect", vacuous}).exit_code, kUnverified)
        << vacuous;
  run_to(kMissed, "deadlock-ring.yaml", {"--expect", "deadlocks == 0"});
  run("deadlock-ring.yaml", {"--set", "traffic.round.rate=40Gbps"});
}

TEST_F(Lossless, LookingForDeadlocksChangesNothing) {
  const auto digest = [this](const std::string& deadlock) {
    return run("pfc-watchdog.yaml", {"--digest", "--set", "run.deadlock=" + deadlock})["trace_digest"];
  };
  EXPECT_EQ(digest("1us"), digest("off"));
}

TEST_F(Lossless, WhoPausedWhomGoesBackToTheRoot) {
  const Json r = run("../incast-8to1.yaml");
  ASSERT_FALSE(r["pause_trees"]["widest"].empty());
  const Json& first = r["pause_trees"]["widest"][0];
  EXPECT_EQ(first["root"], "leaf1:1 class 3");
  EXPECT_THAT(first["levels"][0].get<std::vector<std::string>>(),
              testing::AnyOf(Contains("spine1:1 class 3"), Contains("spine2:1 class 3")));
  for (const Json& held : r["pause_trees"]["held"]) {
    EXPECT_GT(held["share"], 0.0);
    EXPECT_LE(held["share"], 1.0);
  }
}

TEST_F(Lossless, CheckShowsThePoolAndByHowMuchItIsOverSubscribed) {
  const Outcome o = railyard({"check", topology("scenarios/headroom-pool.yaml")});
  EXPECT_EQ(o.exit_code, kOk) << o.err;
  EXPECT_THAT(o.out, AllOf(HasSubstr(" from the pool   leaf1:1 and 16 more ports"),
                           HasSubstr("headroom pool: 1.05 MB; "), HasSubstr(" (over-subscribed)   leaf1")));
  // A pool that is smaller than what a single port needs cannot do.
  EXPECT_THAT(error(kInput, {"check", topology("scenarios/headroom-pool.yaml"), "--set",
                            "switches.default.headroom-pool=64KiB"}),
              AllOf(HasSubstr("headroom of lossless class 3 is 0 plus at most 64KiB from the pool, but the link needs "),
                    HasSubstr("expected `headroom: auto`")));
}

TEST_F(Lossless, TrimmedFramesAndWatchdogAreInTheReport) {
  const Json trimming = run("trimming.yaml");
  std::uint64_t trimmed = 0;
  for (const Json& f : trimming["flows"]) {
    EXPECT_EQ(f["lost"], 0);
    EXPECT_EQ(f["packets"], f["delivered_packets"].get<int>() + f["trimmed"].get<int>());
    trimmed += f["trimmed"].get<std::uint64_t>();
  }
  std::uint64_t by_port = 0;
  for (const Json& p : trimming["ports"])
    for (const Json& c : p["classes"]) by_port += c["trimmed"].get<std::uint64_t>();
  EXPECT_EQ(by_port, trimmed);
  const Outcome text = railyard({"run", topology("scenarios/pfc-watchdog.yaml")});
  EXPECT_THAT(text.out, AllOf(HasSubstr("PFC watchdog: queues with a pause storm"), HasSubstr("pfc_watchdog")));
}

// Each of the eight classes is paused, said again and let go, in frames that tshark reads as such.
TEST_F(Lossless, PfcFramesOfAllClassesDissect) {
  if (!has_tshark()) GTEST_SKIP() << "tshark is not here";
  std::string classes;
  std::string traffic;
  for (int k = 0; k < 8; ++k) {
    classes += fmt::format("{}: {{ lossless: true, xoff: 50KB }}, ", k);
    traffic += fmt::format(
        "  - {{ name: c{}, pattern: incast, from: [h2, h3], to: h1, fan-in: 2, dscp: {}, bytes: 300KB }}\n", k, 8 * k);
  }
  write("eight.yaml", fmt::format(R"(name: eight
topology: {{ preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 3 }}
switches: {{ default: {{ pause-quanta: 4000 }} }}
qos: {{ default: {{ classes: {{ {} }} }} }}
traffic:
{}run: {{ duration: 1ms }}
)",
                                  classes, traffic));
  const Outcome o = railyard({"run", "eight.yaml", "--capture", "leaf1:2:out=x.pcapng"});
  ASSERT_EQ(o.exit_code, kOk) << o.err;
  const std::string file = "-r " + (folder_ / "x.pcapng").string();
  EXPECT_TRUE(tshark(file + " -Y 'macc and _ws.malformed'").empty());
  for (int k = 0; k < 8; ++k) {
    std::set<std::string> times;
    std::size_t xoffs = 0;
    for (const std::string& time :
         tshark(fmt::format("{} -Y 'macc.cbfc.enbv.c{} == 1' -T fields -e macc.cbfc.pause_time.c{}", file, k, k))) {
      times.insert(time);
      xoffs += time == "4000" ? 1u : 0u;
    }
    EXPECT_EQ(times, (std::set<std::string>{"0", "4000"})) << "class " << k;
    // 4000 quanta are 20.5 us: it is paused for longer, so XOFF is said again.
    EXPECT_GT(xoffs, 2u) << "class " << k;
  }
}

TEST_F(Lossless, TrimmedFramesDissectButForTheLengthThatTellsThem) {
  if (!has_tshark()) GTEST_SKIP() << "tshark is not here";
  const Outcome o = railyard({"run", topology("scenarios/trimming.yaml"), "--capture", "leaf1:1:out=x.pcapng"});
  ASSERT_EQ(o.exit_code, kOk) << o.err;
  const std::string file = "-r " + (folder_ / "x.pcapng").string();
  const auto cut = tshark(file +
                          " -o ip.check_checksum:TRUE -Y 'ip.dsfield.dscp == 40' -T fields -e frame.len -e ip.len -e "
                          "ip.checksum.status -e udp.length");
  ASSERT_GT(cut.size(), 1000u);
  EXPECT_EQ(std::set<std::string>(cut.begin(), cut.end()),
            (std::set<std::string>{"128\t114\t1\t4120", "128\t114\t1\t600"}))
      << "of 4 KiB and the last of each flow";
}

}  // namespace
}  // namespace railyard::tools
