// railyard plan: text, JSON, the file that it writes, messages.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/tools/railyard/command_line.h"

namespace railyard::tools {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using PlanCommand = CommandLine;

TEST_F(PlanCommand, PrintsTheArithmeticOfTheWorkedExample) {
  const Outcome o = railyard({"plan", "--gpus", "128"});
  EXPECT_EQ(o.exit_code, kOk) << o.err;
  EXPECT_THAT(o.out, AllOf(HasSubstr("128 x 400 Gb/s = 51.2 Tb/s"), HasSubstr("4 leaves + 4 spines = 8"),
                           HasSubstr("1:1, non-blocking"), HasSubstr("32 GT/s x 16 lanes x 128/130 = 504 Gb/s")));
}

TEST_F(PlanCommand, JsonHasTheSameFigures) {
  const Outcome o = railyard({"plan", "--gpus", "128", "--json"});
  ASSERT_EQ(o.exit_code, kOk) << o.err;
  const auto j = nlohmann::json::parse(o.out);
  EXPECT_EQ(j["fabric"]["now"]["nic_ports"], 128);
  EXPECT_EQ(j["fabric"]["now"]["capacity_bps"], 51'200'000'000'000);
  EXPECT_EQ(j["fabric"]["now"]["leaves"], 4);
  EXPECT_EQ(j["fabric"]["now"]["spines"], 4);
  EXPECT_EQ(j["fabric"]["uplinks_per_spine"], 8);
  EXPECT_EQ(j["fabric"]["non_blocking"], true);
}

TEST_F(PlanCommand, WhatItWritesPassesCheckAndRuns) {
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{}, {"--reduce", "4"}, {"--design", "fat-tree", "--radix", "16"}}) {
    std::vector<std::string> command{"plan", "--gpus", "128", "-o", "fabric.yaml"};
    command.insert(command.end(), more.begin(), more.end());
    ASSERT_EQ(railyard(command).exit_code, kOk);
    const Outcome checked = railyard({"check", "fabric.yaml", "--strict"});
    EXPECT_EQ(checked.exit_code, kOk) << checked.out << checked.err;
    const Outcome ran = railyard({"run", "fabric.yaml", "--json"});
    EXPECT_EQ(ran.exit_code, kOk) << ran.err;
  }
}

TEST_F(PlanCommand, MistakesAreOneLine) {
  EXPECT_THAT(error(kUsage, {"plan", "--gpus", "128", "--radix", "3"}),
              HasSubstr("--radix: 3 is out of range; expected 4..1024"));
  EXPECT_THAT(error(kUsage, {"plan", "--gpus", "0"}), HasSubstr("--gpus: 0 is out of range; expected 1.."));
  EXPECT_THAT(error(kUsage, {"plan", "--gpus", "12"}), HasSubstr("expected a multiple of 8"));
  EXPECT_THAT(error(kUsage, {"plan"}), HasSubstr("--gpus"));
  EXPECT_THAT(error(kUsage, {"plan", "--gpus", "128", "--workload", "games"}), HasSubstr("expected pretraining"));
  EXPECT_THAT(error(kUsage, {"plan", "--gpus", "128", "--reduce", "8"}), HasSubstr("--output"));
  EXPECT_THAT(error(kUsage, {"plan", "--gpus", "128", "--reduce", "9", "-o", "x.yaml"}),
              HasSubstr("expected 8 or less"));
  write("prices.yaml", "switch: -1\n");
  EXPECT_THAT(error(kInput, {"plan", "--gpus", "128", "--prices", "prices.yaml"}),
              HasSubstr("prices.yaml:1:9: switch"));
  write("prices.yaml", "swich: 1\n");
  EXPECT_THAT(error(kInput, {"plan", "--gpus", "128", "--prices", "prices.yaml"}), HasSubstr("did you mean 'switch'"));
  write("request.yaml", "gpus: 128\ngpus-later: 64\n");
  EXPECT_THAT(error(kInput, {"plan", "request.yaml"}), HasSubstr("request.yaml:2:13: gpus-later"));
}

}  // namespace
}  // namespace railyard::tools
