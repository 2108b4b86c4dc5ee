#include "control/hosts/journal.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/hosts/hosts_error.h"

namespace railyard::hosts {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string octets(const fs::path& path) {
  std::ostringstream all;
  all << std::ifstream(path, std::ios::binary).rdbuf();
  return all.str();
}

void put(const fs::path& path, const std::string& text = "x") { std::ofstream(path, std::ios::binary) << text; }

// A process that does nothing until it is killed.
class IdleProcess {
 public:
  IdleProcess() : pid_(::fork()) {
    if (pid_ == 0)
      for (;;) ::pause();
  }
  ~IdleProcess() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  IdleProcess(const IdleProcess&) = delete;
  IdleProcess& operator=(const IdleProcess&) = delete;

  pid_t pid() const { return pid_; }
  bool has_ended() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_;
  }

 private:
  pid_t pid_;
};

class JournalTest : public testing::Test {
 protected:
  JournalTest() {
    std::string folder = (fs::path(testing::TempDir()) / "journal.XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("mkdtemp");
    folder_ = folder;
  }
  ~JournalTest() override { fs::remove_all(folder_); }

  fs::path at(const std::string& name) const { return folder_ / name; }
  std::vector<std::string> remove_all() const { return Journal::remove_all(at("journal"), 0ms); }

  // Makes things as a lab does that then ends without a word.
  void leave_behind(const std::vector<Thing>& things) const {
    Journal journal(at("journal"));
    journal.record(things);
  }

  fs::path folder_;
};

TEST_F(JournalTest, WhatWasLeftBehindIsRemovedLastFirstAndThenTheJournal) {
  // In any other order the folders would not be empty.
  leave_behind({Directory{at("a")}, Directory{at("a/b")}, File{at("a/b/f")}, File{at("a/g")}});
  fs::create_directories(at("a/b"));
  put(at("a/b/f"));
  put(at("a/g"));
  EXPECT_THAT(remove_all(), IsEmpty());
  EXPECT_THAT(fs::is_empty(folder_), true);
  EXPECT_THAT(remove_all(), IsEmpty()) << "a second time there is nothing to do";
}

TEST_F(JournalTest, TheRecordIsInTheFileBeforeTheThingIsMade) {
  Journal journal(at("journal"));
  journal.record(Namespace{"n"});
  EXPECT_EQ(octets(at("journal")), "{\"record\":\"namespace\",\"name\":\"n\"}\n");
  journal.done(Namespace{"n"});
  EXPECT_EQ(octets(at("journal")),
            "{\"record\":\"namespace\",\"name\":\"n\"}\n{\"done\":\"namespace\",\"name\":\"n\"}\n");
}

TEST_F(JournalTest, EveryKindSurvivesTheFile) {
  leave_behind({Namespace{"ry-no-such"}, Interface{"ry-no-such", "eth1"}, Interface{"", "ry-no-such0"}, File{at("f")},
                Directory{at("d")}, Process{.pid = 1, .start = 1, .boot = "another"}});
  EXPECT_THAT(remove_all(), IsEmpty()) << "all of it is gone, or was never made";
  EXPECT_FALSE(fs::exists(at("journal")));
}

TEST_F(JournalTest, WhatIsDoneIsNotTouchedAgain) {
  put(at("f"));
  put(at("g"));
  {
    Journal journal(at("journal"));
    journal.record(std::vector<Thing>{File{at("f")}, File{at("g")}});
    fs::remove(at("f"));
    journal.done(File{at("f")});
    EXPECT_THAT(journal.things(), ElementsAre(Thing{File{at("g")}}));
  }
  put(at("f"));  // somebody else's by now
  EXPECT_THAT(remove_all(), IsEmpty());
  EXPECT_TRUE(fs::exists(at("f")));
  EXPECT_FALSE(fs::exists(at("g")));
}

TEST_F(JournalTest, WhatOthersPutInAFolderStaysAndSoDoesTheFolder) {
  leave_behind({Directory{at("d")}, File{at("d/ours")}});
  fs::create_directory(at("d"));
  put(at("d/ours"));
  put(at("d/theirs"));
  EXPECT_THAT(remove_all(), IsEmpty());
  EXPECT_FALSE(fs::exists(at("d/ours")));
  EXPECT_TRUE(fs::exists(at("d/theirs")));
}

// The machine loses power while the journal is written: whole lines count, the last piece does not.
TEST_F(JournalTest, CutOffAtAnyOctetItRemovesWhatItSaysAndNoMore) {
  const std::vector<std::string> names{"f1", "f2", "f3"};
  for (const std::string& name : names) put(at(name));
  {
    Journal journal(at("journal"));
    for (const std::string& name : names) journal.record(File{at(name)});
  }
  const std::string whole = octets(at("journal"));
  std::size_t lines = 0;
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    if (cut > 0 && whole[cut - 1] == '\n') ++lines;
    for (const std::string& name : names) put(at(name));
    put(at("journal"), whole.substr(0, cut));
    ASSERT_THAT(remove_all(), IsEmpty()) << cut;
    for (std::size_t i = 0; i < names.size(); ++i) ASSERT_EQ(fs::exists(at(names[i])), i >= lines) << cut;
    ASSERT_FALSE(fs::exists(at("journal"))) << cut;
  }
  EXPECT_EQ(lines, names.size());
}

