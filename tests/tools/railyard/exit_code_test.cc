// One table of exit codes for all commands: help, documentation and what commands end with are held against it.
#include <cctype>
#include <cstdlib>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <sys/wait.h>

#include "tests/tools/railyard/command_line.h"
#include "control/base/exit_code.h"

namespace railyard::tools {
namespace {

using testing::HasSubstr;

// No lab is running.
class ExitCodes : public CommandLine {
 protected:
  ExitCodes() { setenv("RAILYARD_STATE_DIR", (folder_.parent_path() / "state").c_str(), 1); }
  ~ExitCodes() override { unsetenv("RAILYARD_STATE_DIR"); }
};

TEST_F(ExitCodes, AreInHelpAndInTheDocumentation) {
  const std::string help = railyard({"--help"}).out;
  const std::string page = read(RAILYARD_SOURCE_DIR "/docs/exit-codes.md");
  for (const ExitCodeMeaning& e : kExitCodes) {
    EXPECT_THAT(help, HasSubstr("  " + std::to_string(e.code) + "  " + e.name));
    EXPECT_THAT(page, HasSubstr("| " + std::to_string(e.code) + " | " + e.name + " | " + e.meaning + " |"));
  }
  std::size_t rows = 0;
  for (std::size_t at = page.find("\n| "); at != page.npos; at = page.find("\n| ", at + 1))
    rows += std::isdigit(static_cast<unsigned char>(page[at + 3])) != 0 ? 1u : 0u;
  EXPECT_EQ(rows, std::size(kExitCodes)) << "the page has no other codes";
}

// All commands that help names.
std::vector<std::string> commands(const std::string& help) {
  std::vector<std::string> names;
  const std::regex line("\n  ([a-z][a-z-]+)  +[A-Z]");
  for (std::sregex_iterator at(help.begin(), help.end(), line), end; at != end; ++at) names.push_back((*at)[1]);
  return names;
}

TEST_F(ExitCodes, EveryCommandExplainsThemAndRefusesAnUnknownOptionAlike) {
  const std::vector<std::string> all = commands(railyard({"--help"}).out);
  EXPECT_GE(all.size(), 30u);
  for (const std::string& command : all) {
    const Outcome help = railyard({command, "--help"});
    EXPECT_EQ(help.exit_code, kOk) << command;
    EXPECT_THAT(help.out, HasSubstr("Exit codes: 0 ok, 1 failed, 2 usage, 3 input, 4 accounting, 5 unverified, 6 missed"))
        << command;
    EXPECT_EQ(railyard({command, "--no-such-option"}).exit_code, kUsage) << command;
  }
}

TEST_F(ExitCodes, AMissingFileIsTheSameEverywhere) {
  const std::vector<std::vector<std::string>> kCommands{
      {"check", "none"},
      {"show", "none"},
      {"graph", "none"},
      {"hosts", "none"},
      {"run", "none"},
      {"run", "lab.yaml", "--replay", "none"},
      {"compare", "none", "none"},
      {"compare-transports", "none"},
      {"sweep", "none", "--over", "run.workers=1"},
      {"decode", "none"},
      {"up", "none"},
      {"replay", "none", "--at", "h1"},
      {"cp", "none", "h1:/root/x"}};
  for (const std::vector<std::string>& words : kCommands) {
    const std::string said = error(kInput, words);
    EXPECT_THAT(said, HasSubstr("none: ")) << words[0];
    EXPECT_THAT(said, HasSubstr("No such file or directory")) << words[0];
  }
}

TEST_F(ExitCodes, AFileThatIsSomethingElseIsTheSameToo) {
  write("text", "neither YAML of a lab nor JSON nor a capture: [");
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"check", "text"}, {"run", "text"}, {"compare", "text", "text"}, {"decode", "text"}, {"up", "text"}})
    error(kInput, words);
}

TEST_F(ExitCodes, WhatIsNotThereToBeAskedFails) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"status"}, {"logs"}, {"link", "down", "h1:1"}, {"get"}})
    EXPECT_EQ(railyard(words).exit_code, kFailed) << words[0];
}

TEST_F(ExitCodes, WhatTheCommandLineNamesAndIsNotThereIsUsage) {
  EXPECT_EQ(error(kUsage, {"help", "rnu"}), "railyard: help: there is no command 'rnu'; did you mean 'run'?");
  EXPECT_EQ(error(kUsage, {"help", "bogus"}), "railyard: help: there is no command 'bogus'");
  EXPECT_EQ(error(kUsage, {"help", "fault", "ad"}), "railyard: help: there is no command 'fault ad'; did you mean 'add'?");
  EXPECT_EQ(railyard({"help", "fault", "add"}).out, railyard({"fault", "add", "--help"}).out);
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"help", "run", "lab.yaml"},
           {"run", "lab.yaml", "--capture", "leaf9:1=x"},
           {"run", "lab.yaml", "--expect", "drops at leaf9 == 0"},
           {"sweep", "lab.yaml", "--metric", "bogus"},
           {"series", ""},
           {"series", "-"},
           {"int", "-"}})
    error(kUsage, words);
}

TEST_F(ExitCodes, AnEmptyNameIsAFileThatIsNotThere) {
  for (const char* command : {"check", "run", "show", "graph", "hosts", "up", "decode", "sweep", "compare-transports"})
    EXPECT_EQ(error(kInput, {command, ""}), "railyard: '': cannot be read: No such file or directory") << command;
}

// The shell sends the signal when the first line of the series has come: the run goes on then.
TEST_F(ExitCodes, AnInterruptedRunFailsAndMeetsNoExpectation) {
  write("long.yaml",
        "name: long\nnodes: { leaf1: { kind: switch }, h1: { kind: host }, h2: { kind: host } }\n"
        "links: [[h1:1, leaf1:1], [h2:1, leaf1:2]]\ntraffic: [ { name: t, from: h1, to: h2, rate: 10Gbps } ]\n"
        "run: { duration: 100000s, memory: 256MiB }\n");
  for (const std::string signal : {"TERM", "INT"}) {
    write("cut.sh", "set -m\nrm -f series\nmkfifo series\n" RAILYARD_BINARY
                    " run long.yaml -q --json --series series --expect 'drops == 0' --junit run.xml > out 2> err &\n"
                    "exec 3< series\nread line <&3\nkill -" + signal + " $!\ncat <&3 > /dev/null\nwait $!\nexit $?\n");
    const int status = std::system(("cd " + folder_.string() + " && bash cut.sh 2> /dev/null").c_str());
    EXPECT_EQ(WEXITSTATUS(status), kFailed) << signal;
    EXPECT_THAT(read("err"), HasSubstr("the run was interrupted at "));
    EXPECT_THAT(read("err"), HasSubstr("found 0 when the run was interrupted, expected drops == 0"));
    EXPECT_THAT(read("out"), HasSubstr("\"interrupted\": true"));
    EXPECT_THAT(read("run.xml"), HasSubstr("name=\"interrupted\"><failure"));
    EXPECT_THAT(read("run.xml"), HasSubstr("name=\"drops == 0\"><failure"));
  }
}

TEST_F(ExitCodes, TheWorstOfSeveralRunsCounts) {
  EXPECT_EQ(worse(kOk, kMissed), kMissed);
  EXPECT_EQ(worse(kMissed, kUnverified), kMissed);
  EXPECT_EQ(worse(kUnverified, kFailed), kFailed);
  EXPECT_EQ(worse(kFailed, kUnbalanced), kUnbalanced);
  EXPECT_EQ(worse(kOk, kOk), kOk);
}

}  // namespace
}  // namespace railyard::tools
