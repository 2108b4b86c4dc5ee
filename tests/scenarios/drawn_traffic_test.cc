// RoCE traffic whose sizes and arrivals are drawn, or listed in files, as whole runs: everything ends, everything is
// verified, and the report has the distributions that people compare.
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

// Eight hosts under two leaves, over RoCE with DCQCN; `keys` of traffic t.
std::string drawn(const std::string& keys) {
  return R"(
name: drawn
topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 4, fabric-link: { rate: 200Gbps } }
qos:
  default:
    classes:
      3: { lossless: true, alpha: 1/8, ecn: { kmin: 100KB, kmax: 400KB, pmax: 20% } }
      6: { strict: true }
hosts:
  default:
    roce: { congestion: dcqcn, ack-timeout: 10, dcqcn: { profile: vendor, rpg-ai-rate: 1Gbps, rpg-min-rate: 1Gbps } }
traffic:
  - { name: t, transport: roce, )" +
         keys + " }\n";
}

void expect_ordered(const report::Spread& s, std::uint64_t count, const char* what) {
  EXPECT_EQ(s.count, count) << what;
  EXPECT_LE(s.min, s.p50) << what;
  EXPECT_LE(s.p50, s.p95) << what;
  EXPECT_LE(s.p95, s.p99) << what;
  EXPECT_LE(s.p99, s.max) << what;
}

// All of traffic t is complete and right; its report.
report::TrafficReport run_right(Scenario& s) {
  s.run_to_the_end();
  s.expect_books_balance();
  const report::Report r = s.report();
  std::uint64_t octets = 0;
  for (const report::FlowReport& f : r.flows) {
    EXPECT_TRUE(f.fct_ns.has_value()) << f.name;
    EXPECT_EQ(f.roce->verified, f.roce->messages) << f.name;
    EXPECT_GT(f.roce->messages, 0u) << f.name;
    EXPECT_EQ(f.corrupted, 0u) << f.name;
    octets += f.delivered_bytes;
  }
  const report::TrafficReport t = r.traffic.at(0);
  EXPECT_EQ(t.flows, r.flows.size());
  EXPECT_EQ(t.complete, t.flows);
  EXPECT_EQ(t.with_end, t.flows);
  EXPECT_EQ(t.delivered_bytes, octets);
  expect_ordered(t.fct_ns, t.flows, "FCT");
  expect_ordered(t.slowdown, t.flows, "slowdown");
  EXPECT_GE(t.slowdown.min, 0.999) << "nobody is faster than an empty fabric";
  const auto j = nlohmann::json::parse(r.json())["traffic"][0];
  for (const char* percentile : {"p50", "p95", "p99"}) EXPECT_GT(j["fct_ns"][percentile], 0) << percentile;
  EXPECT_EQ(j["by_size"].size(), t.by_size.size());
  return t;
}

TEST(DrawnTraffic, WebSearchAtALoadByEveryOperation) {
  for (const char* operation : {"write", "send", "read"}) {
    SCOPED_TRACE(operation);
    Scenario s(drawn(std::string("pattern: random, from: h*, to: h*, sizes: web-search, load: 40%, stop: 4ms, "
                                 "operation: ") +
                     operation));
    const report::TrafficReport t = run_right(s);
    EXPECT_GT(t.flows, 40u);
    // 40 % of eight links of 100 Gb/s for 4 ms, in the mean; few flows make up most of it.
    EXPECT_NEAR(static_cast<double>(t.delivered_bytes), 0.4 * 8 * 100e9 / 8 * 4e-3, 0.6 * 0.4 * 8 * 100e9 / 8 * 4e-3);
    ASSERT_GT(t.by_size.size(), 2u);
    std::uint64_t flows = 0;
    for (const report::SizeBin& b : t.by_size) {
      flows += b.flows;
      EXPECT_LT(b.from, b.below);
      if (b.flows > 0) expect_ordered(b.fct_ns, b.flows, "by size");
    }
    EXPECT_EQ(flows, t.flows);
    EXPECT_GT(t.by_size.back().fct_ns.p50, t.by_size.front().fct_ns.p50) << "long flows take longer";
  }
}

TEST(DrawnTraffic, EveryDistributionUnderLoss) {
  struct Case {
    const char* sizes;
    const char* payload;
  };
  // One flow of data mining may be hundreds of megabytes: without real octets.
  for (const auto& [sizes, payload] : {Case{"mice", "real"}, Case{"storage", "real"}, Case{"data-mining", "elided"},
                                       Case{"[[2KB, 50%], [200KB, 100%]]", "real"}}) {
    SCOPED_TRACE(sizes);
    Scenario s(drawn(std::string("pattern: random, from: h*, to: h*, load: 20%, stop: 500us, sizes: ") + sizes),
               {std::string("run.payload=") + payload, "faults=[{ name: lossy, on: spine1:1, loss: 0.5% }]"});
    const report::TrafficReport t = run_right(s);
    EXPECT_GT(t.flows, 0u);
  }
}

class ListedTraffic : public testing::Test {
 protected:
  ListedTraffic() { std::filesystem::create_directories(folder_); }
  ~ListedTraffic() override { std::filesystem::remove_all(folder_); }
  report::TrafficReport run(const std::string& name, const std::string& text, const std::string& more = "") {
    std::ofstream(folder_ / name) << text;
    scenario_.emplace(drawn("pattern: file, file: " + (folder_ / name).string() + more));
    return run_right(*scenario_);
  }
  std::optional<Scenario> scenario_;

 private:
  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / "railyard-listed-traffic";
};

TEST_F(ListedTraffic, FlowsOfACsvAreThoseThatItSays) {
  const report::TrafficReport t = run("f.csv",
                                      "from,to,bytes,start\n"
                                      "h1,h5,1MB,0\n"
                                      "h2,h5,300KB,10us\n"
                                      "h3,h6,1,20us\n"
                                      "h5,h1,64KiB,1ms\n",
                                      ", start: 5us");
  EXPECT_EQ(t.flows, 4u);
  const report::Report r = scenario_->report();
  const std::vector<std::uint64_t> bytes{1'000'000, 300'000, 1, 65'536};
  const std::vector<std::int64_t> starts{5'000, 15'000, 25'000, 1'005'000};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(r.flows[i].delivered_bytes, bytes[i]);
    EXPECT_EQ(r.flows[i].start_ns, starts[i]);
  }
}

// An all-to-all of four nodes as htsim's tools write it.
TEST_F(ListedTraffic, AConnectionMatrixOfHtsimRuns) {
  std::string text = "Nodes 4\nConnections 12\n";
  int id = 1;
  for (int from = 0; from < 4; ++from)
    for (int to = 0; to < 4; ++to)
      if (from != to)
        text += std::to_string(from) + "->" + std::to_string(to) + " id " + std::to_string(id++) + " start " +
                std::to_string(from * 1'000'000) + " size 200000\n";
  const report::TrafficReport t = run("a.cm", text, ", from: [h1, h2, h5, h6]");
  EXPECT_EQ(t.flows, 12u);
  EXPECT_EQ(t.delivered_bytes, 12u * 200'000);
  const report::Report r = scenario_->report();
  EXPECT_EQ(r.flows[11].source, "h6");
  EXPECT_EQ(r.flows[11].destination, "h5");
  EXPECT_EQ(r.flows[11].start_ns, 3'000);
}

}  // namespace
}  // namespace railyard::test
