// In-band telemetry from the fabric file to the records, the report and captures.
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "control/lab/session.h"
#include "control/spec/load.h"
#include "tests/dataplane/capture/pcapng_reader.h"
#include "tests/support/temporary_file.h"

namespace railyard::lab {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

//   h1..h3 at leaf1, h4..h6 at leaf2, two spines; h4 to h6 send to h1, twice as much as its link takes.
const std::string kToOne = R"(name: to-one
topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 3 }
traffic: [ { name: t, pattern: incast, from: [h4, h5, h6], to: h1, dscp: 26, payload: 1KB, bytes: 200KB } ]
run: { duration: 1ms, memory: 256MiB, int: { one-in: 5 } }
)";

struct IntRun {
  report::Report report;
  std::vector<json> records;
};

IntRun run_to_one(const std::vector<std::string>& overrides = {}, SessionOptions options = {}) {
  const test::TemporaryFile file("records.jsonl");
  options.int_file = file.name();
  options.digest = true;
  const std::atomic<bool> stop{false};
  IntRun out{Session(spec::parse(kToOne, "to-one.yaml", overrides), std::move(options)).run(stop), {}};
  std::istringstream lines(file.octets());
  for (std::string line; std::getline(lines, line);) out.records.push_back(json::parse(line));
  return out;
}

TEST(InBandRecords, EachHopOfASampledPacketHasOne) {
  const IntRun run = run_to_one();
  ASSERT_TRUE(run.report.in_band.has_value());
  const telemetry::IntReport& r = *run.report.in_band;
  EXPECT_EQ(r.one_in, 5u);
  EXPECT_EQ(r.arrived, r.sampled);
  EXPECT_EQ(r.records, run.records.size());
  EXPECT_EQ(r.records, 5 * r.sampled) << "h, leaf2, a spine, leaf1, h1";
  EXPECT_NEAR(static_cast<double>(r.sampled), 600.0 / 5, 45);

  std::int64_t egress = 0;
  std::set<std::string> flows;
  for (std::size_t i = 0; i < run.records.size(); ++i) {
    const json& j = run.records[i];
    EXPECT_EQ(j["packet"], i / 5);
    EXPECT_EQ(j["hop"], i % 5);
    EXPECT_EQ(j["class"], 3);
    EXPECT_EQ(j["octets"], 14 + 20 + 8 + 12 + 1000 + 4 + 4);
    EXPECT_TRUE(j["dropped"].is_null());
    flows.insert(j["flow"].get<std::string>());
    if (i % 5 == 0) {
      EXPECT_TRUE(j["in"].is_null());
      EXPECT_EQ(j["end"], "arrived");
    } else {
      EXPECT_FALSE(j.contains("end"));
      EXPECT_GT(j["ingress_ps"].get<std::int64_t>(), egress) << "later than it left the hop before";
    }
    if (i % 5 == 4) {
      EXPECT_EQ(j["node"], "h1");
      EXPECT_TRUE(j["out"].is_null());
      EXPECT_TRUE(j["egress_ps"].is_null());
    } else {
      egress = j["egress_ps"].get<std::int64_t>();
    }
    if (i % 5 == 3) {
      EXPECT_EQ(j["node"], "leaf1");
    }
  }
  EXPECT_EQ(flows, (std::set<std::string>{"t/h4->h1", "t/h5->h1", "t/h6->h1"}));
}

TEST(InBandRecords, TheReportSumsThemUp) {
  const IntRun run = run_to_one();
  std::map<std::pair<std::string, int>, std::uint64_t> longest;
  std::map<std::pair<std::string, int>, std::uint64_t> packets;
  for (const json& j : run.records) {
    if (j["in"].is_null() || j["out"].is_null()) continue;
    const std::pair at{j["node"].get<std::string>(), j["out"].get<int>()};
    longest[at] = std::max(longest[at], j["waited_ps"].get<std::uint64_t>());
    ++packets[at];
  }
  const json all = json::parse(run.report.json())["int"];
  EXPECT_EQ(all["records"], run.records.size());
  EXPECT_EQ(all["queues"].size(), longest.size());
  for (const json& q : all["queues"]) {
    const std::pair at{q["node"].get<std::string>(), q["port"].get<int>()};
    EXPECT_EQ(q["packets"], packets[at]);
    EXPECT_EQ(q["waited_ns"]["max"], longest[at] / 1000);
  }
  EXPECT_EQ(all["queues"][0]["node"], "leaf1");
  EXPECT_EQ(all["queues"][0]["peer"], "h1:1");
  ASSERT_EQ(all["slowest"].size(), 8u);
  EXPECT_GE(all["slowest"][0]["latency_ns"], all["slowest"][7]["latency_ns"]);
  EXPECT_EQ(all["slowest"][0]["hops"].size(), 5u);
  EXPECT_THAT(run.report.text(), HasSubstr("In-band telemetry: 1 packet in 5 sampled"));
  EXPECT_THAT(run.report.text(), HasSubstr("Slowest packets, with their waiting time per hop:"));
}

