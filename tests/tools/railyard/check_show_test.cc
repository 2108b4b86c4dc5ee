// check, show: a lab without packets, and so without DPDK's environment.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/tools/railyard/command_line.h"

namespace railyard::tools {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class CheckShow : public CommandLine {};

TEST_F(CheckShow, CheckSaysWhatFollowsFromALab) {
  const Outcome o = railyard({"check", "lab.yaml"});
  EXPECT_EQ(o.exit_code, kOk);
  EXPECT_EQ(o.err, "");
  EXPECT_THAT(
      o.out,
      AllOf(
          StartsWith("small: 1 switches, 2 hosts with 2 NICs, 2 links, 1 flows\n"),
          HasSubstr("window: 615ns (time that devices simulate between synchronisations), limited by h1:1 -> leaf1:1: "
                    "15ns cable and 600ns receiver latency\n"),
          HasSubstr(
              "headroom per port and lossless class (needed / configured):\n  class 3 at 100Gbps, cable delay 15ns: "),
          HasSubstr("buffers (shared memory, after reserved and headroom):\n"), HasSubstr("packets: at most "),
          EndsWith("\nok\n")));
}

// Marking that begins above the pause threshold: a warning with its place and fix, exit code 0; 3 if it is strict.
TEST_F(CheckShow, CheckWarnsOfWhatIsValidAndWrong) {
  write("k21.yaml",
        "name: k21\n"
        "qos: { default: { classes: { 3: { lossless: true, xoff: 100KB, ecn: { kmin: 400KB, kmax: 1600KB } } } } }\n"
        "topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 3 }\n"
        "traffic: [ { name: t, pattern: incast, from: [h1, h2], to: h3, transport: roce, bytes: 10MB } ]\n");
  const Outcome o = railyard({"check", "k21.yaml"});
  EXPECT_EQ(o.exit_code, kOk) << o.err;
  EXPECT_THAT(o.out, HasSubstr("\nk21.yaml:2:"));
  EXPECT_THAT(o.out, HasSubstr("warning: qos.default.classes.3.ecn.kmin: PFC starts before ECN: kmin is 400 KB"));
  EXPECT_THAT(o.out, EndsWith("[kmin-above-xoff]\n0 errors, 1 warning\n"));
  EXPECT_EQ(railyard({"check", "k21.yaml", "--strict"}).exit_code, kInput);
  EXPECT_EQ(railyard({"check", "lab.yaml", "--strict"}).exit_code, kOk);

  const auto json = nlohmann::json::parse(railyard({"check", "k21.yaml", "--json"}).out);
  ASSERT_EQ(json.size(), 1);
  EXPECT_EQ(json[0]["rule"], "kmin-above-xoff");
  EXPECT_EQ(json[0]["line"], 2);
  EXPECT_EQ(json[0]["severity"], "warning");
  EXPECT_EQ(railyard({"check", "lab.yaml", "--json"}).out, "[]\n");
}

TEST_F(CheckShow, AnErrorOfCheckFails) {
  const Outcome o = railyard({"check", "lab.yaml", "--set", "qos.default.classes.3={ lossless: false, queue-limit: 1KB }"});
  EXPECT_EQ(o.exit_code, kInput);
  EXPECT_THAT(o.out, HasSubstr("[limit-below-frame]"));
}

TEST_F(CheckShow, ShowPrintsWhatIsAFabricFileAgain) {
  const Outcome once = railyard({"show", topology("incast-8to1.yaml"), "--set", "topology.spines=3"});
  EXPECT_EQ(once.exit_code, kOk);
  EXPECT_THAT(once.out, HasSubstr("  spine3: { kind: switch"));
  EXPECT_THAT(once.out, HasSubstr("\n# structure: 2 tiers, 3 stages; "));
  write("shown.yaml", once.out);
  EXPECT_EQ(railyard({"show", "shown.yaml"}).out, once.out);
}

// They would no longer follow from the lab if they stood in its file; as settings they change nothing.
TEST_F(CheckShow, ShowSaysDefaultsThatFollowFromTheLab) {
  write("uet.yaml",
        "name: u\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 2 }\n"
        "traffic:\n  - { name: u, from: h2, to: h1, transport: uet, message: 8KB, operation: send, bytes: 1MB }\n"
        "  - { name: g, from: h2, to: h1, rate: 1Gbps, dscp: 8 }\n"
        "run: { duration: 2ms }\n");
  const Outcome o = railyard({"show", "uet.yaml"});
  ASSERT_EQ(o.exit_code, kOk) << o.err;
  for (const char* const line :
       {"hosts.default.uet.control-class: 5", "hosts.default.uet.nscc.base-rtt: ", "hosts.default.uet.nscc.target: ",
        "hosts.default.uet.nscc.max-window: 1.5", "hosts.default.uet.nscc.initial-window: 1.5",
        "hosts.default.uet.nscc.adjust-period: ", "run.budgets.warm-up: 200us", "traffic.g.gap-jitter: 100%",
        "traffic.g.class: 1", "traffic.u.receives: 4"})
    EXPECT_THAT(o.out, HasSubstr(std::string("\n#   ") + line));
  const auto figures = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"run", "uet.yaml", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome run = railyard(words);
    EXPECT_EQ(run.exit_code, kOk) << run.err;
    const auto summary = nlohmann::json::parse(run.out)["summary"];
    std::vector<double> all;
    for (const char* name : {"goodput", "fct_max", "latency_p50", "latency_max", "max_queue", "peak_buffer"})
      all.push_back(summary[name].get<double>());
    return all;
  };
  std::vector<std::string> sets;
  for (std::size_t at = 0; (at = o.out.find("\n#   ", at)) != o.out.npos;) {
    at += 5;
    const std::string line = o.out.substr(at, o.out.find('\n', at) - at);
    const std::size_t colon = line.find(": ");
    sets.insert(sets.end(), {"--set", line.substr(0, colon) + "=" + line.substr(colon + 2)});
  }
  EXPECT_EQ(figures(sets), figures({}));
}

