#include "dataplane/run/worker_team.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>

#include "dataplane/run/processors.h"

namespace railyard {
namespace {

TEST(WorkerTeam, EveryWorkerWorksOncePerRunAndTheCallerIsTheFirst) {
  constexpr std::size_t kWorkers = 4;
  std::vector<int> done(kWorkers, 0);  // one writer each
  std::vector<std::thread::id> threads(kWorkers);
  WorkerTeam team(kWorkers, [&](std::size_t w) {
    ++done[w];
    threads[w] = std::this_thread::get_id();
  });
  for (int round = 1; round <= 1000; ++round) {
    team.run();
    for (std::size_t w = 0; w < kWorkers; ++w) ASSERT_EQ(done[w], round) << "worker " << w;
  }
  EXPECT_EQ(threads[0], std::this_thread::get_id());
  for (std::size_t w = 1; w < kWorkers; ++w) EXPECT_NE(threads[w], threads[0]);
}

// What one worker wrote in a run all of them see in the next one.
TEST(WorkerTeam, RunsAreOrdered) {
  constexpr std::size_t kWorkers = 3;
  std::vector<std::size_t> from(kWorkers, 1);
  std::vector<std::size_t> to(kWorkers, 0);
  WorkerTeam team(kWorkers, [&](std::size_t w) { to[w] = from[(w + 1) % kWorkers] + 1; });
  for (std::size_t round = 0; round < 1000; ++round) {
    team.run();
    std::swap(from, to);
  }
  EXPECT_EQ(from, std::vector<std::size_t>(kWorkers, 1001));
}

// What any worker wrote in the first part all see in the second one of the same run.
TEST(WorkerTeam, NobodyBeginsTheSecondPartBeforeAllHaveDoneTheFirst) {
  constexpr std::size_t kWorkers = 3;
  std::vector<std::size_t> written(kWorkers, 0);
  std::vector<std::size_t> seen(kWorkers, 0);
  std::size_t round = 0;
  WorkerTeam team(
      kWorkers, [&](std::size_t w) { written[w] = round; },
      [&](std::size_t w) { seen[w] = std::accumulate(written.begin(), written.end(), std::size_t{0}); });
  for (round = 1; round <= 1000; ++round) {
    team.run();
    ASSERT_EQ(seen, std::vector<std::size_t>(kWorkers, kWorkers * round));
  }
}

TEST(WorkerTeam, WhatAWorkerThrowsIsThrownByRunWhenAllAreDone) {
  std::atomic<int> worked{0};
  int failing = -1;
  WorkerTeam team(3, [&](std::size_t w) {
    if (static_cast<int>(w) == failing) throw std::runtime_error("no memory");
    worked.fetch_add(1, std::memory_order_relaxed);
  });
  for (failing = 0; failing < 3; ++failing) {
    worked = 0;
    EXPECT_THROW(team.run(), std::runtime_error);
    EXPECT_EQ(worked.load(), 2);
  }
  failing = -1;
  worked = 0;
  EXPECT_NO_THROW(team.run()) << "and is forgotten then";
  EXPECT_EQ(worked.load(), 3);
}

TEST(WorkerTeam, RunsOnTheProcessorsThatItIsBoundTo) {
  // In a thread of its own: the test's is not bound.
  std::jthread([] {
    const int last = own_processors().back();
    std::array<int, 2> ran{-1, -1};
    WorkerTeam team(2, [&](std::size_t w) { ran[w] = sched_getcpu(); });
    team.bind(std::array{last, last});
    team.run();
    EXPECT_EQ(ran, (std::array{last, last}));
    EXPECT_EQ(own_processors(), std::vector{last}) << "the caller too";
    try {
      team.bind(std::array{last, 1023});
      FAIL() << "there is no such processor";
    } catch (const std::runtime_error& e) {
      EXPECT_EQ(std::string(e.what()), fmt::format("no thread can be bound to processor 1023; expected one of {}", last));
    }
  });
}

TEST(WorkerTeam, OneWorkerIsTheCallerAlone) {
  int done = 0;
  WorkerTeam team(1, [&](std::size_t) { ++done; });
  team.run();
  EXPECT_EQ(done, 1);
}

TEST(WorkerTeam, MayGoWithoutHavingWorked) {
  for (int i = 0; i < 20; ++i) WorkerTeam team(4, [](std::size_t) { FAIL(); });
}

}  // namespace
}  // namespace railyard
