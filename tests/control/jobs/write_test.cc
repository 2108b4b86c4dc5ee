// Graphs as GOAL and CSV: GOAL that is read again is the same graph; collectives become what they consist of.
#include <algorithm>
#include <filesystem>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/base/read_file.h"
#include "control/jobs/compile.h"
#include "control/jobs/expand.h"
#include "control/jobs/goal.h"
#include "control/jobs/read_trace.h"
#include "control/jobs/write_csv.h"
#include "control/jobs/write_goal.h"
#include "tests/support/temporary_file.h"

namespace railyard::jobs {
namespace {

using Kind = Operation::Kind;
using testing::HasSubstr;

JobGraph without_lines(JobGraph graph) {
  for (auto& own : graph.ranks)
    for (Operation& o : own) o.line = 0;
  return graph;
}

JobGraph goal(const std::string& text) {
  auto graph = read_goal(text);
  EXPECT_TRUE(graph) << graph.error().line << ": " << graph.error().text;
  return without_lines(std::move(*graph));
}

JobGraph sample(const std::string& name) {
  auto graph = read_trace(std::filesystem::path(RAILYARD_SOURCE_DIR "/topologies/traces") / name,
                          [](const std::filesystem::path& path) { return read_whole_file(path); });
  EXPECT_TRUE(graph) << name << ": " << graph.error().text;
  return std::move(*graph);
}

TEST(WriteGoal, IsReadAgainAsTheSameGraph) {
  const JobGraph graph = goal(R"(num_ranks 3
rank 0 {
l1: calc 1500 cpu 1
l2: send 4096b to 1 tag 7
calc 3
l3: recv 8b from 1
l2 requires l1
l3 irequires l2
l3 requires l1
}
rank 2 {
o1: calc 0
}
rank 1 {
a: recv 4096b from 0 tag 7
send 8b to 0
}
)");
  EXPECT_EQ(goal(write_goal(graph)), graph);
  const JobGraph pipeline = without_lines(sample("pipeline-1f1b.goal"));
  EXPECT_EQ(goal(write_goal(pipeline)), pipeline);
}

// Names that GOAL cannot have, and those that others have too.
TEST(WriteGoal, FindsLabelsOfItsOwn) {
  JobGraph graph;
  graph.labels = {"", "two words", "same", "o2"};
  graph.ranks.resize(2);
  for (const std::uint32_t label : {1u, 2u, 2u, 3u}) graph.ranks[0].push_back({.time = Duration{1'000}, .label = label});
  for (std::uint32_t i = 1; i < 4; ++i) graph.ranks[0][i].after = {i - 1};
  const JobGraph again = goal(write_goal(graph));
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(again.ranks[0][i].after, graph.ranks[0][i].after);
  EXPECT_EQ(again.labels[again.ranks[0][3].label], "o2");
}

TEST(WriteGoal, HasWholeNanoseconds) {
  JobGraph graph;
  graph.ranks = {{{.time = Duration{1'499}}, {.time = Duration{1'500}}}, {}};
  EXPECT_THAT(write_goal(graph), HasSubstr("calc 1\ncalc 2\n"));
}

// All bytes of each collective, and after it what waited for it.
TEST(Expanded, CollectivesAreTheirMessages) {
  for (const char* name : {"simai-tp2-dp4.txt", "chakra-4.0.et", "nccl-2x2.log"}) {
    const JobGraph graph = sample(name);
    const auto matches = check(graph);
    ASSERT_TRUE(matches) << matches.error().text;
    const JobGraph plain = expanded(graph, {});
    EXPECT_TRUE(plain.collectives.empty());
    const auto plain_matches = check(plain);
    ASSERT_TRUE(plain_matches) << name << ": " << plain_matches.error().text;
    // As many bytes from rank to rank as when the collectives are planned.
    const auto octets = [](const std::vector<RankProgram>& programs) {
      std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> out;
      for (const RankProgram& p : programs)
        for (const CollectiveStep& s : p.steps)
          if (s.kind == CollectiveStep::Kind::kSend) out[{p.rank, p.connections[s.connection].peer}] += s.octets;
      return out;
    };
    EXPECT_EQ(octets(compile(plain, *plain_matches, {})), octets(compile(graph, *matches, {}))) << name;
    const JobGraph again = goal(write_goal(plain));
    EXPECT_EQ(again.operations(), plain.operations());
    EXPECT_EQ(write_goal(again), write_goal(plain));
  }
}

// A ring all-reduce of three ranks: what a rank adds to is sent on only when it has come.
TEST(Expanded, ReductionsAreDependencies) {
  JobGraph graph;
  graph.communicators = {{0, 1, 2}};
  graph.collectives = {{.octets = 3000}};
  for (int r = 0; r < 3; ++r) graph.ranks.push_back({{.kind = Kind::kCollective}, {.time = Duration{1'000}, .after = {0}}});
  const JobGraph plain = expanded(graph, {});
  for (const auto& own : plain.ranks) {
    std::size_t waiting = 0;
    for (const Operation& o : own)
      if (o.kind == Kind::kSend)
        waiting += std::ranges::any_of(o.after, [&](std::uint32_t a) { return own[a].kind == Kind::kReceive; }) ? 1u : 0u;
    EXPECT_EQ(waiting, 3u) << "of 4 sends all but the first";
    EXPECT_EQ(own.back().time, Duration{1'000});
    EXPECT_EQ(own[own.back().after.at(0)].kind, Kind::kCompute) << "the end of the collective";
  }
}

TEST(WriteCsv, HasARowForEachOperation) {
  const std::string csv = write_csv(goal("num_ranks 2\nrank 0 {\na: calc 1500 cpu 2\ns: send 64b to 1 tag 5\ns requires a\n}\nrank 1 {\nrecv 64b from 0 tag 5\n}\n"));
  EXPECT_EQ(csv,
            "rank,operation,kind,label,peer,tag,bytes,time_ns,stream,ranks,collective,after,with\n"
            "0,0,compute,a,,,,1500.000,2,,,,\n"
            "0,1,send,s,1,5,64,,,,,0,\n"
            "1,0,receive,,0,5,64,,,,,,\n");
  const std::string simai = write_csv(sample("simai-tp2-dp4.txt"));
  EXPECT_THAT(simai, HasSubstr(",all-reduce,embedding forward,,,1048576,,,0 1,0,"));
  std::size_t commas = 0;
  for (const char c : simai.substr(0, simai.find('\n'))) commas += c == ',' ? 1u : 0u;
  std::size_t at = 0;
  for (std::size_t end = 0; (end = simai.find('\n', at)) != simai.npos; at = end + 1)
    EXPECT_EQ(std::ranges::count(simai.substr(at, end - at), ','), static_cast<std::ptrdiff_t>(commas));
}

TEST(ReadTrace, KnowsTheFormatByTheFile) {
  EXPECT_EQ(sample("pipeline-1f1b.goal").ranks.size(), 4u);
  EXPECT_EQ(sample("simai-tp2-dp4.txt").ranks.size(), 8u);
  EXPECT_EQ(sample("nccl-2x2.log").ranks.size(), 4u);
  EXPECT_EQ(sample("chakra-4.0.et").ranks.size(), 4u);
  const auto of = [](const char* name, const std::string& text) { return read_trace(name, [&](const std::filesystem::path&) -> std::expected<std::string, std::string> { return text; }); };
  EXPECT_THAT(of("x", "hello\n").error().text, HasSubstr("no format of traces that is known; expected GOAL"));
  EXPECT_THAT(of("x.3.et", "").error().text, HasSubstr("'x.3.et'; expected the file of rank 0, NAME.0.et"));
  EXPECT_EQ(of("x", "num_ranks x\n").error().line, 1);
}

TEST(ReadTrace, NamesTheRankWhoseFileIsMissing) {
  const test::TemporaryFile first("t.0.et"), third("t.2.et"), fourth("t.3.et");
  for (const test::TemporaryFile* f : {&first, &third, &fourth}) f->put("");
  const std::string base = first.path().filename().string();
  const std::string name = base.substr(0, base.size() - std::string_view(".0.et").size());
  const auto graph = read_trace(first.path(), [](const std::filesystem::path&) -> std::expected<std::string, std::string> { return ""; });
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().text, name + ".1.et is missing, but " + name + ".2.et is there; expected a file of each rank");
}

}  // namespace
}  // namespace railyard::jobs
