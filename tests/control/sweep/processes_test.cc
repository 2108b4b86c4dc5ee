#include "control/sweep/processes.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railyard::sweep {
namespace {

using testing::HasSubstr;

std::map<std::size_t, Ended> ended(const std::vector<std::vector<std::string>>& commands, std::size_t parallel) {
  std::map<std::size_t, Ended> all;
  run_all(commands, parallel, [&](Ended e) { all.emplace(e.index, std::move(e)); });
  return all;
}

TEST(SweepProcesses, EachHandsOverItsOutputAndHowItEnded) {
  const auto all = ended({{"/bin/sh", "-c", "echo one"},
                          {"/bin/sh", "-c", "echo first >&2; echo last words >&2; exit 3"},
                          {"/bin/sh", "-c", "kill -SEGV $$"},
                          {"/no/such/program"}},
                         2);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all.at(0).exit_code, 0);
  EXPECT_EQ(all.at(0).output, "one\n");
  EXPECT_EQ(all.at(1).exit_code, 3);
  EXPECT_EQ(all.at(1).error, "last words");
  EXPECT_EQ(all.at(2).exit_code, -1);
  EXPECT_THAT(all.at(2).error, HasSubstr("Segmentation fault"));
  EXPECT_EQ(all.at(3).exit_code, 127);
  EXPECT_THAT(all.at(3).error, HasSubstr("/no/such/program"));
}

TEST(SweepProcesses, MuchOutputOfManyIsWhole) {
  std::vector<std::vector<std::string>> commands;
  for (int i = 0; i < 9; ++i)
    commands.push_back({"/bin/sh", "-c", "head -c 300000 /dev/zero | tr '\\0' " + std::to_string(i)});
  const auto all = ended(commands, 3);
  ASSERT_EQ(all.size(), 9u);
  for (const auto& [i, e] : all) EXPECT_EQ(e.output, std::string(300'000, static_cast<char>('0' + i)));
}

}  // namespace
}  // namespace railyard::sweep
