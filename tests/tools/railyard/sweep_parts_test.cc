// Sweeps that go on where they were ended, and that many machines share.
#include <fstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/tools/railyard/command_line.h"

namespace railyard::tools {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using nlohmann::json;

class SweepParts : public CommandLine {
 protected:
  const std::vector<std::string> kSweep{"sweep", "lab.yaml", "--over", "traffic.0.bytes=10KB,100KB", "--seeds", "1-2"};

  Outcome sweep(const std::vector<std::string>& more) const {
    std::vector<std::string> words = kSweep;
    words.insert(words.end(), more.begin(), more.end());
    return railyard(words);
  }
  std::vector<std::filesystem::path> kept() const {
    std::vector<std::filesystem::path> all;
    for (const auto& file : std::filesystem::directory_iterator(folder_ / "results")) all.push_back(file.path());
    return all;
  }
};

TEST_F(SweepParts, ThreeMachinesTogetherHaveTheTableOfOne) {
  const json whole = json::parse(sweep({"--json"}).out);
  for (const char* part : {"1/3", "2/3", "3/3"}) {
    const Outcome o = sweep({"--resume", "results", "--part", part});
    ASSERT_EQ(o.exit_code, kOk) << o.err;
    EXPECT_THAT(o.out, HasSubstr("of 4 runs in results"));
  }
  EXPECT_THAT(kept(), SizeIs(4)) << "one file for each run";
  const Outcome together = sweep({"--resume", "results", "--json"});
  ASSERT_EQ(together.exit_code, kOk) << together.err;
  EXPECT_EQ(json::parse(together.out)["rows"], whole["rows"]);
}

TEST_F(SweepParts, WhatIsKeptDoesNotRunAgainUntilSomethingElseIsAsked) {
  ASSERT_EQ(sweep({"--resume", "results"}).exit_code, kOk);
  // A result that no run has: so it was taken from the folder.
  const auto file = kept().at(0);
  json one = json::parse(read("results/" + file.filename().string()));
  json report = json::parse(one["report"].get<std::string>());
  report["summary"]["fct_p99"] = 123456789;
  one["report"] = report.dump();
  std::ofstream(file) << one;
  EXPECT_THAT(sweep({"--resume", "results", "--json"}).out, HasSubstr("123456789"));
  // Another lab, other seeds and other options have results of their own.
  EXPECT_EQ(sweep({"--resume", "results", "--set", "defaults.link.rate=50Gbps"}).exit_code, kOk);
  EXPECT_THAT(kept(), SizeIs(8));
  // So has the same file after a change, wherever it says it.
  write("lab.yaml", read("lab.yaml") + "expect: [ drops == 0 ]\n");
  EXPECT_THAT(sweep({"--resume", "results", "--json"}).out, testing::Not(HasSubstr("123456789")));
  EXPECT_THAT(kept(), SizeIs(12));
  // A file that was cut off is made again.
  for (const auto& each : kept()) std::ofstream(each) << "{";
  EXPECT_EQ(sweep({"--resume", "results"}).exit_code, kOk);
}

TEST_F(SweepParts, RunsThatFailAreTriedAgain) {
  // Packet memory for less than what is on the way.
  const Outcome o = railyard({"sweep", "lab.yaml", "--over", "traffic.0.bytes=20MB,1KB", "--set", "run.memory=1MiB", "--set",
                              "defaults.link.delay=100us", "--set", "run.duration=20ms", "--set", "traffic.0.payload=256B", "--resume", "results"});
  EXPECT_EQ(o.exit_code, kFailed) << o.out << o.err;
  EXPECT_THAT(o.out, HasSubstr("out of packet memory"));
  EXPECT_THAT(kept(), SizeIs(1)) << "the small one";
}

TEST_F(SweepParts, ASchedulersJobNamesTheWholeSweep) {
  const Outcome slurm = sweep({"--resume", "results", "--emit", "slurm"});
  ASSERT_EQ(slurm.exit_code, kOk) << slurm.err;
  EXPECT_THAT(slurm.out, HasSubstr("#SBATCH --array=1-4\n")) << "two values, two seeds";
  EXPECT_THAT(slurm.out, HasSubstr("railyard sweep lab.yaml --over traffic.0.bytes=10KB,100KB --seeds 1-2 --resume results --part "));
  EXPECT_THAT(sweep({"--resume", "results", "--emit", "k8s", "--parts", "3"}).out, HasSubstr("completions: 3\n"));
  EXPECT_THAT(sweep({"--resume", "results", "--emit", "ray"}).out, HasSubstr("PARTS = 4\n"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "results")) << "nothing ran";
}

TEST_F(SweepParts, WhatIsMissingIsSaid) {
  const auto wrong = [&](std::vector<std::string> more) {
    more.insert(more.begin(), kSweep.begin(), kSweep.end());
    return error(kUsage, more);
  };
  EXPECT_THAT(wrong({"--part", "1/2"}), HasSubstr("--part: requires --resume"));
  EXPECT_THAT(wrong({"--emit", "slurm"}), HasSubstr("--emit: requires --resume"));
  EXPECT_THAT(wrong({"--part", "3/2", "--resume", "r"}), HasSubstr("expected K/N"));
  EXPECT_THAT(wrong({"--part", "1/2", "--resume", "r", "--csv", "t.csv"}), HasSubstr("a part has no table"));
  EXPECT_THAT(wrong({"--emit", "pbs", "--resume", "r"}), HasSubstr("--emit"));
  std::vector<std::string> no_folder = kSweep;
  no_folder.insert(no_folder.end(), {"--resume", "lab.yaml"});
  EXPECT_THAT(error(kFailed, no_folder), HasSubstr("--resume: lab.yaml is not a folder"));
}

}  // namespace
}  // namespace railyard::tools