TEST_F(JournalTest, WhatCannotBeRemovedIsReportedTheRestGoesAndTheJournalStays) {
  leave_behind({File{at("f")}, File{at("folder")}, File{at("g")}});
  put(at("f"));
  fs::create_directory(at("folder"));  // not a file
  put(at("g"));
  EXPECT_THAT(remove_all(), ElementsAre(HasSubstr(at("folder"))));
  EXPECT_FALSE(fs::exists(at("f")));
  EXPECT_FALSE(fs::exists(at("g")));
  EXPECT_TRUE(fs::is_directory(at("folder")));
  fs::remove(at("folder"));
  EXPECT_THAT(remove_all(), IsEmpty()) << "it is still known";
  EXPECT_FALSE(fs::exists(at("journal")));
}

TEST_F(JournalTest, ALineThatMakesNoSenseIsReportedAndTheRestRemoved) {
  leave_behind({File{at("f")}, File{at("g")}});
  put(at("f"));
  put(at("g"));
  std::string text = octets(at("journal"));
  text[2] = '\0';
  put(at("journal"), text);
  EXPECT_THAT(remove_all(), ElementsAre(HasSubstr("line 1")));
  EXPECT_TRUE(fs::exists(at("f")));
  EXPECT_FALSE(fs::exists(at("g")));
  EXPECT_TRUE(fs::exists(at("journal")));
}

TEST_F(JournalTest, AFolderReplacedByALinkLeadsNowhere) {
  leave_behind({Directory{at("d")}, File{at("d/f")}});
  fs::create_directory(at("theirs"));
  put(at("theirs/f"));
  fs::create_directory_symlink(at("theirs"), at("d"));
  EXPECT_THAT(remove_all(), ElementsAre(HasSubstr("replaced"), HasSubstr(at("d"))));
  EXPECT_TRUE(fs::exists(at("theirs/f")));
}

TEST_F(JournalTest, AFileReplacedByALinkTakesItsTargetNotAlong) {
  leave_behind({File{at("f")}});
  put(at("theirs"));
  fs::create_symlink(at("theirs"), at("f"));
  EXPECT_THAT(remove_all(), IsEmpty());
  EXPECT_FALSE(fs::is_symlink(at("f")));
  EXPECT_TRUE(fs::exists(at("theirs")));
}

TEST_F(JournalTest, ALinkThatWasThereBeforeIsFollowed) {
  fs::create_directory(at("run"));
  fs::create_directory_symlink(at("run"), at("var-run"));
  leave_behind({File{at("var-run/socket")}});
  put(at("run/socket"));
  EXPECT_THAT(remove_all(), IsEmpty());
  EXPECT_FALSE(fs::exists(at("run/socket")));
}

TEST_F(JournalTest, APathFromNowhereIsRefused) {
  Journal journal(at("journal"));
  for (const char* path : {"", "f", "../f", "/", "/tmp/", "/tmp/.."})
    EXPECT_THROW(journal.record(File{path}), HostsError) << path;
  EXPECT_THAT(journal.things(), IsEmpty());
  EXPECT_EQ(octets(at("journal")), "");
}

TEST_F(JournalTest, ASocketIsAFile) {
  leave_behind({File{at("s")}});
  const int s = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  at("s").string().copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(s, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_THAT(remove_all(), IsEmpty());
  EXPECT_FALSE(fs::exists(at("s")));
  ::close(s);
}

TEST_F(JournalTest, AProcessIsKilled) {
  const IdleProcess process;
  leave_behind({Process::with(process.pid()).value()});
  EXPECT_THAT(remove_all(), IsEmpty());
  EXPECT_TRUE(process.has_ended());
}

TEST_F(JournalTest, AProcessThatHasTheNumberOfAnotherLives) {
  const IdleProcess process;
  Process other = Process::with(process.pid()).value();
  other.start -= 1;
  Process earlier = Process::with(process.pid()).value();
  earlier.boot = "before the last boot";
  leave_behind({other, earlier});
  EXPECT_THAT(remove_all(), IsEmpty());
  EXPECT_FALSE(process.has_ended());
}

TEST_F(JournalTest, ThereIsNoProcessOfNumberZero) { EXPECT_FALSE(Process::with(0)); }

TEST_F(JournalTest, WhileItsLabRunsNobodyElseRemovesAnything) {
  put(at("f"));
  Journal journal(at("journal"));
  journal.record(File{at("f")});
  EXPECT_THAT(remove_all(), ElementsAre(HasSubstr("running")));
  EXPECT_TRUE(fs::exists(at("f")));
  EXPECT_THROW(Journal{at("journal")}, HostsError);
  EXPECT_THAT(journal.remove_all(), IsEmpty());
  EXPECT_FALSE(fs::exists(at("f")));
}

TEST_F(JournalTest, AnOrderlyEndLeavesNoJournal) {
  {
    Journal journal(at("journal"));
    journal.record(File{at("f")});
    EXPECT_THAT(journal.remove_all(), IsEmpty());
  }
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(JournalTest, WhatIsLeftBehindMustGoBeforeTheNextLab) {
  leave_behind({File{at("f")}});
  EXPECT_THROW(Journal{at("journal")}, HostsError);
  EXPECT_THAT(remove_all(), IsEmpty());
  EXPECT_NO_THROW(Journal{at("journal")});
}

TEST_F(JournalTest, OnlyWhatIsNamedIsRemoved) {
  put(at("f"));
  put(at("g"));
  put(at("foreign"));
  Journal journal(at("journal"));
  journal.record(std::vector<Thing>{File{at("f")}, File{at("g")}});
  const std::vector<Thing> named{File{at("f")}, File{at("foreign")}};
  EXPECT_THAT(journal.remove(named), IsEmpty());
  EXPECT_FALSE(fs::exists(at("f")));
  EXPECT_TRUE(fs::exists(at("g")));
  EXPECT_TRUE(fs::exists(at("foreign"))) << "never recorded";
  EXPECT_TRUE(journal.holds(File{at("g")}));
}

}  // namespace
}  // namespace railyard::hosts
