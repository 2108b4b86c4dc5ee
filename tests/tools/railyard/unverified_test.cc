// Exit code 5: a run that did not carry what it was asked to, in all commands that run labs; and who expects that.
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/tools/railyard/command_line.h"

namespace railyard::tools {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string leaf(int hosts, const std::string& more) {
  return "name: x\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: " + std::to_string(hosts) +
         " }\ndefaults: { link: { rate: 100Gbps, cable: 3m } }\n" + more;
}

class Unverified : public CommandLine {
 protected:
  Unverified() {
    // A UET NIC that checks no CRC, behind a link that corrupts frames.
    write("corrupt.yaml",
          leaf(2,
               "hosts: { default: { uet: { crc: false } } }\n"
               "traffic: [ { name: t, from: h1, to: h2, transport: uet, message: 100KB, bytes: 1MB } ]\n"
               "faults: [ { on: \"h2:1 in\", probability: 5%, corrupt: true } ]\n"
               "run: { payload: real, duration: 5ms, drain: 1ms }\n"));
    write("unfinished.yaml", leaf(2,
                                  "traffic: [ { name: t, from: h1, to: h2, transport: roce, message: 1MB, bytes: "
                                  "100MB } ]\nrun: { duration: 1ms, drain: 100us }\n"));
    // Generators into a lossy class: what is dropped never arrives.
    write("genloss.yaml",
          leaf(3,
               "traffic: [ { name: g, pattern: incast, from: [h1, h2], to: h3, dscp: 0, bytes: 60MB } ]\n"
               "run: { drain: 1ms }\n"));
    write("endless.yaml", leaf(3,
                               "traffic: [ { name: g, pattern: incast, from: [h1, h2], to: h3, dscp: 0 } ]\n"
                               "run: { duration: 5ms, drain: 1ms }\n"));
    // Nothing fires the trigger.
    write("wait.cm",
          "Nodes 3\nConnections 2\nTriggers 1\n0->1 id 1 trigger 1 size 1000000\n1->2 id 2 start 0 size "
          "1000000\ntrigger id 1 oneshot\n");
    write("wait.yaml",
          leaf(3, "traffic: [ { name: t, pattern: file, file: wait.cm, transport: roce } ]\nrun: { duration: 1ms }\n"));
    const std::string impatient = "hosts: { default: { roce: { ack-timeout: 8, retry-count: 2 } } }\n";
    const std::string flows =
        "traffic:\n  - { name: t, from: h1, to: h2, transport: roce, message: 1MB, bytes: 10MB }\n"
        "  - { name: u, from: h1, to: h3, transport: roce, message: 1MB, bytes: 10MB }\n";
    write("failing2.yaml", leaf(3, impatient + flows +
                                       "faults: [ { on: [\"h2:1\", \"h3:1\"], at: 100us, down: true } ]\n"
                                       "run: { duration: 30ms, drain: 1ms }\n"));
    write("failing3.yaml", leaf(3, impatient + flows +
                                       "faults: [ { on: \"h2:1\", at: 100us, down: true } ]\n"
                                       "diagnosis: { signature: [ xoff_sent == 0 ], symptom: No pauses., "
                                       "cause: ECN is early., fix: nothing }\nrun: { duration: 30ms, drain: 1ms }\n"));
    const std::string down = leaf(4, impatient +
                                         "collectives: [ { name: c, collective: all-reduce, size: 8MB, repeats: 3 } ]\n"
                                         "faults: [ { on: \"h1:1\", at: 100us, down: true } ]\nrun: { drain: 1ms }\n");
    write("colldown.yaml", down);
    write("colldiag.yaml", down +
                               "diagnosis: { signature: [ completed == 0 ], symptom: The job stops., cause: A link is "
                               "down., fix: Another cable. }\n");
  }
  Outcome run(const std::string& file, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"run", file, "-q"};
    words.insert(words.end(), more.begin(), more.end());
    return railyard(words);
  }
};