TEST(InBandRecords, WithoutItThereIsNoneAndTheRunIsTheSame) {
  SessionOptions options;
  options.digest = true;
  const std::atomic<bool> stop{false};
  const report::Report plain = Session(spec::parse(kToOne, "to-one.yaml", {"run.int="}), std::move(options)).run(stop);
  EXPECT_FALSE(plain.in_band.has_value());
  EXPECT_FALSE(json::parse(plain.json()).contains("int"));
  EXPECT_THAT(plain.text(), Not(HasSubstr("telemetry")));
  const IntRun run = run_to_one({"run.workers=2"});
  EXPECT_EQ(run.report.trace_digest, plain.trace_digest);
  EXPECT_TRUE(run.records == run_to_one().records);
}

// A frame that is sampled carries in its capture where it has been; others do not.
TEST(InBandRecords, CapturesHaveThemAsComments) {
  const test::TemporaryFile file("leaf1-1.pcapng");
  SessionOptions options;
  options.captures = {{{"leaf1", 1}, file.name(), CaptureDirection::kOut}};
  const IntRun run = run_to_one({}, std::move(options));
  std::size_t sampled = 0;
  std::size_t plain = 0;
  std::vector<std::string> first;
  for (const test::Frame& f : test::frames_of(file.octets())) {
    std::vector<std::string> hops;
    for (const auto& [code, value] : f.options)
      if (code == 1 && value.starts_with("INT ")) hops.push_back(value);
    hops.empty() ? ++plain : ++sampled;
    if (hops.empty()) continue;
    ASSERT_EQ(hops.size(), 4u);
    EXPECT_THAT(hops[0], HasSubstr("INT 0: h"));
    EXPECT_THAT(hops[1], HasSubstr("INT 1: leaf2 port "));
    EXPECT_THAT(hops[2], HasSubstr("INT 2: spine"));
    EXPECT_THAT(hops[3], HasSubstr("INT 3: leaf1 port "));
    if (first.empty()) first = hops;
  }
  EXPECT_EQ(sampled, run.report.in_band->sampled);
  EXPECT_GT(plain, sampled);
  // What the comment says is what the record says.
  const std::string last = first.at(3);
  bool found = false;
  for (const json& j : run.records) {
    if (j["node"] != "leaf1" || j["out"].is_null()) continue;
    const auto ps = [](const json& v) {
      const auto n = v.get<std::int64_t>();
      return fmt::format("{}.{:03} ns", n / 1000, n % 1000);
    };
    found |=
        last == fmt::format("INT 3: leaf1 port {} -> 1, class 3, in {}, out {}, queue {} octets, waited {}{}",
                            j["in"].get<int>(), ps(j["ingress_ps"]), ps(j["egress_ps"]), j["queue_octets"].get<int>(),
                            ps(j["waited_ps"]), j["ce"].get<bool>() ? ", CE set" : "");
  }
  EXPECT_TRUE(found) << last;
}

TEST(InBandRecords, AFileThatCannotBeWrittenIsRefusedBeforeTheRun) {
  SessionOptions options;
  options.int_file = "/nowhere/int.jsonl";
  try {
    Session session(spec::parse(kToOne, "to-one.yaml"), std::move(options));
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "--int: cannot write /nowhere/int.jsonl: No such file or directory");
  }
}

TEST(InBandRecords, SoIsAFlowThatIsNone) {
  try {
    Session session(spec::parse(kToOne, "to-one.yaml", {"run.int.flows=[t/h4->h2]"}), {});
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "in-band telemetry: there is no flow 't/h4->h2'; did you mean 't/h4->h1'?");
  }
}

}  // namespace
}  // namespace railyard::lab
