#include "control/report/flow_csv.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/control/report/sample.h"

namespace railyard::report {
namespace {

// Without quoted fields.
std::vector<std::vector<std::string>> rows_of(const std::string& csv) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string>& row = rows.emplace_back();
    line += ',';
    for (std::size_t at = 0; at < line.size();) {
      const std::size_t end = line.find(',', at);
      row.push_back(line.substr(at, end - at));
      at = end + 1;
    }
  }
  return rows;
}

TEST(FlowCsv, HasARowForEachFlowWithTheNamesOfReportJson) {
  Report r = sample();
  r.flows[1].roce = sample_roce();
  const auto rows = rows_of(flow_csv(r));
  ASSERT_EQ(rows.size(), r.flows.size() + 1);
  for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size());
  const auto value = [&](std::size_t flow, const std::string& column) {
    const auto at = std::ranges::find(rows[0], column);
    return at == rows[0].end() ? "no column " + column : rows[flow + 1][static_cast<std::size_t>(at - rows[0].begin())];
  };
  for (std::size_t i = 0; i < r.flows.size(); ++i) {
    EXPECT_EQ(value(i, "name"), r.flows[i].name);
    EXPECT_EQ(value(i, "lost"), std::to_string(r.flows[i].lost));
    EXPECT_EQ(value(i, "latency_ns.p99"), std::to_string(r.flows[i].latency_ns.p99));
  }
  EXPECT_EQ(value(0, "roce.cnp_sent"), "") << "it is of the generator";
  EXPECT_EQ(value(1, "roce.cnp_sent"), std::to_string(r.flows[1].roce->cnp_sent));
}

TEST(FlowCsv, QuotesWhatWouldBeReadAsSeveral) {
  EXPECT_EQ(csv_field("a"), "a");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(csv_field("a\nb"), "\"a\nb\"");
}

// Whatever the flows have: of none, of one that nothing came of, of one over RoCE.
TEST(FlowCsv, ItsColumnsAreAlwaysTheSame) {
  Report r = sample();
  const auto columns = rows_of(flow_csv(Report{})).at(0);
  EXPECT_EQ(rows_of(flow_csv(r)).at(0), columns);
  for (FlowReport& f : r.flows) f.latency_ns = {};
  r.flows[1].roce = sample_roce();
  r.flows[1].roce->message_ns = {};
  const auto rows = rows_of(flow_csv(r));
  EXPECT_EQ(rows.at(0), columns);
  for (const auto& row : rows) EXPECT_EQ(row.size(), columns.size());
  for (const char* name : {"latency_ns.p50", "latency_ns.max", "roce.message_ns.p99", "uet.message_ns.p99", "uet.service"})
    EXPECT_THAT(columns, testing::Contains(name));
  EXPECT_THAT(columns, testing::Not(testing::Contains("latency_ns")));
}

}  // namespace
}  // namespace railyard::report
