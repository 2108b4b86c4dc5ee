// check, show: a lab without packets, and so without DPDK's environment.
#include <gmock/gmock.h>

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
      AllOf(StartsWith("small: 1 switches, 2 hosts with 2 NICs, 2 links, 1 flows\n"),
            HasSubstr("window: 615ns (devices run this far ahead of each other), limited by h1:1 -> leaf1:1: 15ns "
                      "of cable and 600ns in the receiver\n"),
            HasSubstr("headroom per port and lossless class (needed / set aside):\n  class 3 at 100Gbps, 15ns away: "),
            HasSubstr("buffers (shared memory after reserved and headroom):\n"), HasSubstr("packets: at most "),
            EndsWith("\nok\n")));
}

// Nothing is wrong with such a lab, and it is not what was meant.
TEST_F(CheckShow, CheckNotesWhatKeepsUetFromWhatItCouldDo) {
  write("uet.yaml",
        "name: uet\ntopology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 1 }\n"
        "traffic: [ { name: t, from: h1, to: h2, transport: uet, bytes: 1MB } ]\n");
  const auto check = [&](std::vector<std::string> sets) {
    std::vector<std::string> arguments{"check", "uet.yaml"};
    for (std::string& s : sets) arguments.insert(arguments.end(), {"--set", std::move(s)});
    const Outcome o = railyard(arguments);
    EXPECT_EQ(o.exit_code, kOk) << o.err;
    return o.out;
  };
  EXPECT_THAT(check({}), testing::Not(HasSubstr("note:")));
  const std::string ip = "hosts.default.uet.encapsulation=ip";
  EXPECT_THAT(check({ip}),
              HasSubstr("note: hosts.default.uet: encapsulation is ip, and switches.default.ecmp.fields has no "
                        "uet-entropy: packets are not sprayed over paths\n"));
  EXPECT_THAT(check({"hosts.default.uet.profile=ref-prov", "hosts.default.uet.path-policy=oblivious",
                     "hosts.default.uet.paths=16"}),
              HasSubstr("has no uet-entropy"));
  EXPECT_THAT(check({ip, "switches.default.ecmp.fields=[addresses, uet-entropy]"}), testing::Not(HasSubstr("note:")));
  EXPECT_THAT(check({ip, "hosts.default.uet.path-policy=single"}), testing::Not(HasSubstr("note:")));
  EXPECT_THAT(check({ip, "hosts.default.uet.ip-protocol=200", "switches.default.ecmp.fields=[uet-entropy]"}),
              HasSubstr("note: hosts.default.uet: ip-protocol is 200, and switches know the entropy of UET behind 253 "
                        "only: packets are not sprayed over paths\n"));
  const std::string far = "defaults.link.delay=100us";
  EXPECT_THAT(check({far}),
              HasSubstr("note: hosts.default.uet: window is 512 packets, and h1:1 at 100Gbps with a round "
                        "trip of 80"));
  EXPECT_THAT(check({far, "hosts.default.uet.window=4096", "hosts.default.uet.mp-range=4096"}),
              testing::Not(HasSubstr("note:")));
}

TEST_F(CheckShow, ShowPrintsWhatIsAFabricFileAgain) {
  const Outcome once = railyard({"show", topology("incast-8to1.yaml"), "--set", "topology.spines=3"});
  EXPECT_EQ(once.exit_code, kOk);
  EXPECT_THAT(once.out, HasSubstr("  spine3: { kind: switch"));
  write("shown.yaml", once.out);
  EXPECT_EQ(railyard({"show", "shown.yaml"}).out, once.out);
}

TEST_F(CheckShow, AClassTurnedLossyIsShownSoThatItCanBeTurnedBack) {
  const Outcome lossy = railyard({"show", topology("explicit.yaml"), "--set", "qos.default.classes.3.lossless=false"});
  EXPECT_EQ(lossy.exit_code, kOk) << lossy.err;
  write("lossy.yaml", lossy.out);
  EXPECT_EQ(railyard({"check", "lossy.yaml"}).exit_code, kOk);
  const Outcome back = railyard({"show", "lossy.yaml", "--set", "qos.default.classes.3.lossless=true"});
  EXPECT_EQ(back.out, railyard({"show", topology("explicit.yaml")}).out);
}

TEST_F(CheckShow, ALossyClassDropsWhereTheLosslessOnePaused) {
  const std::vector<std::string> incast{"run", topology("incast-8to1.yaml"), "--duration", "300us"};
  EXPECT_THAT(railyard(incast).out, AllOf(HasSubstr("Ports paused by PFC"), HasSubstr("Nothing was dropped.")));
  std::vector<std::string> lossy = incast;
  lossy.insert(lossy.end(), {"--set", "qos.default.classes.3.lossless=false", "--set", "switches.default.buffer=2MiB"});
  EXPECT_THAT(railyard(lossy).out, AllOf(HasSubstr("Dropped:"), testing::Not(HasSubstr("paused by PFC"))));
}

TEST_F(CheckShow, StartNoEnvironmentAndWriteNoFile) {
  if (kAddressSpaceCanBeLimited) {
    // In so little address space DPDK cannot start; these do not ask it to.
    constexpr std::size_t kLittle = std::size_t{150} * 1024 * 1024;
    EXPECT_EQ(railyard({"run", "lab.yaml", "--set", "run.memory=4GiB"}, kLittle).exit_code, kFailed);
    for (const char* command : {"check", "show"})
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
