// For real: needs root and iproute2.
#include "control/hosts/inhabitants.h"

#include <csignal>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/hosts/command.h"
#include "control/hosts/hosts_error.h"
#include "control/hosts/network_namespace.h"
#include "control/hosts/thing.h"

namespace railyard::hosts {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Inhabitants : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    if (const CommandResult added = run_command({"ip", "netns", "add", name_}); added.status != 0)
      GTEST_SKIP() << "no network namespaces here: " << added.output;
  }
  void TearDown() override {
    for (const pid_t pid : children_) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
    if (namespace_exists(name_)) remove_namespace(name_);
  }
  // A process in the namespace that `lives` there.
  pid_t start(void (*lives)()) {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    const pid_t pid = ::fork();
    if (pid == 0) {
      // Not by in_namespace(): its thread would not be the process.
      const int fd = ::open(namespace_path(name_).c_str(), O_RDONLY | O_CLOEXEC);
      if (fd < 0 || ::setns(fd, CLONE_NEWNET) != 0) ::_exit(1);
      lives();
      if (::write(ready[1], "x", 1) != 1) ::_exit(1);
      for (;;) ::pause();
    }
    char c;
    EXPECT_EQ(::read(ready[0], &c, 1), 1);
    ::close(ready[0]);
    ::close(ready[1]);
    children_.push_back(pid);
    return pid;
  }
  int end_of(pid_t pid) {
    int status = 0;
    ::waitpid(pid, &status, 0);
    std::erase(children_, pid);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }
  std::string name_ = fmt::format("ry-inhabitants-{}", ::getpid());
  std::vector<pid_t> children_;
};

TEST_F(Inhabitants, AreEndedWithTheirNamespaceGentlyIfTheyLet) {
  EXPECT_THAT(inhabitants(name_), IsEmpty());
  const pid_t gentle = start([] {});
  EXPECT_THAT(inhabitants(name_), ElementsAre(gentle));
  const pid_t stubborn = start([] { std::signal(SIGTERM, SIG_IGN); });
  // Children of ours stay as zombies until we look, which counts as ended.
  remove(Namespace{name_}, -1);
  EXPECT_EQ(end_of(gentle), SIGTERM);
  EXPECT_EQ(end_of(stubborn), SIGKILL);
  EXPECT_FALSE(namespace_exists(name_));
}

TEST_F(Inhabitants, OthersAndThisProcessAreLeftAlone) {
  const pid_t other = ::fork();
  if (other == 0)
    for (;;) ::pause();
  children_.push_back(other);
  in_namespace(name_, [&] { EXPECT_THAT(inhabitants(name_), IsEmpty()); });
  end_inhabitants(name_);
  EXPECT_EQ(::kill(other, 0), 0);
  EXPECT_NO_THROW(end_inhabitants("ry-no-such-namespace"));
}

}  // namespace
}  // namespace railyard::hosts
