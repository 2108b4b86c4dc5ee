#include "control/swarm/workers.h"

#include <algorithm>
#include <csignal>
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
  Workers(processes).run(tasks, [&](Outcome o) {
    all.push_back(std::move(o));
    return true;
  });
  std::ranges::sort(all, {}, &Outcome::seed);
  std::vector<std::string> lines;
  for (const Outcome& o : all) lines.push_back(o.json());
  return lines;
}

TEST(Workers, AnyNumberOfProcessesHasTheSameOutcome) {
  const std::vector<Task> tasks = seeds(1, 7);
  const std::vector<std::string> one = outcomes(1, tasks);
  EXPECT_EQ(one.size(), 7u);
  EXPECT_EQ(outcomes(3, tasks), one);
}

TEST(Workers, TheyStopWhenTold) {
  std::size_t n = 0;
  Workers(1).run(seeds(1, 100), [&](const Outcome&) { return ++n < 3; });
  EXPECT_EQ(n, 3u);
}

TEST(Workers, AFabricFileThatIsNone) {
  const Outcome bad = Workers(1).run({2, {}, "name: x\nrun: ["});
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

TEST(Workers, AProcessThatEndsTakesItsTaskAlongAndNoOther) {
  Workers workers(1);
  EXPECT_FALSE(workers.run({1, {}, {}}).failed());
  ASSERT_EQ(children().size(), 1u);
  kill(children().front(), SIGSEGV);
  const Outcome gone = workers.run({2, {}, {}});
  EXPECT_TRUE(gone.failed("crash"));
  EXPECT_EQ(gone.seed, 2u);
  EXPECT_FALSE(workers.run({3, {}, {}}).failed());
}

TEST(Workers, NoneIsLeftBehind) {
  { EXPECT_EQ(outcomes(2, seeds(1, 4)).size(), 4u); }
  EXPECT_TRUE(children().empty());
}

}  // namespace
}  // namespace railyard::swarm
