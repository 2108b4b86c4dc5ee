// Expectations from the command line: what is met, what is missed, what is refused, and JUnit files.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/tools/railyard/command_line.h"

namespace railyard::tools {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Expect : public CommandLine {
 protected:
  Outcome run(std::vector<std::string> more) {
    more.insert(more.begin(), {"run", "lab.yaml"});
    return railyard(more);
  }
  void write_with(const std::string& more) { write("expects.yaml", read("lab.yaml") + more); }
};

TEST_F(Expect, WhatIsMetEndsWithZeroAndWhatIsMissedIsListed) {
  EXPECT_EQ(run({"--expect", "drops == 0", "--expect", "goodput >= 1Gbps"}).exit_code, kOk);
  const Outcome o = run({"--expect", "drops == 0", "--expect", "goodput >= 900Gbps", "--expect", "busbw >= 1Gbps"});
  EXPECT_EQ(o.exit_code, kMissed);
  EXPECT_THAT(o.err, AllOf(HasSubstr("railyard: expectation missed: found "),
                           HasSubstr("expected goodput >= 900Gbps [--expect]\n"),
                           HasSubstr("railyard: expectation missed: found not measured, expected busbw >= 1Gbps"),
                           Not(HasSubstr("expected drops"))));
  EXPECT_THAT(o.out, AllOf(HasSubstr("\nExpectations: 1 of 3 met\n"), HasSubstr("  met     drops == 0: 0\n"),
                           HasSubstr("  MISSED  goodput >= 900Gbps: ")));
}

TEST_F(Expect, TheFileMayHaveThemToo) {
  write_with("expect:\n  - drops == 0\n  - goodput of bulk >= 900Gbps\n");
  write("expects.yaml", read("lab.yaml") + "expect: [ drops == 0, fct_max < 1ns ]\n");
  const Outcome o = railyard({"run", "expects.yaml"});
  EXPECT_EQ(o.exit_code, kMissed);
  EXPECT_THAT(o.err, HasSubstr("expected fct_max < 1ns [expects.yaml:"));
  EXPECT_EQ(railyard({"run", "expects.yaml", "--set", "expect=drops == 0"}).exit_code, kOk);
  EXPECT_EQ(railyard({"check", "expects.yaml"}).exit_code, kOk);
}

TEST_F(Expect, WhatIsWrongIsSaidBeforeAnythingRuns) {
  EXPECT_EQ(error(kUsage, {"run", "lab.yaml", "--expect", "busbv >= 1Gbps"}),
            "railyard: --expect: 'busbv >= 1Gbps': there is no figure 'busbv'; did you mean 'busbw'?");
  EXPECT_THAT(error(kUsage, {"run", "lab.yaml", "--expect", "goodput >= 1"}),
              HasSubstr("goodput is a rate; expected a value such as 380Gbps"));
  EXPECT_THAT(error(kUsage, {"run", "lab.yaml", "--expect", "goodput >= 1gbps"}),
              HasSubstr("unknown unit 'gbps'; did you mean 'Gbps'?"));
  EXPECT_THAT(error(kUsage, {"run", "lab.yaml", "--expect", "/engine/windws > 0"}),
              HasSubstr("there is no field 'windws' in engine; did you mean 'windows'?"));
  EXPECT_THAT(error(kUsage, {"run", "lab.yaml", "--expect", "drops >= inf"}), HasSubstr("there is no figure 'inf'"));
  EXPECT_THAT(error(kUsage, {"sweep", "lab.yaml", "--over", "run.seed=1", "--expect", "drops"}),
              HasSubstr("--expect 'drops': no comparison"));
  EXPECT_THAT(error(kUsage, {"compare-transports", "lab.yaml", "--expect", "drops at leaf9 == 0"}),
              HasSubstr("there is no node 'leaf9'; did you mean 'leaf1'?"));
  write_with("expect: [ drop == 0 ]\n");
  EXPECT_THAT(error(kInput, {"run", "expects.yaml"}), HasSubstr("there is no figure 'drop'; did you mean 'drops'?"));
  EXPECT_THAT(error(kInput, {"check", "expects.yaml"}), HasSubstr("there is no figure 'drop'"));
}

TEST_F(Expect, JunitHasACaseForEachAndIsThereAsAWhole) {
  EXPECT_EQ(run({"--expect", "drops == 0", "--expect", "fct_max < 1ns", "--junit", "x.xml"}).exit_code, kMissed);
  const std::string xml = read("x.xml");
  EXPECT_THAT(xml, AllOf(HasSubstr("<testcase classname=\"expect\" name=\"drops == 0\"><system-out>"),
                         HasSubstr("<testcase classname=\"expect\" name=\"fct_max &lt; 1ns\"><failure message=\"found "),
                         HasSubstr("<testcase classname=\"verdict\" name=\"completion\">")));
  EXPECT_EQ(files(), (std::vector<std::string>{"lab.yaml", "x.xml"})) << "nothing beside it";
  EXPECT_THAT(error(kFailed, {"run", "lab.yaml", "--junit", "none/x.xml"}),
              HasSubstr("--junit: cannot write none/x.xml: No such file or directory"));
  EXPECT_THAT(error(kFailed, {"run", "lab.yaml", "--junit", "."}), HasSubstr("--junit: cannot write .: Is a directory"));
}

TEST_F(Expect, SweepsAndComparisonsHaveThemForEachRun) {
  const Outcome sweep = railyard({"sweep", "lab.yaml", "--over", "defaults.link.rate=10Gbps,100Gbps", "--expect",
                                  "goodput >= 20Gbps", "--junit", "s.xml"});
  EXPECT_EQ(sweep.exit_code, kMissed) << sweep.err;
  EXPECT_THAT(sweep.err, HasSubstr("railyard: expectation missed: defaults.link.rate=10Gbps seed 1: found 9."));
  EXPECT_THAT(sweep.err, Not(HasSubstr("rate=100Gbps")));
  EXPECT_THAT(read("s.xml"), AllOf(HasSubstr("<testsuites name=\"railyard\" tests="),
                                   HasSubstr("defaults.link.rate=10Gbps seed 1\" tests="),
                                   HasSubstr("defaults.link.rate=100Gbps seed 1\" tests=")));
  write("rdma.yaml",
        "name: rdma\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 2 }\n"
        "traffic: [ { name: t, from: h1, to: h2, bytes: 1MB, transport: roce } ]\n");
  const Outcome compared = railyard({"compare-transports", "rdma.yaml", "--column", "roce/gbn", "--column", "uet/rud",
                                     "--expect", "drops == 0", "--junit", "c.xml"});
  EXPECT_EQ(compared.exit_code, kOk) << compared.err;
  EXPECT_THAT(read("c.xml"), AllOf(HasSubstr("roce/gbn seed 1\" tests="), HasSubstr("uet/rud seed 1\" tests=")));
}

}  // namespace
}  // namespace railyard::tools