TEST_F(Unverified, DataThatAreWrongOrDidNotArriveEndWithFive) {
  const struct {
    const char* file;
    const char* what;
    const char* expect;
  } kCases[] = {{"corrupt.yaml", "data of flow t/h1->h2 arrived corrupted", "corrupted of t > 0"},
                {"unfinished.yaml", "flow t/h1->h2 did not complete", "completed == 0"},
                {"genloss.yaml", "flow g/h1->h3 did not complete; flow g/h2->h3 did not complete", "completed == 0"},
                {"wait.yaml", "flow t/0 did not complete", "completed < 1"},
                {"colldown.yaml", "collective c did not complete", "completed of c < 1"}};
  for (const auto& c : kCases) {
    const Outcome o = run(c.file);
    EXPECT_EQ(o.exit_code, kUnverified) << c.file;
    EXPECT_THAT(o.err, HasSubstr(std::string("railyard: unverified: ") +
                                 (std::string(c.file) == "wait.yaml" ? "flow " : c.what)))
        << c.file;
    const Outcome expected = run(c.file, {"--expect", c.expect});
    EXPECT_EQ(expected.exit_code, kOk) << c.file << expected.err;
    EXPECT_THAT(expected.err, Not(HasSubstr("unverified")));
  }
}

// Nobody asked for an end of it.
TEST_F(Unverified, TrafficWithoutAnEndIsNotJudged) {
  const Outcome o = run("endless.yaml");
  EXPECT_EQ(o.exit_code, kOk) << o.err;
  EXPECT_THAT(o.out, HasSubstr("egress_full"));
}

TEST_F(Unverified, AnExpectationExcusesWhatItNamesOnly) {
  const Outcome one = run("failing2.yaml", {"--expect", "failed_flows of t == 1"});
  EXPECT_EQ(one.exit_code, kUnverified);
  EXPECT_THAT(one.err, HasSubstr("railyard: unverified: flow u/h1->h3 failed\n"));
  EXPECT_EQ(run("failing2.yaml", {"--expect", "failed_flows == 2"}).exit_code, kOk);
  EXPECT_EQ(
      run("failing2.yaml", {"--expect", "failed_flows of t == 1", "--expect", "failed_flows of u == 1"}).exit_code,
      kOk);
}

TEST_F(Unverified, ADiagnosisExcusesWhatItsSignatureNamesOnly) {
  const Outcome nothing = run("failing3.yaml");
  EXPECT_THAT(nothing.out, HasSubstr("Diagnosis"));
  EXPECT_EQ(nothing.exit_code, kUnverified);
  const Outcome named = run("colldiag.yaml");
  EXPECT_THAT(named.out, HasSubstr("Diagnosis"));
  EXPECT_EQ(named.exit_code, kOk) << named.err;
}

// Their tables keep the figures of runs in which some flows did not complete, and say how many did.
TEST_F(Unverified, AllCommandsThatRunLabsHaveTheSameRule) {
  const Outcome sweep =
      railyard({"sweep", "unfinished.yaml", "--over", "run.duration=1ms,20ms", "--metric", "goodput,drops"});
  EXPECT_EQ(sweep.exit_code, kUnverified);
  EXPECT_THAT(sweep.out, AllOf(HasSubstr("1ms           97."), HasSubstr("(completed 0.000, delivered 0.1"),
                               Not(HasSubstr("did not complete"))))
      << "it is no run that failed";
  EXPECT_EQ(railyard({"sweep", "unfinished.yaml", "--over", "run.duration=1ms,20ms", "--metric", "goodput", "--expect",
                      "completed >= 0"})
                .exit_code,
            kUnverified);
  EXPECT_EQ(railyard({"sweep", "unfinished.yaml", "--over", "run.duration=18ms,20ms"}).exit_code, kOk);
  EXPECT_EQ(
      railyard({"compare-transports", "unfinished.yaml", "--column", "roce/gbn", "--column", "roce/sr"}).exit_code,
      kUnverified);
  // An invariant that does not hold wins.
  const Outcome broken = railyard({"swarm", "--lab", "corrupt.yaml"});
  EXPECT_EQ(broken.exit_code, kFailed) << broken.out << broken.err;
  EXPECT_THAT(broken.err, HasSubstr("railyard: unverified: data of flow t/h1->h2 arrived corrupted"));
  write("lossy.yaml", leaf(3, "traffic: [ { name: g, pattern: incast, from: [h1, h2], to: h3, dscp: 0, bytes: 20MB } ]\n"
                              "run: { duration: 10ms, drain: 20ms }\n"));
  const Outcome swarm = railyard({"swarm", "--lab", "lossy.yaml"});
  EXPECT_EQ(swarm.exit_code, kUnverified) << swarm.out << swarm.err;
  EXPECT_THAT(swarm.err, HasSubstr("railyard: unverified: flow g/h1->h3 did not complete; flow g/h2->h3 did not complete"));
  write("expected.yaml", read("lossy.yaml") + "expect: completed < 1\n");
  EXPECT_EQ(railyard({"swarm", "--lab", "expected.yaml"}).exit_code, kOk);
}

