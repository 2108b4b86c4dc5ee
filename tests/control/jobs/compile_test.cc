// Programs of a job: carried out in memory, nothing begins before what it requires, and every message comes.
#include "control/jobs/compile.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "control/jobs/goal.h"

namespace railyard::jobs {
namespace {

using Step = CollectiveStep;

std::vector<RankProgram> compiled(const char* goal, CompileOptions options = {}) {
  const auto graph = read_goal(goal);
  EXPECT_TRUE(graph) << graph.error().line << graph.error().text;
  const auto matches = check(*graph);
  EXPECT_TRUE(matches) << matches.error().text;
  return compile(*graph, *matches, options);
}

// When each step is done if a message takes `flight` and nothing else is in the way; streams one after the other.
std::vector<std::vector<std::int64_t>> times(const std::vector<RankProgram>& programs, std::int64_t flight) {
  std::vector<std::vector<std::int64_t>> done, ready;
  std::vector<std::vector<std::uint32_t>> waits;
  struct Event {
    std::int64_t at;
    std::uint32_t rank, step;
  };
  std::vector<Event> events;  // steps that end then
  std::vector<std::vector<std::int64_t>> free;
  for (const RankProgram& p : programs) {
    done.emplace_back(p.steps.size(), -1);
    free.emplace_back(256, 0);
    waits.emplace_back();
    for (const Step& s : p.steps) waits.back().push_back(s.waits_for);
  }
  const auto start = [&](std::int64_t now, std::uint32_t r, std::uint32_t s) {
    const Step& step = programs[r].steps[s];
    if (step.kind == Step::Kind::kSend) {
      events.push_back({now + flight, r, s});
      events.push_back({now + flight, programs[r].connections[step.connection].peer, step.peer_step});
    } else if (step.connection == Step::kNone || step.time == Duration{}) {
      events.push_back({now, r, s});
    } else {
      std::int64_t& until = free[r][step.connection];
      until = std::max(until, now) + step.time.ps / 1000;
      events.push_back({until, r, s});
    }
  };
  for (std::uint32_t r = 0; r < programs.size(); ++r)
    for (std::uint32_t s = 0; s < programs[r].steps.size(); ++s)
      if (!programs[r].steps[s].receives() && waits[r][s] == 0) start(0, r, s);
  while (!events.empty()) {
    const auto next = std::ranges::min_element(events, {}, &Event::at);
    const Event e = *next;
    events.erase(next);
    EXPECT_EQ(done[e.rank][e.step], -1) << "a step ends once";
    done[e.rank][e.step] = e.at;
    const RankProgram& p = programs[e.rank];
    for (std::uint32_t i = p.steps[e.step].first_after; i < p.steps[e.step].end_after; ++i)
      if (--waits[e.rank][p.after[i]] == 0) start(e.at, e.rank, p.after[i]);
  }
  for (const auto& rank : done)
    for (const std::int64_t at : rank) EXPECT_GE(at, 0) << "every step ends";
  return done;
}

std::int64_t last(const std::vector<std::vector<std::int64_t>>& done) {
  std::int64_t all = 0;
  for (const auto& rank : done)
    for (const std::int64_t at : rank) all = std::max(all, at);
  return all;
}

TEST(Compile, AChainTakesTheSumOfItsTimes) {
  // 100 ns, a message, 50 ns, a message, 10 ns.
  const auto programs = compiled(R"(num_ranks 2
rank 0 {
c: calc 100
s: send 64b to 1
r: recv 64b from 1
e: calc 10
s requires c
e requires r
}
rank 1 {
r: recv 64b from 0
c: calc 50
s: send 64b to 0
c requires r
s requires c
}
)");
  EXPECT_EQ(last(times(programs, 1000)), 100 + 1000 + 50 + 1000 + 10);
}

TEST(Compile, CalcsOfOneCpuGoOneAfterTheOther) {
  const auto ends = [](const char* cpus) {
    return last(times(compiled((std::string("num_ranks 2\nrank 0 {\ncalc 70 cpu 0\ncalc 30 cpu ") + cpus + "\n}\nrank 1 {\n}\n").c_str()), 1));
  };
  EXPECT_EQ(ends("0"), 100);
  EXPECT_EQ(ends("1"), 70);
}

// It is done when the message is there and what it requires is done: so what requires it begins at 500.
TEST(Compile, AReceiveIsDoneWhenItWasPostedToo) {
  const auto programs = compiled(R"(num_ranks 2
rank 0 {
send 8b to 1
}
rank 1 {
c: calc 500
r: recv 8b from 0
e: calc 1
r requires c
e requires r
}
)");
  EXPECT_EQ(last(times(programs, 20)), 501);
}

TEST(Compile, WhatStartsWithAnotherDoesNotWaitForItsEnd) {
  // The second calc starts with the send, on another CPU.
  const auto programs = compiled(R"(num_ranks 2
rank 0 {
a: calc 10
s: send 8b to 1
b: calc 5 cpu 1
s requires a
b irequires s
}
rank 1 {
recv 8b from 0
}
)");
  const auto done = times(programs, 1000);
  std::vector<std::int64_t> zero = done[0];
  std::ranges::sort(zero);
  EXPECT_EQ(zero, (std::vector<std::int64_t>{10, 15, 1010}));
}

TEST(Compile, LargeMessagesGoInChunksAndAreDoneTogether) {
  const auto programs = compiled("num_ranks 2\nrank 0 {\ns: send 1000b to 1\ne: calc 1\ne requires s\n}\nrank 1 {\nr: recv 1000b from 0\ne: calc 2\ne requires r\n}\n",
                                 {.chunk = 256});
  std::uint64_t octets = 0;
  std::size_t sends = 0;
  for (const Step& s : programs[0].steps)
    if (s.kind == Step::Kind::kSend) {
      octets += s.octets;
      ++sends;
    }
  EXPECT_EQ(octets, 1000u);
  EXPECT_EQ(sends, 4u);
  EXPECT_EQ(programs[1].connections.at(0).receives, 4u);
  EXPECT_EQ(last(times(programs, 100)), 102);
}

TEST(Compile, RanksOfOneHostUseItsScaleUpNetwork) {
  const char* const goal = "num_ranks 3\nrank 0 {\nsend 8b to 1\nsend 8b to 2\n}\nrank 1 {\nrecv 8b from 0\n}\nrank 2 {\nrecv 8b from 0\n}\n";
  const auto programs = compiled(goal, {.host = {0, 0, 1}});
  for (const RankConnection& c : programs[0].connections) EXPECT_EQ(c.scale_up, c.peer == 1);
}

TEST(Compile, ASlowRankComputesLonger) {
  const char* const goal = "num_ranks 2\nrank 0 {\ncalc 100\n}\nrank 1 {\ncalc 100\n}\n";
  EXPECT_EQ(last(times(compiled(goal, {.slowness = {1.0, 1.5}}), 1)), 150);
}

}  // namespace
}  // namespace railyard::jobs
