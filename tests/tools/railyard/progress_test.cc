// How far a run is, said on a terminal.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tools/railyard/command_line.h"

namespace railyard::tools {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// What is seen on a terminal of railyard's own.
class OnATerminal : public CommandLine {
 protected:
  std::string shown(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), RAILYARD_BINARY);
    int terminal = -1;
    const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
    if (child == 0) {
      std::vector<char*> argv;
      for (std::string& a : arguments) argv.push_back(a.data());
      argv.push_back(nullptr);
      if (chdir(folder_.c_str()) == 0) execv(argv[0], argv.data());
      _exit(127);
    }
    std::string text;
    char octets[4096];
    for (ssize_t n = 0; (n = ::read(terminal, octets, sizeof octets)) > 0;)
      text.append(octets, static_cast<std::size_t>(n));
    int status = 0;
    waitpid(child, &status, 0);
    close(terminal);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == kOk) << text;
    return text;
  }
  // By the wall clock, so that it takes the time that a bar waits for however fast the machine is.
  const std::vector<std::string> long_{"run", "lab.yaml", "--clock", "wall", "--duration", "2500ms"};
};

constexpr const char* kBar = "\r  \\[=* *\\] +[0-9]+ %  [0-9.]+ m?s of [0-9.]+ m?s, [0-9]+ s left";

TEST_F(OnATerminal, ALongRunSaysHowFarItIsAndTakesItAwayInTheEnd) {
  const std::string text = shown(long_);
  EXPECT_THAT(text, ContainsRegex(kBar));
  const std::size_t last = text.rfind("\r  [");
  ASSERT_NE(last, std::string::npos);
  EXPECT_THAT(text.substr(last), HasSubstr("\r" + std::string(100, ' ') + "\r"));
}

TEST_F(OnATerminal, AQuietRunDoesNot) {
  std::vector<std::string> arguments = long_;
  arguments.emplace_back("--quiet");
  EXPECT_THAT(shown(arguments), Not(ContainsRegex(kBar)));
}

TEST_F(OnATerminal, AShortRunDoesNot) { EXPECT_THAT(shown({"run", "lab.yaml"}), Not(ContainsRegex(kBar))); }

}  // namespace
}  // namespace railyard::tools
