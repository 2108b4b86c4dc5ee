// What goes wrong while namespaces are made: it is named, and nothing is left behind.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/control/hosts/namespaces_rig.h"

namespace railyard::hosts {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using wire::IpAddress;

TEST_F(NamespacesTest, ANameThatIsTakenIsLeftAloneAndNothingElseIsMade) {
  for (const std::string& taken : {netns("h2"), fabric_namespace(name_)}) {
    ASSERT_EQ(run_command({"ip", "netns", "add", taken}).status, 0);
    struct stat before {};
    ASSERT_EQ(::stat(namespace_path(taken).c_str(), &before), 0);
    {
      Journal journal(journal_path());
      EXPECT_THAT(error_of(lab(3, 1), journal), HasSubstr("ip netns delete " + taken));
    }
    EXPECT_THAT(traces(), ElementsAre(fs::path(namespace_path(taken)).string()));
    struct stat after {};
    ASSERT_EQ(::stat(namespace_path(taken).c_str(), &after), 0);
    EXPECT_EQ(before.st_ino, after.st_ino);
    remove_namespace(taken);
  }
}

TEST_F(NamespacesTest, AHostsFileThatIsThereIsLeftAlone) {
  const fs::path folder = "/etc/netns/" + netns("h1");
  const bool had_netns = fs::exists("/etc/netns");
  fs::create_directories(folder);
  std::ofstream(folder / "hosts") << "mine";
  {
    Journal journal(journal_path());
    EXPECT_THAT(error_of(lab(1, 1), journal), HasSubstr((folder / "hosts").string()));
  }
  EXPECT_THAT(traces(), ElementsAre(folder.string()));
  fs::remove_all(folder);
  if (!had_netns) fs::remove("/etc/netns");
}

// Something of the last host is refused by the kernel, when all the rest stands.
TEST_F(NamespacesTest, AFailureAtTheEndLeavesNothing) {
  LabHosts three = lab(3, 2);
  three.hosts[2].nics[1].mac = wire::kBroadcastMac;
  {
    Journal journal(journal_path());
    journal.record(File{(fs::path(testing::TempDir()) / (name_ + ".socket")).string()});
    EXPECT_THAT(error_of(three, journal), HasSubstr("ff:ff:ff:ff:ff:ff"));
    EXPECT_THAT(journal.things(), testing::SizeIs(1)) << "what others have recorded stays";
    EXPECT_THAT(traces(), ElementsAre(journal_path()));
  }
  LabHosts two = lab(2, 1);
  two.hosts[1].nics[0].neighbour->address_v4 = IpAddress::parse("224.0.0.1");  // cannot be a gateway
  Journal::remove_all(journal_path());
  Journal journal(journal_path());
  EXPECT_THAT(error_of(two, journal), HasSubstr("224.0.0.1"));
  EXPECT_THAT(traces(), ElementsAre(journal_path()));
}

TEST_F(NamespacesTest, NamesThatCannotBeAreRefused) {
  Journal journal(journal_path());
  LabHosts bad = lab(1, 1);
  bad.hosts[0].name = "h 1";
  EXPECT_THAT(error_of(bad, journal), HasSubstr("'h 1'"));
  bad.hosts[0].name = "../h1";
  EXPECT_THAT(error_of(bad, journal), HasSubstr("'../h1'"));
  bad.hosts[0].name = std::string(250, 'h');
  EXPECT_THAT(error_of(bad, journal), HasSubstr("at most 255"));
  bad = lab(1, 1);
  bad.hosts.push_back(bad.hosts[0]);
  EXPECT_THAT(error_of(bad, journal), HasSubstr("two hosts 'h1'"));
  EXPECT_THAT(journal.things(), IsEmpty());
}

TEST_F(NamespacesTest, WithoutPrivilegesItSaysWhoMay) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    bool right = false;
    try {
      Journal journal(journal_path());
      if (::setresuid(65534, 65534, 65534) != 0) ::_exit(2);
      create_namespaces(lab(1, 1), journal);
    } catch (const HostsError& error) {
      right = std::string(error.what()).find("sudo") != std::string::npos;
    }
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

// A program of this name that is found before the real one, while it exists.
class Impostor {
 public:
  // A shell script; $REAL is the real one.
  Impostor(const fs::path& folder, const std::string& program, const std::string& script)
      : folder_(folder), path_(::getenv("PATH")) {
    const std::string real = find_program(program);
    fs::create_directory(folder_);
    std::ofstream(folder_ / program) << "#!/bin/sh\nREAL=" << real << "\n" << script << "\n";
    fs::permissions(folder_ / program, fs::perms::owner_all);
    ::setenv("PATH", (folder_.string() + ":" + path_).c_str(), 1);
  }
  ~Impostor() {
    ::setenv("PATH", path_.c_str(), 1);
    fs::remove_all(folder_);
  }
  Impostor(const Impostor&) = delete;
  Impostor& operator=(const Impostor&) = delete;

