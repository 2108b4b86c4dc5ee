// What the machine refuses: memory, devices, sockets, files. One clear line, and nothing half-started.
#include <cstring>
#include <fstream>

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/tools/railyard/command_line.h"

namespace railyard::tools {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::size_t kMega = 1024 * 1024;

class BadMachine : public CommandLine {
 protected:
  std::vector<std::string> live(const std::string& attach) const {
    return {"run", "lab.yaml", "--clock", "wall", "--set", "traffic=", "--set", "nodes.h1.attach=" + attach};
  }
};

TEST_F(BadMachine, HasLessMemoryThanTheSpecAsksFor) {
  const std::vector<std::string> wall{"run", "lab.yaml", "--clock", "wall", "--set"};
  const auto with = [&](const std::string& setting) {
    std::vector<std::string> words = wall;
    words.push_back(setting);
    return words;
  };
  EXPECT_THAT(error(kFailed, with("run.memory=16TiB")),
              AllOf(StartsWith("railyard: DPDK could not start with 16777216 MiB of memory: "),
                    HasSubstr("Lower run.memory, or raise the limit of this process (ulimit -v)")));
  if (!kAddressSpaceCanBeLimited) return;
  EXPECT_THAT(error(kFailed, with("run.memory=4GiB"), 1000 * kMega),
              StartsWith("railyard: DPDK could not start with 4096 MiB of memory: "));
}

// In virtual time the ceiling is not taken at the start, only what packets need.
TEST_F(BadMachine, HasEnoughMemoryForAShortRunWhateverTheCeiling) {
  if (!kAddressSpaceCanBeLimited) GTEST_SKIP() << "the address space cannot be limited under a sanitizer";
  EXPECT_EQ(railyard({"run", "lab.yaml", "--set", "run.memory=4GiB"}, 1000 * kMega).exit_code, kOk);
}

TEST_F(BadMachine, HasNoRoomForTheLab) {
  if (!kAddressSpaceCanBeLimited) GTEST_SKIP() << "the address space cannot be limited under a sanitizer";
  for (const char* command : {"check", "run"})
    EXPECT_THAT(error(kFailed,
                      {command, topology("permutation-128.yaml"), "--set", "topology.leaves=200", "--set",
                       "topology.hosts-per-leaf=64", "--set", "topology.spines=64"},
                      150 * kMega),
                StartsWith("railyard: out of memory: this lab is too large for this machine"));
}

TEST_F(BadMachine, RunsOutOfPackets) {
  EXPECT_EQ(error(kFailed, {"run", topology("permutation-128.yaml"), "--set", "run.memory=1MiB"}),
            "railyard: out of packet memory; raise run.memory (railyard check prints the need)");
}

TEST_F(BadMachine, HasNoSuchNic) {
  EXPECT_THAT(
      error(kInput, live("{ dpdk: \"0000:fe:1f.7\" }")),
      AllOf(
          StartsWith("railyard: lab.yaml:4:3: port '0000:fe:1f.7': DPDK cannot use it: "),
          HasSubstr("Check the PCI address, that the NIC is bound to vfio-pci (dpdk-devbind.py), and run.hugepages")));
  EXPECT_THAT(error(kInput, live("{ dpdk: net_nosuchdriver0 }")),
              AllOf(StartsWith("railyard: lab.yaml:4:3: port 'net_nosuchdriver0': DPDK cannot create it: "),
                    HasSubstr("Check the driver's name and arguments")));
}

TEST_F(BadMachine, HasTheSocketPathInUse) {
  const std::string path = (folder_ / "vm.sock").string();
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(error(kInput, live("{ vhost-user: vm.sock }")),
            "railyard: lab.yaml:4:3: vhost-user: vm.sock exists already. Choose another path, or remove it if no "
            "process uses it");
  close(listener);
}

TEST_F(BadMachine, HasNoFolderForTheSocket) {
  EXPECT_EQ(error(kInput, live("{ vhost-user: no/vm.sock }")),
            "railyard: lab.yaml:4:3: vhost-user: there is no directory no");
}

TEST_F(BadMachine, HasNoSuchCapture) {
  EXPECT_EQ(error(kInput, {"run", "lab.yaml", "--set", "traffic=", "--set", "nodes.h1.attach.pcap.in=no.pcap"}),
            "railyard: lab.yaml:4:3: cannot open no.pcap: No such file or directory");
}

TEST_F(BadMachine, HasACaptureThatIsCutOff) {
  // What another run has written, less its last octets.
  ASSERT_EQ(railyard({"run", "lab.yaml", "--capture", "h1:1=whole.pcapng"}).exit_code, kOk);
  const std::string whole = read("whole.pcapng");
  write("cut.pcapng", whole.substr(0, whole.size() - 7));
  EXPECT_THAT(error(kInput, {"run", "lab.yaml", "--set", "traffic=", "--set", "nodes.h1.attach.pcap.in=cut.pcapng"}),
              AllOf(StartsWith("railyard: lab.yaml:4:3: cut.pcapng: frame 25: "), HasSubstr("truncated")));
}

TEST_F(BadMachine, HasSomethingElseInTheCapture) {
  EXPECT_THAT(error(kInput, {"run", "lab.yaml", "--set", "traffic=", "--set", "nodes.h1.attach.pcap.in=lab.yaml"}),
              StartsWith("railyard: lab.yaml:4:3: lab.yaml: not a capture file (pcap or pcapng expected)"));
}

TEST_F(BadMachine, HasNoPlaceForTheReport) {
  EXPECT_THAT(error(kFailed, {"run", "lab.yaml", "--report", "/proc/none"}),
              StartsWith("railyard: --report: cannot create /proc/none: "));
  EXPECT_EQ(error(kFailed, {"run", "lab.yaml", "--report", "lab.yaml"}),
            "railyard: --report: cannot create lab.yaml: Not a directory");
}

// Said before the run, which would be lost otherwise; and a disk that is full later leaves no empty file.
TEST_F(BadMachine, HasNoPlaceForAResult) {
  railyard({"run", "lab.yaml", "--report", "a"});
  const std::vector<std::vector<std::string>> kCommands{{"run", "lab.yaml", "--flow-csv"},
                                                        {"run", "lab.yaml", "--fault-log"},
                                                        {"run", "lab.yaml", "--junit"},
                                                        {"sweep", "lab.yaml", "--over", "run.duration=1ms,2ms", "--csv"},
                                                        {"sweep", "lab.yaml", "--over", "run.duration=1ms,2ms", "--plot"},
                                                        {"compare", "a", "a", "--html"},
                                                        {"swarm", "--seeds", "1", "--write"}};
  for (std::vector<std::string> words : kCommands) {
    const std::string option = words.back();
    words.emplace_back("none/x");
    EXPECT_EQ(error(kFailed, words), "railyard: " + option + ": cannot write none/x: No such file or directory");
    if (option == "--fault-log") continue;  // without faults it is empty, and fits anywhere
    words.back() = "/dev/full";
    EXPECT_THAT(railyard(words).err, HasSubstr(option + ": cannot write /dev/full: No space left on device")) << option;
  }
  EXPECT_THAT(error(kFailed, {"compare-transports", "lab.yaml", "--set", "traffic.t.transport=roce", "--report", "/proc/none"}),
              StartsWith("railyard: --report: cannot create /proc/none: "));
}

// A folder that its owner may look into, and not write to.
class ClosedFolder : public BadMachine {
 protected:
  ClosedFolder() {
    std::filesystem::create_directory(folder_ / "closed");
    give_up_privileges();
    std::filesystem::permissions(folder_ / "closed",
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  }
};

TEST_F(ClosedFolder, TakesNoReport) {
  EXPECT_EQ(error(kFailed, {"run", "lab.yaml", "--report", "closed"}),
            "railyard: --report: cannot write to closed: Permission denied");
}

TEST_F(ClosedFolder, TakesNoCapture) {
  EXPECT_EQ(error(kFailed, {"run", "lab.yaml", "--capture", "leaf1:1=closed/x.pcapng"}),
            "railyard: --capture: leaf1:1: cannot create closed/x.pcapng: Permission denied");
}

TEST_F(ClosedFolder, TakesNoSocket) {
  EXPECT_EQ(error(kInput, live("{ vhost-user: closed/vm.sock }")),
            "railyard: lab.yaml:4:3: vhost-user: cannot create closed/vm.sock: no permission to write to closed");
}

TEST_F(BadMachine, LetsNobodyReadTheSpec) {
  give_up_privileges();
  std::filesystem::permissions(folder_ / "lab.yaml", std::filesystem::perms::none);
  EXPECT_EQ(error(kInput, {"run", "lab.yaml"}), "railyard: lab.yaml: cannot be read: Permission denied");
}

TEST_F(BadMachine, HasNoHugePages) {
  int pages = 0;
  std::ifstream("/proc/sys/vm/nr_hugepages") >> pages;
  if (pages > 0) GTEST_SKIP() << "this machine has huge pages";
  EXPECT_THAT(error(kFailed, {"run", "lab.yaml", "--set", "run.hugepages=true"}),
              AllOf(StartsWith("railyard: DPDK could not start with huge pages: "),
                    HasSubstr("Reserve some (echo 1024 > /proc/sys/vm/nr_hugepages) or set run.hugepages to false")));
}

TEST_F(BadMachine, HasNoPlaceForInBandTelemetry) {
  EXPECT_EQ(error(kFailed, {"run", "lab.yaml", "--int", "no/hops.jsonl"}),
            "railyard: --int: cannot write no/hops.jsonl: No such file or directory");
}

TEST_F(BadMachine, HasNoPlaceForACapture) {
  EXPECT_EQ(error(kFailed, {"run", "lab.yaml", "--capture", "leaf1:1=no/x.pcapng"}),
            "railyard: --capture: leaf1:1: cannot create no/x.pcapng: No such file or directory");
}

TEST_F(BadMachine, HasNoPlaceForWhatAPcapHostWrites) {
  EXPECT_EQ(error(kInput, {"run", "lab.yaml", "--set", "nodes.h2.attach.pcap.out=no/x.pcap"}),
            "railyard: lab.yaml:5:3: cannot create no/x.pcap: No such file or directory");
}

}  // namespace
}  // namespace railyard::tools
