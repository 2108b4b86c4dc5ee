// railyard swarm: what it prints, and how it ends.
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/tools/railyard/command_line.h"

namespace railyard::tools {
namespace {

using testing::HasSubstr;

class SwarmCommand : public CommandLine {};

TEST_F(SwarmCommand, PrintsWhatTheSeedsHaveMet) {
  const Outcome o = railyard({"swarm", "--seeds", "1-6"});
  EXPECT_EQ(o.exit_code, kOk) << o.out << o.err;
  EXPECT_THAT(o.out, HasSubstr("6 seeds, "));
  EXPECT_THAT(o.out, HasSubstr("ignore-pause"));
  EXPECT_THAT(o.out, HasSubstr("0 of 6 seeds failed"));
}

TEST_F(SwarmCommand, FewSeedsAreBelowTheBars) {
  const Outcome o = railyard({"swarm", "--seeds", "1-3", "--bars"});
  EXPECT_EQ(o.exit_code, kFailed);
  EXPECT_THAT(o.out, HasSubstr("below the coverage bar: "));
}

TEST_F(SwarmCommand, PrintsJson) {
  const Outcome o = railyard({"swarm", "--seeds", "1-4", "--json", "--jobs", "1"});
  const auto j = nlohmann::json::parse(o.out);
  EXPECT_EQ(j["coverage"]["seeds"], 4);
  EXPECT_GT(j["coverage"]["median_hops"], 0);
  EXPECT_TRUE(j["failed"].empty());
}

TEST_F(SwarmCommand, GoesOnFromWhatIsStored) {
  const auto stored = [this] {
    return std::distance(std::filesystem::directory_iterator(folder_ / "seeds"), std::filesystem::directory_iterator());
  };
  const Outcome first = railyard({"swarm", "--seeds", "1-3", "--resume", "seeds"});
  EXPECT_EQ(first.exit_code, kOk) << first.err;
  EXPECT_EQ(stored(), 3);
  EXPECT_EQ(railyard({"swarm", "--seeds", "1-3", "--resume", "seeds"}).out, first.out);
  const Outcome more = railyard({"swarm", "--seeds", "1-5", "--resume", "seeds", "--json"});
  EXPECT_EQ(nlohmann::json::parse(more.out)["coverage"]["seeds"], 5);
  EXPECT_EQ(stored(), 5);
  // A stored seed is not run again: what is stored is what is told.
  for (const auto& file : std::filesystem::directory_iterator(folder_ / "seeds")) {
    std::ifstream in(file.path());
    auto j = nlohmann::json::parse(in);
    auto outcome = nlohmann::json::parse(j["report"].get<std::string>());
    outcome["features"] = {"made-up"};
    j["report"] = outcome.dump();
    std::ofstream(file.path()) << j.dump();
  }
  EXPECT_THAT(railyard({"swarm", "--seeds", "1-5", "--resume", "seeds", "--json"}).out, HasSubstr("made-up"));
  write("a-file", "");
  EXPECT_THAT(railyard({"swarm", "--seeds", "1", "--resume", "a-file"}).err, HasSubstr("--resume: a-file is not a folder"));
}

TEST_F(SwarmCommand, ASeedAsAFabricFile) {
  ASSERT_EQ(railyard({"swarm", "--seeds", "4", "--write", "four.yaml"}).exit_code, kOk);
  EXPECT_EQ(railyard({"run", "four.yaml"}).exit_code, kOk);
  const Outcome again = railyard({"swarm", "--lab", "four.yaml"});
  EXPECT_EQ(again.exit_code, kOk) << again.out << again.err;
  EXPECT_THAT(again.out, HasSubstr("all invariants held"));
}

TEST_F(SwarmCommand, PartOfASeed) {
  ASSERT_EQ(railyard({"swarm", "--seeds", "4", "--only", "t1", "--write", "four.yaml"}).exit_code, kOk);
  const Outcome shown = railyard({"show", "four.yaml"});
  EXPECT_THAT(shown.out, HasSubstr("name: t1"));
  EXPECT_THAT(shown.out, testing::Not(HasSubstr("name: f1")));
  EXPECT_THAT(railyard({"swarm", "--seeds", "4", "--only", "f99"}).err, HasSubstr("seed 4 has no 'f99'; it has "));
}

TEST_F(SwarmCommand, WhatIsWrongIsSaid) {
  for (const char* seeds : {"", "x", "3-1", "1-", "1-2-3"}) {
    const Outcome o = railyard({"swarm", "--seeds", seeds});
    EXPECT_EQ(o.exit_code, kUsage) << seeds;
    EXPECT_THAT(o.err, HasSubstr("--seeds")) << seeds;
  }
  EXPECT_EQ(railyard({"swarm", "--lab", "missing.yaml"}).exit_code, kInput);
  EXPECT_EQ(railyard({"swarm", "--seeds", "1", "--planted-bug", "lost-xon"}).exit_code, kUsage);
}

}  // namespace
}  // namespace railyard::tools
