// Commands, options, help and exit codes.
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <sys/wait.h>

#include "tests/tools/railyard/command_line.h"

namespace railyard::tools {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class Usage : public CommandLine {};

TEST_F(Usage, HelpShowsTheCommandsExamplesAndExitCodes) {
  const Outcome o = railyard({"--help"});
  EXPECT_EQ(o.exit_code, kOk);
  EXPECT_EQ(o.err, "");
  EXPECT_THAT(o.out, AllOf(HasSubstr("railyard run topologies/incast-8to1.yaml"),
                           HasSubstr("Exit codes of every command:\n  0  ok ")));
  for (const char* command : {"check", "show", "run", "schema", "version"}) EXPECT_THAT(o.out, HasSubstr(command));
}

TEST_F(Usage, EveryCommandExplainsItself) {
  for (const char* command : {"check", "show", "run", "schema", "version"}) {
    const Outcome o = railyard({command, "--help"});
    EXPECT_EQ(o.exit_code, kOk) << command;
    EXPECT_THAT(o.out, HasSubstr(std::string("Usage: railyard ") + command));
  }
  const std::string run = railyard({"run", "--help"}).out;
  for (const char* option : {"--clock", "--seed", "--workers", "--duration", "--scale", "--payload", "--set",
                             "--capture", "--int", "--report", "--digest", "--json", "--quiet", "Examples:"})
    EXPECT_THAT(run, HasSubstr(option));
}

TEST_F(Usage, WithoutACommandIsWrong) {
  const Outcome o = railyard({});
  EXPECT_EQ(o.exit_code, kUsage);
  EXPECT_THAT(o.err, HasSubstr("See `railyard --help`."));
}

TEST_F(Usage, AnUnknownCommandIsSuggestedAKnownOne) {
  EXPECT_EQ(error(kUsage, {"rnu", "lab.yaml"}),
            "railyard: there is no command 'rnu'; did you mean 'run'? See `railyard --help`.");
  EXPECT_EQ(error(kUsage, {"frobnicate"}), "railyard: there is no command 'frobnicate'. See `railyard --help`.");
}

TEST_F(Usage, WrongOptionsAreNamed) {
  const auto refused = [&](const std::vector<std::string>& arguments) {
    const Outcome o = railyard(arguments);
    EXPECT_EQ(o.exit_code, kUsage);
    EXPECT_EQ(o.out, "");
    return o.err;
  };
  EXPECT_THAT(refused({"run"}), StartsWith("railyard run: SPEC is required. See `railyard run --help`."));
  EXPECT_THAT(refused({"run", "lab.yaml", "--sed", "7"}), HasSubstr("unknown option '--sed'; did you mean '--seed'?"));
  EXPECT_THAT(refused({"run", "lab.yaml", "--capture", "leaf1:1"}),
              HasSubstr("'leaf1:1': expected PORT=FILE, e.g. leaf1:3=leaf1-3.pcapng"));
  EXPECT_THAT(refused({"run", "lab.yaml", "--int-one-in", "5"}), HasSubstr("--int"));
  EXPECT_THAT(refused({"run", "lab.yaml", "--capture", "leaf1=x.pcapng"}),
              HasSubstr("'leaf1' is not a port; expected one such as leaf1:3"));
}

// An option that may be repeated takes one value each time, wherever it stands.
TEST_F(Usage, RepeatableOptionsDoNotSwallowTheFile) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"run", "--set", "run.seed=2", "lab.yaml", "--json"},
           {"run", "--expect", "drops == 0", "lab.yaml", "-q"},
           {"run", "--expect", "drops == 0", "--expect", "failed_flows == 0", "lab.yaml"},
           {"run", "--capture", "leaf1:1=c.pcapng", "lab.yaml"},
           {"check", "--set", "run.seed=2", "--set", "run.workers=1", "lab.yaml", "--strict"},
           {"show", "--set", "run.seed=2", "lab.yaml"},
           {"graph", "--set", "run.seed=2", "lab.yaml"},
           {"hosts", "--set", "run.seed=2", "lab.yaml"},
           {"sweep", "--over", "run.duration=1ms,2ms", "lab.yaml"},
           {"sweep", "--over", "run.duration=1ms,2ms", "--metric", "drops,goodput", "lab.yaml"},
           {"sweep", "--metric", "drops", "--metric", "goodput", "lab.yaml", "--over", "run.duration=1ms"},
           {"compare-transports", "--set", "traffic.t.transport=roce", "--column", "roce/gbn/ecmp/pfc", "--column",
            "roce/sr/spray/lossy", "lab.yaml"}}) {
    const Outcome o = railyard(words);
    EXPECT_NE(o.exit_code, kUsage) << words[0] << " " << words[1] << ": " << o.err;
  }
  EXPECT_EQ(error(kUsage, {"run", "lab.yaml", "--set", "run.seed=2", "run.workers=1"}),
            "railyard run: unexpected argument 'run.workers=1'. See `railyard run --help`.");
}

