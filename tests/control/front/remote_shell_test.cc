#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/front/remote_shell.h"

namespace railyard::front {
namespace {

using testing::ElementsAre;

TEST(RemoteShell, QuotesForTheShellBehindSsh) {
  RemoteShell shell;
  shell.prefix = "ssh -J jump {target}";
  EXPECT_THAT(shell.command("b", "root@10.0.0.2", {"exec", "h1", "--", "echo", "a b"}),
              ElementsAre("ssh", "-J", "jump", "root@10.0.0.2", "railyard", "exec", "h1", "--", "echo", "'a b'"));
}

TEST(RemoteShell, GivesOthersTheWordsAsTheyAre) {
  const RemoteShell shell{.prefix = "ip netns exec site-{site}", .program = "/opt/railyard"};
  EXPECT_THAT(shell.command("b", "", {"exec", "h1", "--", "a b"}),
              ElementsAre("ip", "netns", "exec", "site-b", "/opt/railyard", "exec", "h1", "--", "a b"));
}

TEST(RemoteShell, IsNotNeededForThisMachine) {
  EXPECT_THAT(RemoteShell{}.command("a", "localhost", {"relay"}), ElementsAre("railyard", "relay"));
}

TEST(RemoteShell, NeedsACommand) {
  const RemoteShell shell{.prefix = "  ", .program = "railyard"};
  EXPECT_THROW(shell.command("b", "b", {}), std::invalid_argument);
}

}  // namespace
}  // namespace railyard::front
