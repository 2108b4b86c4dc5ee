// Completion scripts and man pages: made from the commands, and what shells and man(1) make of them.
#include <array>
#include <cstdio>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/tools/railyard/command_line.h"

namespace railyard::tools {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

std::string output_of(const std::string& command) {
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::string text;
  std::array<char, 4096> block;
  for (std::size_t n; (n = std::fread(block.data(), 1, block.size(), pipe)) > 0;) text.append(block.data(), n);
  EXPECT_EQ(::pclose(pipe), 0) << command << ": " << text;
  return text;
}

class Completion : public CommandLine {
 protected:
  // What bash offers where the last word of `words` is being typed.
  std::set<std::string> offered(const std::vector<std::string>& words) {
    if (read("script").empty()) write("script", railyard({"completion", "bash"}).out);
    std::string line = "cd " + folder_.string() + " && . ./script && compopt() { :; } && COMP_WORDS=(railyard";
    for (const std::string& w : words) line += " '" + w + "'";
    line += ") COMP_CWORD=" + std::to_string(words.size()) + " && _railyard; printf '%s\\n' \"${COMPREPLY[@]}\"";
    write("ask", line + "\n");
    std::istringstream lines(output_of("bash " + (folder_ / "ask").string() + " 2>&1"));
    std::set<std::string> out;
    for (std::string word; std::getline(lines, word);)
      if (!word.empty()) out.insert(word);
    return out;
  }
};

TEST_F(Completion, BashOffersCommandsOptionsFilesAndWords) {
  EXPECT_THAT(offered({"ru"}), ElementsAre("run"));
  EXPECT_THAT(offered({"compl"}), ElementsAre("completion")) << "not what is for scripts";
  EXPECT_THAT(offered({""}), IsSupersetOf({"run", "up", "exec", "help", "docs"}));
  EXPECT_THAT(offered({"fault", ""}), ElementsAre("add", "log", "ls", "rm"));
  EXPECT_THAT(offered({"run", "--see"}), ElementsAre("--seed"));
  EXPECT_THAT(offered({"run", "lab.yaml", "--clock", ""}), ElementsAre("virtual", "wall"));
  EXPECT_THAT(offered({"run", "la"}), ElementsAre("lab.yaml"));
  EXPECT_THAT(offered({"run", "lab.yaml", "--report", "la"}), IsEmpty()) << "a file is no directory";
  EXPECT_THAT(offered({"link", "down", "--l"}), ElementsAre("--lab"));
  EXPECT_THAT(offered({"help", ""}), IsSupersetOf({"run", "fault", "help"}));
  EXPECT_THAT(offered({"help", "fault", ""}), ElementsAre("add", "log", "ls", "rm"));
  EXPECT_THAT(offered({"help", "run", ""}), IsEmpty());
  EXPECT_THAT(offered({"completion", ""}), ElementsAre("bash", "fish", "zsh"));
  EXPECT_THAT(offered({"up", "lab.yaml", "--log-level", ""}),
              ElementsAre("critical", "debug", "error", "info", "off", "trace", "warning"));
  EXPECT_THAT(offered({"status", "--lab", ""}), IsEmpty()) << "no lab is up";
}

TEST_F(Completion, EachShellHasEveryCommand) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Outcome o = railyard({"completion", shell});
    EXPECT_EQ(o.exit_code, kOk);
    EXPECT_THAT(o.out, AllOf(HasSubstr("compare-transports"), HasSubstr("seed"), HasSubstr("railyard complete labs")));
  }
  EXPECT_EQ(railyard({"completion", "tcsh"}).exit_code, kUsage);
}

TEST_F(Completion, ShellsThatAreHereCanReadIt) {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    if (std::system(("command -v " + shell + " >/dev/null").c_str()) != 0) continue;
    write("c." + shell, railyard({"completion", shell}).out);
    EXPECT_EQ(output_of(shell + " -n " + (folder_ / ("c." + shell)).string() + " 2>&1"), "") << shell;
  }
}

TEST_F(Completion, NamesForScriptsAreNoneWithoutALab) {
  for (const char* kind : {"labs", "hosts"}) {
    const Outcome o = railyard({"complete", kind});
    EXPECT_EQ(o.exit_code, kOk);
    EXPECT_EQ(o.err, "");
  }
  EXPECT_THAT(railyard({"--help"}).out, Not(HasSubstr("\n  complete ")));
}

class ManPages : public CommandLine {
 protected:
  ManPages() { EXPECT_EQ(railyard({"man", "man"}).exit_code, kOk); }
};

TEST_F(ManPages, ThereIsOneForEachCommand) {
  EXPECT_THAT(files(), IsSupersetOf({"man/railyard.1", "man/railyard-run.1", "man/railyard-fault.1",
                                     "man/railyard-compare-transports.1", "man/railyard-int.1"}));
  const std::string run = read("man/railyard-run.1");
  EXPECT_THAT(run, AllOf(HasSubstr(".TH railyard\\-run 1"), HasSubstr(".SH SYNOPSIS"), HasSubstr(".SH OPTIONS"),
                         HasSubstr("\\fB\\-\\-seed\\fR \\fIN\\fR"), HasSubstr(".SH EXAMPLES"),
                         HasSubstr("railyard run topologies/incast\\-8to1.yaml")));
  EXPECT_THAT(read("man/railyard-fault.1"), HasSubstr(".SS railyard fault add"));
  EXPECT_THAT(read("man/railyard.1"), AllOf(HasSubstr("\\fBrailyard\\-swarm\\fR(1)"), HasSubstr(".SS Live labs")));
}

// The words of a choice and the bounds of a range, not the library's "TEXT:{a,b}" and "INT:INT in [0 - 255]".
TEST_F(ManPages, ValuesOfOptionsAreNamedByWhatTheyMayBe) {
  EXPECT_THAT(read("man/railyard-up.1"),
              HasSubstr("\\fB\\-\\-log\\-level\\fR \\fItrace|debug|info|warning|error|critical|off\\fR"));
  EXPECT_THAT(read("man/railyard-graph.1"), HasSubstr("\\fIdown|right\\fR"));
  EXPECT_THAT(
      railyard({"decode", "--help"}).out,
      AllOf(HasSubstr("--uet-protocol 0..255 "), HasSubstr("(default: 253)"), HasSubstr("none|msb-first|lsb-first\n")));
  for (const std::string& page : files())
    if (page.ends_with(".1")) {
      EXPECT_THAT(read(page), AllOf(Not(HasSubstr(":{")), Not(HasSubstr("INT in"))));
    }
}

TEST_F(ManPages, RoffHasNothingToComplainOf) {
  if (std::system("command -v groff >/dev/null") != 0) GTEST_SKIP() << "no groff";
  for (const std::string& page : files())
    if (page.ends_with(".1"))
      EXPECT_EQ(output_of("groff -man -Tutf8 -ww -z " + (folder_ / page).string() + " 2>&1"), "") << page;
}

}  // namespace
}  // namespace railyard::tools