TEST_F(Unverified, AllTermsThatMissAreListed) {
  const Outcome o = run("endless.yaml", {"--expect", "goodput >= 380Gbps and drops < 3 and xoff_sent == 0"});
  EXPECT_EQ(o.exit_code, kMissed);
  EXPECT_THAT(o.err, testing::ContainsRegex(
                         "found goodput .*Gb/s.* and drops [0-9,]+ \\(leaf1:3 class 0\\), expected goodput"));
}

// A full disk costs the file, not the report, nor the other files.
TEST_F(Unverified, AFileThatCannotBeWrittenLosesNoReport) {
  for (const char* option : {"--flow-csv", "--junit"}) {
    const Outcome o = railyard({"run", "lab.yaml", "-q", option, "/dev/full", "--report", "out"});
    EXPECT_EQ(o.exit_code, kFailed) << option;
    EXPECT_THAT(o.out, HasSubstr("Verdicts")) << option;
    EXPECT_THAT(o.err, HasSubstr(std::string("railyard: ") + option + ": cannot write /dev/full: No space left"))
        << option;
    EXPECT_THAT(read("out/report.json"), HasSubstr("\"verdicts\"")) << option;
  }
  for (const char* option : {"--csv", "--plot", "--junit"}) {
    const Outcome o =
        railyard({"sweep", "lab.yaml", "--over", "defaults.link.rate=10Gbps,100Gbps", option, "/dev/full"});
    EXPECT_EQ(o.exit_code, kFailed) << option;
    EXPECT_THAT(o.out, HasSubstr("goodput")) << option;
  }
}

TEST_F(Unverified, APlotOfWhatWasNotMeasuredHasNoAxis) {
  ASSERT_EQ(railyard({"sweep", "lab.yaml", "--over", "defaults.link.rate=10Gbps,100Gbps", "--metric", "busbw,goodput",
                      "--plot", "p.svg"})
                .exit_code,
            kOk);
  const std::string svg = read("p.svg");
  EXPECT_THAT(svg, AllOf(HasSubstr(">busbw</text>"), HasSubstr(">not measured</text>"), HasSubstr(">goodput</text>")));
  EXPECT_EQ(svg.find(">not measured<"), svg.rfind(">not measured<"));
}

// They are dropped because the class is lossy there.
TEST_F(Unverified, DropsWhereTheClassIsLossyAreCalledThat) {
  write("part-gen.yaml",
        "name: part\ntopology: { preset: leaf-spine, leaves: 3, spines: 1, hosts-per-leaf: 2 }\n"
        "qos: { default: { classes: { 3: { lossless: true } } }, lossy: { classes: { 3: { lossless: false, "
        "queue-limit: 50KB } } } }\n"
        "switches: { lossy: { qos: lossy } }\nnodes: { spine1: { profile: lossy } }\n"
        "defaults: { link: { rate: 100Gbps, cable: 3m } }\n"
        "traffic: [ { name: t, pattern: incast, from: [h1, h3], to: h5 } ]\nrun: { duration: 5ms, drain: 1ms }\n");
  EXPECT_THAT(
      run("part-gen.yaml").out,
      testing::ContainsRegex("not counted: [0-9,]+ frames of other traffic dropped where their class is lossy"));
}

}  // namespace
}  // namespace railyard::tools
