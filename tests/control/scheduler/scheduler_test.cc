#include "control/scheduler/scheduler.h"

#include <csignal>
#include <map>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace railyard::scheduler {
namespace {

using testing::HasSubstr;

std::map<std::size_t, Ended> ended(const std::vector<std::vector<std::string>>& commands, std::size_t parallel) {
  std::map<std::size_t, Ended> all;
  run_all(commands, {.parallel = parallel, .seconds = 0}, [&](Ended e) { return all.emplace(e.index, std::move(e)).second; });
  return all;
}

TEST(Scheduler, EachHandsOverItsOutputAndHowItEnded) {
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

TEST(Scheduler, FunctionsRunInProcessesOfTheirOwn) {
  std::map<std::size_t, Ended> all;
  const auto work = [](std::size_t index) -> std::string {
    if (index == 1) throw std::runtime_error("no such thing");
    if (index == 2) raise(SIGSEGV);
    if (index == 3) pause();
    return "number " + std::to_string(index);
  };
  run_all(5, {.parallel = 2, .seconds = 1}, work, [&](Ended e) { return all.emplace(e.index, std::move(e)).second; });
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all.at(0).output, "number 0");
  EXPECT_EQ(all.at(0).exit_code, 0);
  EXPECT_EQ(all.at(1).exit_code, 1);
  EXPECT_EQ(all.at(1).error, "no such thing");
  EXPECT_EQ(all.at(2).exit_code, -1);
  EXPECT_FALSE(all.at(2).late);
  EXPECT_TRUE(all.at(3).late);
  EXPECT_EQ(all.at(3).error, "not finished after 1 s");
  EXPECT_EQ(all.at(4).output, "number 4");
}

TEST(Scheduler, NoMoreBeginWhenItIsToldToStop) {
  std::size_t ended = 0;
  run_all(100, {.parallel = 3, .seconds = 0}, [](std::size_t) { return std::string(); }, [&](const Ended&) { return ++ended < 3; });
  EXPECT_EQ(ended, 3u);
}

TEST(Scheduler, MuchOutputOfManyIsWhole) {
  std::vector<std::vector<std::string>> commands;
  for (int i = 0; i < 9; ++i)
    commands.push_back({"/bin/sh", "-c", "head -c 300000 /dev/zero | tr '\\0' " + std::to_string(i)});
  const auto all = ended(commands, 3);
  ASSERT_EQ(all.size(), 9u);
  for (const auto& [i, e] : all) EXPECT_EQ(e.output, std::string(300'000, static_cast<char>('0' + i)));
}

}  // namespace
}  // namespace railyard::scheduler
