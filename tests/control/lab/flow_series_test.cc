// A time series of flows, from the lab to the file.
#include "control/telemetry/flow_series.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/lab/session.h"
#include "control/spec/load.h"
#include "tests/support/temporary_file.h"

namespace railyard::lab {
namespace {

using namespace literals;

// A flow of the generators, and one of RoCE in the other direction that begins later. Both are over before the last look.
const std::string kTwoFlows = R"(name: two
nodes:
  leaf1: { kind: switch }
  h1: { kind: host }
  h2: { kind: host }
links: [[h1:1, leaf1:1], [h2:1, leaf1:2]]
traffic:
  - { name: g, from: h1, to: h2, payload: 1KB, rate: 10Gbps, stop: 80us }
  - { name: r, from: h2, to: h1, transport: roce, message: 100KB, bytes: 200KB, start: 50us }
run: { duration: 100us, drain: 1ms, memory: 256MiB }
)";

report::Report run_with(const SessionOptions::Series& series) {
  SessionOptions options;
  options.series = series;
  const std::atomic<bool> stop{false};
  return Session(spec::parse(kTwoFlows, "two.yaml"), std::move(options)).run(stop);
}

TEST(FlowSeries, AddsUpToTheReport) {
  const test::TemporaryFile queues("queues"), flows("flows");
  const report::Report r = run_with({queues.name(), 10_us, flows.name()});
  struct Sum {
    std::uint64_t sent = 0, delivered = 0;
    std::int64_t first_ns = 0;
  };
  std::map<std::string, Sum> sums;
  std::ifstream in(flows.name());
  std::string line;
  std::getline(in, line);
  EXPECT_EQ(line, "time_ns,flow,sent_bytes,delivered_bytes");
  while (std::getline(in, line)) {
    std::ranges::replace(line, ',', ' ');
    std::istringstream fields(line);
    std::int64_t at = 0;
    std::string name;
    std::uint64_t sent = 0, delivered = 0;
    fields >> at >> name >> sent >> delivered;
    EXPECT_TRUE(fields && fields.eof()) << line;
    EXPECT_EQ(at % 10'000, 0) << "on its grid";
    EXPECT_GT(sent + delivered, 0u) << "nothing to say";
    Sum& s = sums[name];
    if (s.sent + s.delivered == 0) s.first_ns = at;
    s.sent += sent;
    s.delivered += delivered;
  }
  ASSERT_EQ(sums.size(), 2u);
  for (const report::FlowReport& f : r.flows) {
    SCOPED_TRACE(f.name);
    EXPECT_EQ(sums[f.name].sent, f.bytes);
    EXPECT_EQ(sums[f.name].delivered, f.delivered_bytes);
    EXPECT_GT(f.delivered_bytes, 0u);
    EXPECT_EQ(sums[f.name].first_ns, f.roce ? 60'000 : 10'000);
  }
}

TEST(FlowSeries, NeedsNoSeriesOfQueuesBesideIt) {
  const test::TemporaryFile both("both"), alone("alone"), queues("queues");
  const auto text = [](const std::string& name) {
    std::ostringstream out;
    out << std::ifstream(name).rdbuf();
    return out.str();
  };
  run_with({queues.name(), 10_us, both.name()});
  run_with({"", 10_us, alone.name()});
  EXPECT_GT(text(alone.name()).size(), 100u);
  EXPECT_EQ(text(alone.name()), text(both.name()));
}

TEST(FlowSeries, AFileThatCannotBeWrittenIsSaid) {
  const test::TemporaryFile queues("queues");
  EXPECT_THAT([&] { run_with({queues.name(), 10_us, "/nowhere/flows.csv"}); },
              testing::ThrowsMessage<std::runtime_error>(
                  "--flow-series: cannot write /nowhere/flows.csv: No such file or directory"));
}

}  // namespace
}  // namespace railyard::lab
