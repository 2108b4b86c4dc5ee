// A time series of queues, from the lab to the file.
#include "control/telemetry/queue_series.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/lab/session.h"
#include "control/spec/load.h"
#include "tests/support/temporary_file.h"

namespace railyard::lab {
namespace {

using namespace literals;

//   h1..h4 send to h5 at one switch, twice as much as its link takes: a queue, marks, pauses.
const std::string kCongested = R"(name: congested
nodes:
  leaf1: { kind: switch }
  h1: { kind: host }
  h2: { kind: host }
  h3: { kind: host }
  h4: { kind: host }
  h5: { kind: host }
links: [[h1:1, leaf1:1], [h2:1, leaf1:2], [h3:1, leaf1:3], [h4:1, leaf1:4], [h5:1, leaf1:5]]
switches: { default: { buffer: 2MiB } }
traffic: [ { name: t, pattern: incast, from: [h1, h2, h3, h4], to: h5, dscp: 26, rate: 50Gbps } ]
run: { duration: 300us, drain: 2ms, memory: 256MiB }
)";

struct Line {
  std::int64_t time_ns;
  std::string port;
  int priority;
  std::uint64_t depth, held, tx, marked, paused_ns, xoff, dropped;
};

std::vector<Line> lines_of(const std::string& file) {
  std::ifstream in(file);
  std::string text;
  std::getline(in, text);
  EXPECT_EQ(text, "time_ns,port,class,depth_bytes,held_cells,tx_bytes,ecn_marked,paused_ns,xoff_sent,dropped");
  std::vector<Line> lines;
  while (std::getline(in, text)) {
    std::ranges::replace(text, ',', ' ');
    Line l;
    std::istringstream fields(text);
    fields >> l.time_ns >> l.port >> l.priority >> l.depth >> l.held >> l.tx >> l.marked >> l.paused_ns >> l.xoff >>
        l.dropped;
    EXPECT_TRUE(fields && fields.eof()) << text;
    lines.push_back(l);
  }
  return lines;
}

report::Report run_with_series(const std::string& file, Duration every,
                               const std::vector<std::string>& overrides = {}) {
  SessionOptions options;
  options.digest = true;
  if (!file.empty()) options.series = {file, every};
  const std::atomic<bool> stop{false};
  return Session(spec::parse(kCongested, "congested.yaml", overrides), std::move(options)).run(stop);
}

TEST(QueueSeries, AddsUpToTheReport) {
  const test::TemporaryFile file("series");
  const report::Report r = run_with_series(file.name(), 10_us);
  struct Sum {
    std::uint64_t tx = 0, marked = 0, paused_ns = 0, xoff = 0, most = 0, last_depth = 0;
  };
  std::map<std::pair<std::string, int>, Sum> sums;
  for (const Line& l : lines_of(file.name())) {
    EXPECT_EQ(l.time_ns % 10'000, 0) << "on its grid";
    Sum& s = sums[{l.port, l.priority}];
    s.tx += l.tx;
    s.marked += l.marked;
    s.paused_ns += l.paused_ns;
    s.xoff += l.xoff;
    s.most = std::max(s.most, l.depth);
    s.last_depth = l.depth;
  }
  const Sum& bottleneck = sums[{"leaf1:5", 3}];
  EXPECT_GT(bottleneck.marked, 0u);
  EXPECT_GT((sums[{"h1:1", 3}].paused_ns), 0u);
  for (const report::PortReport& p : r.ports)
    for (int k = 0; k < 8; ++k) {
      const ClassCounters& c = p.counters.classes[static_cast<std::size_t>(k)];
      const Sum& s = sums[{p.node + ":" + std::to_string(p.port), k}];
      EXPECT_EQ(s.tx, c.tx_octets) << p.node << ":" << p.port << " class " << k;
      EXPECT_EQ(s.marked, c.ecn_marked);
      EXPECT_EQ(s.xoff, c.xoff_sent);
      EXPECT_NEAR(static_cast<double>(s.paused_ns), static_cast<double>(c.paused.ps) / 1000, 250) << "whole ns a line";
      EXPECT_LE(s.most, c.max_depth_octets);
      EXPECT_EQ(s.last_depth, 0u) << "the last line says that it is empty";
    }
  // Looked at every 10 us, the deepest queue is seen at nearly its deepest.
  const auto port = std::ranges::find_if(r.ports, [](const auto& p) { return p.node == "leaf1" && p.port == 5; });
  EXPECT_GT(static_cast<double>(bottleneck.most),
            0.8 * static_cast<double>(port->counters.classes[3].max_depth_octets));
}

TEST(QueueSeries, LookingChangesNothing) {
  const test::TemporaryFile file("series");
  const auto quiet = run_with_series("", {}).trace_digest;
  EXPECT_EQ(run_with_series(file.name(), 1_us).trace_digest, quiet);
  const auto one = lines_of(file.name()).size();
  EXPECT_EQ(run_with_series(file.name(), 1_us, {"run.workers=2"}).trace_digest, quiet);
  EXPECT_EQ(lines_of(file.name()).size(), one);
}

TEST(QueueSeries, CountsWhatIsDropped) {
  const test::TemporaryFile file("series");
  const report::Report r = run_with_series(file.name(), 10_us, {"qos.default.classes.3.lossless=false"});
  std::uint64_t dropped = 0;
  for (const Line& l : lines_of(file.name())) dropped += l.dropped;
  EXPECT_GT(dropped, 0u);
  EXPECT_EQ(dropped, r.audit.dropped);
}

TEST(QueueSeries, FinerThanTheWindowOrToNowhereIsRefused) {
  const test::TemporaryFile file("series");
  const auto error_of = [](const std::string& to, Duration every) -> std::string {
    try {
      run_with_series(to, every);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_THAT(error_of(file.name(), 1_ns), testing::HasSubstr("--series-every: 1ns; expected at least"));
  EXPECT_THAT(error_of("/nowhere/at/all.csv", 10_us), testing::HasSubstr("--series: cannot write /nowhere/at/all.csv"));
}

}  // namespace
}  // namespace railyard::lab
