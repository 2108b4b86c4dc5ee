// Timelines of whole labs: where the time of each rank went, for whom it waited, and what was on the critical path.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "control/timeline/critical_path.h"
#include "control/timeline/timeline.h"
#include "control/timeline/trace_events.h"
#include "tests/scenarios/scenario.h"
#include "tests/support/temporary_file.h"

namespace railyard::test {
namespace {

constexpr std::int64_t kMs = 1'000'000'000;

// Four hosts at one switch, 100 Gb/s.
std::string lab_with(const std::string& collective) {
  return "name: t\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 4 }\n"
         "defaults: { link: { rate: 100Gbps, cable: 3m } }\nrun: { timeline: true }\ncollectives:\n  - " + collective + "\n";
}

struct Ran {
  Scenario scenario;
  timeline::Timeline timeline;
  report::Report report;
};

Ran run(const std::string& collective) {
  Ran out{Scenario(lab_with(collective)), {}, {}};
  out.scenario.run_to_the_end();
  auto t = timeline::timeline_of(out.scenario.lab(), out.scenario.lab().collectives().at(0));
  EXPECT_TRUE(t);
  out.timeline = std::move(*t);
  out.report = out.scenario.report();
  EXPECT_TRUE(out.report.collectives.at(0).verified);
  EXPECT_TRUE(out.report.collectives.at(0).timeline);
  return out;
}

Ran run_trace(const TemporaryFile& file, const std::string& goal, const std::string& more = "") {
  file.put(goal);
  return run("{ name: job, trace: " + file.name() + more + " }");
}

void expect_shares(const report::TimelineReport::Shares& s, double compute, double exposed, double idle) {
  EXPECT_NEAR(s.compute, compute, 0.01);
  EXPECT_NEAR(s.exposed, exposed, 0.01);
  EXPECT_NEAR(s.idle, idle, 0.01);
}

// Rank 0 computes 6 ms and sends 25 MB (2 ms), rank 1 computes 2 ms after that: 10 ms in all.
constexpr const char* kChain =
    "num_ranks 2\nrank 0 {\nc: calc 6000000\ns: send 24000000b to 1\ns requires c\n}\n"
    "rank 1 {\nr: recv 24000000b from 0\nc: calc 2000000\nc requires r\n}\n";

TEST(Timelines, TellComputingFromMessagesAndFromWaiting) {
  const TemporaryFile file("chain.goal");
  const Ran ran = run_trace(file, kChain);
  const report::TimelineReport& t = *ran.report.collectives[0].timeline;
  ASSERT_EQ(t.ranks.size(), 2u);
  expect_shares(t.ranks[0], 0.6, 0.2, 0.2);
  expect_shares(t.ranks[1], 0.2, 0.2, 0.6);
  EXPECT_EQ(t.ranks[0].waits_for, "rank 1 (h2)") << "for the end of the step";
  EXPECT_EQ(t.ranks[1].waits_for, "rank 0 (h1)");
  EXPECT_NEAR(static_cast<double>(t.ranks[1].waits_ns), 6e6, 1e5);
  for (const auto& repeat : t.repeats)
    for (std::size_t r = 0; r < 2; ++r)
      EXPECT_NEAR(static_cast<double>(repeat.compute_ns[r] + repeat.exposed_ns[r] + repeat.idle_ns[r]),
                  static_cast<double>(*ran.report.collectives[0].median_ns), 3);
}

TEST(Timelines, HaveTheCriticalPathThroughRanksAndLinks) {
  const TemporaryFile file("chain.goal");
  const Ran ran = run_trace(file, kChain);
  const auto& path = ran.report.collectives[0].timeline->path;
  EXPECT_EQ(path.ns, *ran.report.collectives[0].median_ns);
  EXPECT_NEAR(static_cast<double>(path.compute_ns), 8e6, 10);
  EXPECT_NEAR(static_cast<double>(path.compute_ns + path.message_ns + path.acknowledgement_ns + path.wait_ns),
              static_cast<double>(path.ns), 10);
  ASSERT_EQ(path.ranks.size(), 2u);
  EXPECT_EQ(path.ranks[0], (std::pair<std::uint32_t, std::int64_t>{0, 6'000'000}));
  ASSERT_EQ(path.hops.size(), 1u);
  EXPECT_EQ(path.hops[0].from, 0u);
  EXPECT_EQ(path.hops[0].to, 1u);
  std::vector<std::string> ports;
  for (const auto& link : path.hops[0].links) ports.push_back(link.port);
  std::ranges::sort(ports);
  EXPECT_EQ(ports, (std::vector<std::string>{"h1:1", "leaf1:2"}));
}

void expect_whole_paths(Ran& ran, const std::string& what) {
  for (const timeline::RepeatTimes& repeat : ran.timeline.repeats) {
    Instant at = repeat.from;
    for (const timeline::PathPart& part : critical_path(ran.scenario.lab().collectives()[0], repeat)) {
      EXPECT_EQ(part.when.from, at) << what;
      EXPECT_LT(part.when.from, part.when.to);
      at = part.when.to;
    }
    EXPECT_EQ(at, repeat.to) << what;
  }
}

// The parts of the path follow each other without a gap, from the first instant to the last.
TEST(Timelines, HavePathsWithoutGaps) {
  for (const char* collective : {"{ name: c, collective: all-reduce, size: 4MiB, repeats: 2 }",
                                 "{ name: c, collective: all-reduce, size: 4MiB, forward: 1ms, backward: 2ms, buckets: 4, repeats: 2 }",
                                 "{ name: c, collective: all-to-all, size: 4MiB, transport: uet }",
                                 "{ name: c, collective: all-reduce, algorithm: tree, size: 4MiB, reduce-rate: 50Gbps }"}) {
    Ran ran = run(collective);
    expect_whole_paths(ran, collective);
  }
}

// A job that loses a copy in a failure and gets it back. Steps of a copy that is away begin and end at once.
TEST(Timelines, OfElasticJobsHavePathsWithoutGaps) {
  Ran ran{Scenario(R"(
name: elastic
topology: { preset: rail-optimized, hosts: 5, rails: 2, spines: 2, host-link: { rate: 100Gbps }, fabric-link: { rate: 100Gbps } }
hosts: { default: { gpus: 2, scale-up: { rate: 2400Gbps } }, storage: {} }
nodes: { h5: { profile: storage } }
run: { timeline: true }
jobs:
  - name: job
    model: { layers: 4, hidden: 256, heads: 4, feed-forward: 512, gated: false, vocabulary: 1000, sequence: 128 }
    parallelism: { tp: 2, dp: 4 }
    microbatches: 3
    forward: 300us
    backward: 700us
    storage: [h5]
    checkpoint: { every: 3 }
    steps: 12
    failures: [{ step: 5, restart: 7ms, rank: 3, elastic: same-batch, returns: 9 }]
)"),
          {},
          {}};
  ran.scenario.run_to_the_end();
  ran.timeline = *timeline::timeline_of(ran.scenario.lab(), ran.scenario.lab().collectives().at(0));
  expect_whole_paths(ran, "elastic");
}

TEST(Timelines, OfABusyStreamShowWhatItWasBusyWith) {
  const TemporaryFile file("stream.goal");
  const Ran ran = run_trace(file, "num_ranks 2\nrank 0 {\na: calc 3000000\nb: calc 1000000\n}\nrank 1 {\ncalc 1000\n}\n");
  const auto& path = ran.report.collectives[0].timeline->path;
  EXPECT_EQ(path.compute_ns, 4'000'000);
  EXPECT_EQ(path.wait_ns, 0);
}

TEST(Timelines, WithBucketsHaveASliceForEachAllReduce) {
  const Ran ran = run("{ name: c, collective: all-reduce, size: 32MiB, forward: 1ms, backward: 4ms, buckets: 4 }");
  const timeline::RankTimes& rank = ran.timeline.repeats.at(0).ranks.at(1);
  std::map<std::string, std::vector<timeline::Slice>> by_name;
  for (const timeline::Slice& s : rank.slices) by_name[ran.timeline.work.names[ran.timeline.work.operations[1][s.operation].name]].push_back(s);
  ASSERT_EQ(by_name["forward"].size(), 1u);
  ASSERT_EQ(by_name["backward, bucket 2"].size(), 1u);
  ASSERT_EQ(by_name["all-reduce, 8MiB, 4 ranks"].size(), 4u);
  // The first all-reduce begins when its bucket is there.
  EXPECT_EQ(by_name["all-reduce, 8MiB, 4 ranks"][0].from, by_name["backward, bucket 1"][0].to);
  EXPECT_EQ(by_name["backward, bucket 1"][0].to, Instant{2 * kMs});
}

TEST(Timelines, HaveTheLabelsOfATrace) {
  const TemporaryFile file("chain.goal");
  const Ran ran = run_trace(file, kChain);
  const auto& names = ran.timeline.work.names;
  EXPECT_NE(std::ranges::find(names, "c"), names.end());
  EXPECT_NE(std::ranges::find(names, "s: 24MB to rank 1"), names.end());
}

// What Perfetto needs: slices with times that lie in no other one of their thread, names of threads, arrows with two ends.
TEST(Timelines, AreWrittenAsTraceEvents) {
  const TemporaryFile file("chain.goal");
  Ran ran = run_trace(file, kChain, ", repeats: 2");
  const auto j = nlohmann::json::parse(timeline::trace_events(ran.scenario.lab()));
  std::map<int, std::string> threads;
  std::map<int, double> until;
  std::map<std::string, double> time;  // of slices, us
  int arrows = 0;
  for (const auto& e : j["traceEvents"]) {
    if (e["ph"] == "M" && e["name"] == "thread_name") threads[e["tid"]] = e["args"]["name"];
    if (e["ph"] == "s") ++arrows;
    if (e["ph"] == "f") --arrows;
    if (e["ph"] != "X") continue;
    EXPECT_GE(e["ts"].get<double>(), until[e["tid"]]) << e;
    until[e["tid"]] = e["ts"].get<double>() + e["dur"].get<double>() - 1e-6;
    time[threads[e["tid"]]] += e["dur"].get<double>();
    EXPECT_TRUE(threads.contains(e["tid"]));
  }
  EXPECT_EQ(arrows, 0);
  EXPECT_NEAR(time["rank 0 (h1) compute"], 12'000, 1);
  EXPECT_NEAR(time["rank 1 (h2) compute"], 4'000, 1);
  EXPECT_NEAR(time["rank 1 (h2) communication"], 4'000, 100);
  // 6 ms; rank 0 begins its second step at 8 ms, rank 1 at 10 ms, and its message is sent at 14 ms.
  EXPECT_NEAR(time["rank 1 (h2) waiting"], 6'000 + 4'000, 100);
  EXPECT_EQ(j["otherData"]["omitted_slices"], 0);
  EXPECT_EQ(nlohmann::json::parse(timeline::trace_events(ran.scenario.lab(), 3))["otherData"]["omitted_slices"].get<int>() > 0, true);
}

// A job that computes 1 ms of 10: the messages are the reason, and the verdict names the links.
TEST(Timelines, SayWhetherTheNetworkIsTheBound) {
  const auto verdict = [](const report::Report& r) {
    const auto all = r.verdicts();
    const auto found = std::ranges::find(all, "utilisation", &report::Verdict::name);
    return found == all.end() ? std::string() : found->text;
  };
  const TemporaryFile file("v.goal");
  const Ran bound = run_trace(file,
      "num_ranks 2\nrank 0 {\nc: calc 500000\ns: send 100000000b to 1\ns requires c\n}\n"
      "rank 1 {\nr: recv 100000000b from 0\nc: calc 500000\nc requires r\n}\n");
  EXPECT_NE(verdict(bound.report).find("network-bound"), std::string::npos) << verdict(bound.report);
  EXPECT_NE(verdict(bound.report).find("h1:1"), std::string::npos) << verdict(bound.report);
  // One after the other, with next to nothing to say to each other.
  const Ran schedule = run_trace(file,
      "num_ranks 4\nrank 0 {\nc: calc 1000000\ns: send 64b to 1\ns requires c\n}\n"
      "rank 1 {\nr: recv 64b from 0\nc: calc 1000000\ns: send 64b to 2\nc requires r\ns requires c\n}\n"
      "rank 2 {\nr: recv 64b from 1\nc: calc 1000000\nc requires r\n}\nrank 3 {\ncalc 1000000\n}\n");
  EXPECT_NE(verdict(schedule.report).find("bound by the schedule"), std::string::npos) << verdict(schedule.report);
}

// What a sender must know to be there before it computes is a message for as long as it travels: 8 ms of 100 MB, and then some
// microseconds until the acknowledgement is back.
TEST(Timelines, ASlowTransferIsNoAcknowledgement) {
  const TemporaryFile file("a.goal");
  const Ran ran = run_trace(file,
      "num_ranks 2\nrank 0 {\ns: send 100000000b to 1\nc: calc 500000\nc requires s\n}\nrank 1 {\nrecv 100000000b from 0\n}\n");
  const auto& path = ran.report.collectives[0].timeline->path;
  EXPECT_GT(path.message_ns, 7'900'000);
  EXPECT_LT(path.acknowledgement_ns, 100'000);
  std::int64_t listed = 0;
  for (const auto& hop : path.hops) listed += hop.ns;
  EXPECT_NEAR(static_cast<double>(listed), static_cast<double>(path.message_ns + path.acknowledgement_ns), 10);
}

// Recording changes nothing, and without it there is no timeline.
TEST(Timelines, AreOnlyThereForThoseWhoAsk) {
  const std::string c = "{ name: c, collective: all-reduce, size: 1MiB }";
  EngineConfig config;
  config.digest = true;
  Scenario with(lab_with(c), {}, config), without(lab_with(c), {"run.timeline=false"}, config);
  with.run_to_the_end();
  without.run_to_the_end();
  EXPECT_EQ(with.digest(), without.digest());
  EXPECT_FALSE(without.report().collectives[0].timeline);
  EXPECT_FALSE(timeline::timeline_of(without.lab(), without.lab().collectives()[0]));
}

}  // namespace
}  // namespace railyard::test
