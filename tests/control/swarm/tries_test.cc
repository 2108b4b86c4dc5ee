#include "control/swarm/tries.h"

#include <algorithm>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

namespace railyard::swarm {
namespace {

std::vector<Task> seeds(std::uint64_t first, std::uint64_t last) {
  std::vector<Task> tasks;
  for (std::uint64_t s = first; s <= last; ++s) tasks.push_back({s, {}, {}});
  return tasks;
}

std::vector<std::string> outcomes(std::size_t processes, const std::vector<Task>& tasks) {
  std::vector<Outcome> all;
  try_all(tasks, processes, [&](std::size_t, Outcome o) {
    all.push_back(std::move(o));
    return true;
  });
  std::ranges::sort(all, {}, &Outcome::seed);
  std::vector<std::string> lines;
  for (const Outcome& o : all) lines.push_back(o.json());
  return lines;
}

TEST(Tries, AnyNumberOfProcessesHasTheSameOutcome) {
  const std::vector<Task> tasks = seeds(1, 7);
  const std::vector<std::string> one = outcomes(1, tasks);
  EXPECT_EQ(one.size(), 7u);
  EXPECT_EQ(outcomes(3, tasks), one);
}

TEST(Tries, TheyStopWhenTold) {
  std::size_t n = 0;
  try_all(seeds(1, 100), 1, [&](std::size_t, const Outcome&) { return ++n < 3; });
  EXPECT_EQ(n, 3u);
}

TEST(Tries, AFabricFileThatIsNone) {
  const Outcome bad = try_one({2, {}, "name: x\nrun: ["});
  EXPECT_TRUE(bad.failed("spec"));
  EXPECT_EQ(bad.seed, 2u);
}

// The processes that this one has made.
std::vector<pid_t> children() {
  std::ifstream list("/proc/self/task/" + std::to_string(getpid()) + "/children");
  std::vector<pid_t> pids;
  for (pid_t p = 0; list >> p;) pids.push_back(p);
  return pids;
}

TEST(Tries, ASeedWhoseProcessDiesHasFailed) {
  const Outcome crashed = outcome_of({.index = 0, .exit_code = -1, .output = {}, .error = "ended by Aborted: wrong", .late = false});
  ASSERT_TRUE(crashed.failed("crash"));
  EXPECT_EQ(crashed.violations.front().what, "ended by Aborted: wrong");
  const Outcome ended = outcome_of({.index = 0, .exit_code = 3, .output = {}, .error = "no memory", .late = false});
  ASSERT_TRUE(ended.failed("crash"));
  EXPECT_EQ(ended.violations.front().what, "ended with 3: no memory");
  EXPECT_TRUE(outcome_of({.index = 0, .exit_code = -1, .output = {}, .error = "not finished after 120 s", .late = true}).failed("time"));
}

TEST(Tries, NoneIsLeftBehind) {
  { EXPECT_EQ(outcomes(2, seeds(1, 4)).size(), 4u); }
  EXPECT_TRUE(children().empty());
}

}  // namespace
}  // namespace railyard::swarm