 private:
  fs::path folder_;
  std::string path_;
};

TEST_F(NamespacesTest, AKernelWithoutVethOrShaperIsNamed) {
  const fs::path folder = fs::path(testing::TempDir()) / (name_ + ".bin");
  Journal journal(journal_path());
  {
    const Impostor no_veth(folder, "ip", R"(
      lines=$(cat)
      case "$lines" in *veth*) echo "Error: Unknown device type."; echo "Command failed -:1"; exit 1;; esac
      echo "$lines" | exec $REAL "$@")");
    EXPECT_THAT(error_of(lab(2, 1), journal), HasSubstr("modprobe veth"));
    EXPECT_THAT(traces(), ElementsAre(journal_path()));
  }
  const Impostor no_tbf(folder, "tc", R"(
      echo "Error: Specified qdisc kind is unknown."; echo "Command failed -:1"; exit 1)");
  EXPECT_THAT(error_of(lab(2, 1), journal), HasSubstr("modprobe sch_tbf"));
  EXPECT_THAT(traces(), ElementsAre(journal_path()));
}

// Between the look whether names are free and the making of them.
TEST_F(NamespacesTest, ANameThatIsTakenAtTheLastMomentIsLeftAlone) {
  {
    const Impostor fast(fs::path(testing::TempDir()) / (name_ + ".bin"), "ip",
                        fmt::format("$REAL netns add {}; exec $REAL \"$@\"", netns("h2")));
    Journal journal(journal_path());
    EXPECT_THAT(error_of(lab(3, 1), journal), testing::AllOf(HasSubstr(netns("h2")), HasSubstr("File exists")));
  }
  EXPECT_THAT(traces(), ElementsAre(fs::path(namespace_path(netns("h2"))).string()));
  remove_namespace(netns("h2"));
}

TEST_F(NamespacesTest, AnInterfaceElsewhereCanBeRecordedToo) {
  {
    Journal journal(journal_path());
    journal.record(std::vector<Thing>{Namespace{netns("n")}, Interface{netns("n"), "ours"}});
    ASSERT_EQ(run_command({"ip", "netns", "add", netns("n")}).status, 0);
    ASSERT_EQ(
        run_command({"ip", "-n", netns("n"), "link", "add", "ours", "type", "veth", "peer", "name", "peer"}).status, 0);
    const std::vector<Thing> interface {
      Interface { netns("n"), "ours" }
    };
    EXPECT_THAT(journal.remove(interface), IsEmpty());
    EXPECT_EQ(ip(netns("n"), {"link"}).size(), 1u) << "lo";
  }
  EXPECT_THAT(Journal::remove_all(journal_path()), IsEmpty());
  EXPECT_THAT(traces(), IsEmpty());
}

// Wherever the kill comes: while things are made, while they are removed, between the two.
TEST_F(NamespacesTest, KilledAtAnyPointItLeavesNothingThatTheJournalDoesNotRemove) {
  for (int round = 0; round < 20; ++round) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      try {
        for (const LabHosts four = lab(4, 2);;) {
          Journal journal(journal_path());
          create_namespaces(four, journal);
          if (!remove_namespaces(four, journal).empty()) ::_exit(1);
        }
      } catch (...) {
        ::_exit(1);
      }
    }
    ::usleep(static_cast<useconds_t>(3000 + round * 7000));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "it must not have failed";
    ASSERT_THAT(Journal::remove_all(journal_path()), IsEmpty()) << round;
    ASSERT_THAT(traces(), IsEmpty()) << round;
  }
}

}  // namespace
}  // namespace railyard::hosts