TEST_F(CheckShow, AClassTurnedLossyIsShownSoThatItCanBeTurnedBack) {
  const Outcome lossy = railyard({"show", "--brief", topology("explicit.yaml"), "--set", "qos.default.classes.3.lossless=false"});
  EXPECT_EQ(lossy.exit_code, kOk) << lossy.err;
  write("lossy.yaml", lossy.out);
  EXPECT_EQ(railyard({"check", "lossy.yaml"}).exit_code, kOk);
  const Outcome back = railyard({"show", "--brief", "lossy.yaml", "--set", "qos.default.classes.3.lossless=true"});
  EXPECT_EQ(back.out, railyard({"show", "--brief", topology("explicit.yaml")}).out);
}

TEST_F(CheckShow, ALossyClassDropsWhereTheLosslessOnePaused) {
  const std::vector<std::string> incast{"run", topology("incast-8to1.yaml"), "--duration", "300us"};
  EXPECT_THAT(railyard(incast).out, AllOf(HasSubstr("Ports paused by PFC"), HasSubstr("No frames were dropped.")));
  std::vector<std::string> lossy = incast;
  lossy.insert(lossy.end(), {"--set", "qos.default.classes.3.lossless=false", "--set", "switches.default.buffer=2MiB"});
  EXPECT_THAT(railyard(lossy).out, AllOf(HasSubstr("Dropped:"), testing::Not(HasSubstr("paused by PFC"))));
}

TEST_F(CheckShow, StartNoEnvironmentAndWriteNoFile) {
  if (kAddressSpaceCanBeLimited) {
    // In so little address space DPDK cannot start; these do not ask it to, nor does a run in virtual time.
    constexpr std::size_t kLittle = std::size_t{150} * 1024 * 1024;
    EXPECT_EQ(railyard({"run", "lab.yaml", "--clock", "wall", "--set", "run.memory=4GiB"}, kLittle).exit_code, kFailed);
    for (const char* command : {"check", "show", "run"})
      EXPECT_EQ(railyard({command, "lab.yaml", "--set", "run.memory=4GiB"}, kLittle).exit_code, kOk) << command;
  }
  write("out.pcap", "last week's results");
  const auto before = files();
  for (const char* command : {"check", "show"})
    EXPECT_EQ(railyard({command, "lab.yaml", "--set", "nodes.h2.attach.pcap.out=out.pcap"}).exit_code, kOk);
  EXPECT_EQ(files(), before);
  EXPECT_EQ(read("out.pcap"), "last week's results");
}

TEST_F(CheckShow, EveryLabThatIsShippedPasses) {
  for (const auto& entry : std::filesystem::directory_iterator(RAILYARD_SOURCE_DIR "/topologies")) {
    if (entry.path().extension() != ".yaml") continue;
    const Outcome o = railyard({"check", entry.path()});
    EXPECT_EQ(o.exit_code, kOk) << entry.path() << ": " << o.err;
  }
}

}  // namespace
}  // namespace railyard::tools