// Whatever was typed, an error is one short line.
TEST_F(Usage, HugeArgumentsAreQuotedShort) {
  const std::string huge(100'000, 'z');
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {huge},
           {"help", huge},
           {"help", "fault", huge},
           {"run", huge},
           {"run", "lab.yaml", "--" + huge},
           {"run", "lab.yaml", "--expect", huge},
           {"run", "lab.yaml", "--capture", huge},
           {"check", "lab.yaml", "--set", huge},
           {"sweep", "lab.yaml", "--over", huge},
           {"sweep", "lab.yaml", "--over", huge + "=1,2"},
           {"sweep", "lab.yaml", "--over", "run.workers=1,2", "--metric", huge},
           {"sweep", "lab.yaml", "--over", "run.workers=1,2", "--metric", "ports." + huge + ".x"},
           {"sweep", "lab.yaml", "--over", "run.workers=1,2", "--seeds", huge},
           {"sweep", "lab.yaml", "--search", huge},
           {"sweep", "lab.yaml", "--search", "traffic.0.rate=1Gbps..2Gbps", "--until", huge},
           {"compare-transports", "lab.yaml", "--set", "traffic.t.transport=roce", "--column", huge},
           {"compare-transports", "lab.yaml", "--set", "traffic.t.transport=roce", "--column", "roce/" + huge},
           {"compare", huge, huge},
           {"decode", huge},
           {"down", huge},
           {"status", "--lab", huge}}) {
    const Outcome o = railyard(words);
    EXPECT_NE(o.exit_code, kOk) << words[0];
    EXPECT_LT(o.err.size(), 1'500u) << words[0] << " " << o.err.substr(0, 300);
    EXPECT_EQ(o.out, "") << words[0];
  }
  write("huge.yaml", read("lab.yaml") + "compare: { columns: [roce], metrics: [\"" + huge + "\"] }\n");
  const std::string said = error(kUsage, {"compare-transports", "huge.yaml", "--set", "traffic.t.transport=roce"});
  EXPECT_LT(said.size(), 1'500u) << said.substr(0, 300);
}

TEST_F(Usage, OptionsThatSetAValueAreCheckedLikeTheFile) {
  EXPECT_EQ(error(kInput, {"run", "lab.yaml", "--workers", "0"}),
            "railyard: --set run.workers=0: run.workers: 0 is out of range; expected 1..64");
  EXPECT_THAT(error(kInput, {"run", "lab.yaml", "--workers", "two"}),
              StartsWith("railyard: --set run.workers=two: run.workers: 'two' is not"));
  EXPECT_EQ(error(kInput, {"run", "lab.yaml", "--seed", "-1"}),
            "railyard: --set run.seed=-1: run.seed: '-1' is not a seed; expected a whole number below 2^64");
  EXPECT_THAT(error(kInput, {"run", "lab.yaml", "--duration", "5"}),
              StartsWith("railyard: --set run.duration=5: run.duration: 5 has no unit; expected a duration"));
  EXPECT_EQ(error(kInput, {"run", "lab.yaml", "--clock", "sundial"}),
            "railyard: --set run.clock=sundial: run.clock: unknown 'sundial'; expected virtual or wall");
  EXPECT_EQ(error(kInput, {"run", "lab.yaml", "--int", "x", "--int-one-in", "0"}),
            "railyard: --set run.int.one-in=0: run.int.one-in: 0 is out of range; expected 1..1000000000");
  EXPECT_THAT(error(kInput, {"run", "lab.yaml", "--set", "traffic.u.rate=1Gbps"}),
              StartsWith("railyard: --set traffic.u.rate=1Gbps: traffic: there is no element 'u'"));
  EXPECT_THAT(error(kInput, {"run", "lab.yaml", "--set", "run.sed=1"}),
              StartsWith("railyard: --set run.sed=1: run: unknown key 'sed'; did you mean 'seed'?"));
  EXPECT_EQ(error(kInput, {"check", "lab.yaml", "--set", "run"}),
            "railyard: --set run: expected path=value, e.g. run.duration=1ms");
}

TEST_F(Usage, EveryCommandHasExamplesOfItsOwn) {
  const std::string all = railyard({"--help"}).out;
  std::set<std::string> footers;
  int commands = 0;
  std::istringstream lines(all);
  for (std::string line; std::getline(lines, line) && !line.starts_with("Examples:");) {
    std::smatch found;
    if (!std::regex_match(line, found, std::regex("  ([a-z][a-z-]+)  +[A-Z].*")) || found[1] == "railyard") continue;
    const std::string command = found[1];
    const Outcome o = railyard({command, "--help"});
    EXPECT_EQ(o.exit_code, kOk) << command;
    const std::size_t example = o.out.find("Example");
    ASSERT_NE(example, o.out.npos) << command;
    EXPECT_THAT(o.out.substr(example), HasSubstr("railyard")) << command;
    EXPECT_TRUE(footers.insert(o.out.substr(example)).second) << command << " has the examples of another";
    EXPECT_EQ(railyard({"help", command}).out, o.out);
    ++commands;
  }
  EXPECT_GE(commands, 38);
}

TEST_F(Usage, SubcommandsHaveExamplesToo) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"link", "up"},
                                                {"link", "down"},
                                                {"fault", "add"},
                                                {"fault", "rm"},
                                                {"fault", "ls"},
                                                {"fault", "log"},
                                                {"port", "test"}}) {
    const Outcome o = railyard({"help", words[0], words[1]});
    EXPECT_THAT(o.out, AllOf(HasSubstr("Usage: railyard " + words[0] + " " + words[1]), HasSubstr("Example"),
                             HasSubstr("railyard " + words[0] + " " + words[1])));
    EXPECT_THAT(o.out, testing::Not(HasSubstr("Exit codes")));
  }
}

