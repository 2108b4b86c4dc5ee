// Commands, options, help and exit codes.
#include <regex>

#include <gmock/gmock.h>

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
  EXPECT_THAT(o.err, HasSubstr("Run with --help for more information."));
}

TEST_F(Usage, AnUnknownCommandIsSuggestedAKnownOne) {
  EXPECT_EQ(error(kUsage, {"rnu", "lab.yaml"}),
            "railyard: there is no command 'rnu'; did you mean 'run'? Run with --help for more information.");
  EXPECT_EQ(error(kUsage, {"frobnicate"}),
            "railyard: there is no command 'frobnicate'. Run with --help for more information.");
}

TEST_F(Usage, WrongOptionsAreNamed) {
  const auto refused = [&](const std::vector<std::string>& arguments) {
    const Outcome o = railyard(arguments);
    EXPECT_EQ(o.exit_code, kUsage);
    EXPECT_EQ(o.out, "");
    return o.err;
  };
  EXPECT_THAT(refused({"run"}), StartsWith("SPEC is required"));
  EXPECT_THAT(refused({"run", "lab.yaml", "--sed", "7"}), HasSubstr("--sed"));
  EXPECT_THAT(refused({"run", "lab.yaml", "--capture", "leaf1:1"}),
              HasSubstr("'leaf1:1': expected PORT=FILE, e.g. leaf1:3=leaf1-3.pcapng"));
  EXPECT_THAT(refused({"run", "lab.yaml", "--int-one-in", "5"}), HasSubstr("--int"));
  EXPECT_THAT(refused({"run", "lab.yaml", "--capture", "leaf1=x.pcapng"}),
              HasSubstr("'leaf1' is not a port; expected one such as leaf1:3"));
}

TEST_F(Usage, OptionsThatSetAValueAreCheckedLikeTheFile) {
  EXPECT_EQ(error(kSpec, {"run", "lab.yaml", "--workers", "0"}),
            "railyard: --set run.workers=0: run.workers: 0 is out of range; expected 1..64");
  EXPECT_THAT(error(kSpec, {"run", "lab.yaml", "--workers", "two"}),
              StartsWith("railyard: --set run.workers=two: run.workers: 'two' is not"));
  EXPECT_EQ(error(kSpec, {"run", "lab.yaml", "--seed", "-1"}),
            "railyard: --set run.seed=-1: run.seed: '-1' is not a seed; expected a whole number below 2^64");
  EXPECT_THAT(error(kSpec, {"run", "lab.yaml", "--duration", "5"}),
              StartsWith("railyard: --set run.duration=5: run.duration: 5 has no unit; expected a duration"));
  EXPECT_EQ(error(kSpec, {"run", "lab.yaml", "--clock", "sundial"}),
            "railyard: --set run.clock=sundial: run.clock: unknown 'sundial'; expected virtual or wall");
  EXPECT_EQ(error(kSpec, {"run", "lab.yaml", "--int", "x", "--int-one-in", "0"}),
            "railyard: --set run.int.one-in=0: run.int.one-in: 0 is out of range; expected 1..1000000000");
  EXPECT_THAT(error(kSpec, {"run", "lab.yaml", "--set", "traffic.u.rate=1Gbps"}),
              StartsWith("railyard: --set traffic.u.rate=1Gbps: traffic: no element is called 'u'"));
  EXPECT_THAT(error(kSpec, {"run", "lab.yaml", "--set", "run.sed=1"}),
              StartsWith("railyard: --set run.sed=1: run: unknown key 'sed'; did you mean 'seed'?"));
  EXPECT_EQ(error(kSpec, {"check", "lab.yaml", "--set", "run"}),
            "railyard: --set run: expected path=value, e.g. run.duration=1ms");
}

TEST_F(Usage, VersionIsOneLine) {
  const Outcome o = railyard({"version"});
  EXPECT_EQ(o.exit_code, kOk);
  EXPECT_TRUE(std::regex_match(o.out, std::regex("railyard [0-9]+\\.[0-9]+\\.[0-9]+(\\+[0-9a-f]+(-dirty)?)?\n")))
      << o.out;
}

TEST_F(Usage, TheSchemaIsTheOneInTheSources) {
  const Outcome o = railyard({"schema"});
  EXPECT_EQ(o.exit_code, kOk);
  EXPECT_EQ(o.out, read(RAILYARD_SOURCE_DIR "/control/spec/fabric.schema.json"));
}

}  // namespace
}  // namespace railyard::tools