TEST_F(Usage, NearMissesAreSuggested) {
  EXPECT_EQ(error(kUsage, {"link", "dwn", "leaf1:1"}),
            "railyard link: there is no command 'dwn'; did you mean 'down'? See `railyard link --help`.");
  EXPECT_EQ(error(kUsage, {"run", "lab.yaml", "--captures=x"}),
            "railyard run: unknown option '--captures'; did you mean '--capture'? See `railyard run --help`.");
  EXPECT_EQ(error(kUsage, {"run", "lab.yaml", "other.yaml"}),
            "railyard run: unexpected argument 'other.yaml'. See `railyard run --help`.");
  EXPECT_EQ(error(kUsage, {"fault"}),
            "railyard fault: no command; expected one of: add, rm, ls, log. See `railyard fault --help`.");
}

// A disk without room is not a success, whatever the command.
TEST_F(Usage, OutputThatCannotBeWrittenIsAnError) {
  railyard({"run", "lab.yaml", "--report", "a", "--capture", "leaf1:1=c.pcapng"});
  write_output_to("/dev/full");
  const std::string expected = "railyard: cannot write standard output: No space left on device";
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--help"},
                                                {"--version"},
                                                {"version"},
                                                {"help", "run"},
                                                {"schema"},
                                                {"docs"},
                                                {"completion", "bash"},
                                                {"check", "lab.yaml"},
                                                {"show", "lab.yaml"},
                                                {"graph", "lab.yaml"},
                                                {"hosts", "lab.yaml"},
                                                {"run", "lab.yaml"},
                                                {"run", "lab.yaml", "--json"},
                                                {"compare", "a", "a"},
                                                {"decode", "c.pcapng"},
                                                {"decode", "c.pcapng", "--json"},
                                                {"sweep", "lab.yaml"},
                                                {"swarm", "--seeds", "1"},
                                                {"ls"},
                                                {"ls", "--json"}})
    EXPECT_EQ(error(kFailed, words), expected) << words[0];
}

// The daemon is the same program under another name.
TEST_F(Usage, TheDaemonSaysItsVersionAndFindsAFullDisk) {
  const std::string daemon = std::filesystem::path(RAILYARD_BINARY).parent_path() / "railyardd";
  const auto ended = [&](const std::string& more) {
    return WEXITSTATUS(std::system((daemon + " " + more + " 2> " + (folder_ / "err").string()).c_str()));
  };
  EXPECT_EQ(ended("--version > " + (folder_ / "out").string()), kOk);
  EXPECT_EQ(read("out"), "railyardd" + railyard({"version"}).out.substr(8));
  for (const char* option : {"--version", "--help"}) {
    EXPECT_EQ(ended(std::string(option) + " > /dev/full"), kFailed);
    EXPECT_EQ(read("err"), "railyardd: cannot write standard output: No space left on device\n");
  }
  // Its neighbour is built where libibverbs is.
  const std::string agent = std::filesystem::path(RAILYARD_BINARY).parent_path() / "railyard-agent";
  if (!std::filesystem::exists(agent)) return;
  for (const char* option : {"--version", "--help"}) {
    const std::string command = agent + " " + option + " > /dev/full 2> " + (folder_ / "err").string();
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), kFailed);
    EXPECT_EQ(read("err"), "railyard-agent: cannot write standard output: No space left on device\n");
  }
}

// One file may go to standard output, in the place of the report.
TEST_F(Usage, ADashIsStandardOutput) {
  EXPECT_THAT(railyard({"run", "lab.yaml", "--flow-csv", "-"}).out, StartsWith("name,"));
  EXPECT_THAT(railyard({"run", "lab.yaml", "--series", "-"}).out, StartsWith("time_ns,port,"));
  EXPECT_THAT(railyard({"run", "lab.yaml", "--flow-series", "-"}).out, StartsWith("time_ns,flow,"));
  EXPECT_THAT(railyard({"run", "lab.yaml", "--int", "-", "--int-one-in", "1"}).out, AllOf(StartsWith("{\"packet\":0,"), testing::EndsWith("}\n")));
  EXPECT_THAT(railyard({"run", "lab.yaml", "--junit", "-"}).out, StartsWith("<?xml"));
  // A section header block (draft-ietf-opsawg-pcapng §4.1).
  EXPECT_THAT(railyard({"run", "lab.yaml", "--capture", "leaf1:1=-"}).out, StartsWith("\x0a\x0d\x0d\x0a"));
  EXPECT_EQ(railyard({"run", "lab.yaml", "--fault-log", "-"}).out, "");
  EXPECT_THAT(railyard({"sweep", "lab.yaml", "--over", "run.duration=1ms,2ms", "--csv", "-"}).out, StartsWith("run.duration,"));
  EXPECT_THAT(railyard({"sweep", "lab.yaml", "--over", "run.duration=1ms,2ms", "--plot", "-"}).out, StartsWith("<svg"));
  EXPECT_EQ(error(kUsage, {"run", "lab.yaml", "--series", "-", "--flow-csv", "-"}),
            "railyard: --flow-csv -: --series goes to standard output already; expected a file for one of them");
  EXPECT_EQ(error(kUsage, {"sweep", "lab.yaml", "--csv", "-", "--json"}),
            "railyard: --csv -: --json goes to standard output already; expected a file for one of them");
  EXPECT_EQ(files(), std::vector<std::string>{"lab.yaml"});
}

TEST_F(Usage, VersionIsOneLine) {
  EXPECT_EQ(railyard({"--version"}).out, railyard({"version"}).out);
  const Outcome o = railyard({"version"});
  EXPECT_EQ(o.exit_code, kOk);
  EXPECT_TRUE(std::regex_match(o.out, std::regex("railyard [0-9]+\\.[0-9]+\\.[0-9]+(\\+[0-9a-f]+(-dirty)?)?\n")))
      << o.out;
}

TEST_F(Usage, DocsSaysWhereTheyAre) {
  const Outcome o = railyard({"docs"});
  EXPECT_EQ(o.exit_code, kOk);
  const std::string folder = o.out.substr(0, o.out.find('\n'));
  EXPECT_TRUE(std::filesystem::equivalent(folder, RAILYARD_SOURCE_DIR "/docs")) << folder;
  EXPECT_THAT(o.out, HasSubstr("python.md"));
}

TEST_F(Usage, TheSchemaIsTheOneInTheSources) {
  const Outcome o = railyard({"schema"});
  EXPECT_EQ(o.exit_code, kOk);
  EXPECT_EQ(o.out, read(RAILYARD_SOURCE_DIR "/control/spec/fabric.schema.json"));
}

}  // namespace
}  // namespace railyard::tools
