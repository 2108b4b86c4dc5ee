// What programs get: every field that is promised, with its type, on standard output and in report.json.
#include <algorithm>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/tools/railyard/command_line.h"

namespace railyard::tools {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

class JsonReport : public CommandLine {
 protected:
  Json run(std::vector<std::string> options) const {
    options.insert(options.begin(), {"run", "lab.yaml", "--json"});
    const Outcome o = railyard(options);
    EXPECT_EQ(o.exit_code, kOk) << o.err;
    EXPECT_EQ(o.err, "");
    return Json::parse(o.out);
  }
};

enum class Type { kText, kCount, kNumber, kFlag, kMap, kList };

void expect(const Json& in, const std::string& path, Type type) {
  const Json::json_pointer at(path);
  ASSERT_TRUE(in.contains(at)) << path << " is missing in " << in.dump();
  const Json& value = in[at];
  switch (type) {
    case Type::kText:
      EXPECT_TRUE(value.is_string()) << path;
      break;
    case Type::kCount:
      EXPECT_TRUE(value.is_number_integer()) << path;
      break;
    case Type::kNumber:
      EXPECT_TRUE(value.is_number()) << path;
      break;
    case Type::kFlag:
      EXPECT_TRUE(value.is_boolean()) << path;
      break;
    case Type::kMap:
      EXPECT_TRUE(value.is_object()) << path;
      break;
    case Type::kList:
      EXPECT_TRUE(value.is_array()) << path;
      break;
  }
}

TEST_F(JsonReport, HasEveryFieldThatIsPromised) {
  const Json r = run({"--digest"});
  for (const char* field : {"/run/spec", "/run/clock", "/run/version", "/run/payload", "/trace_digest"})
    expect(r, field, Type::kText);
  for (const char* field : {"/run/seed", "/run/workers"}) expect(r, field, Type::kCount);

  ASSERT_EQ(r["flows"].size(), 1u);
  const Json& flow = r["flows"][0];
  for (const char* field : {"/name", "/src", "/dst"}) expect(flow, field, Type::kText);
  for (const char* field :
       {"/class", "/bytes", "/packets", "/lost", "/reordered", "/duplicated", "/start_ns", "/fct_ns", "/latency_ns/p50",
        "/latency_ns/p90", "/latency_ns/p99", "/latency_ns/p999", "/latency_ns/max"})
    expect(flow, field, Type::kCount);
  expect(flow, "/goodput_bps", Type::kNumber);

  ASSERT_EQ(r["ports"].size(), 4u);  // h1, h2 and two of leaf1
  for (const Json& port : r["ports"]) {
    expect(port, "/node", Type::kText);
    for (const char* field : {"/port", "/rate_bps", "/rx/packets", "/rx/bytes", "/tx/packets", "/tx/bytes"})
      expect(port, field, Type::kCount);
    expect(port, "/utilisation", Type::kNumber);
    ASSERT_FALSE(port["classes"].empty());
    for (const Json& c : port["classes"]) {
      for (const char* field : {"/ecn_marked", "/pfc_sent", "/pfc_received", "/pfc_not_enabled", "/paused_ns",
                                "/max_depth_bytes"})
        expect(c, field, Type::kCount);
      expect(c, "/drops", Type::kMap);
    }
  }

  expect(r, "/path_groups", Type::kList);
  for (const char* field : {"/engine/packet_hops", "/engine/peak_rss_bytes"}) expect(r, field, Type::kCount);
  for (const char* field : {"lateness_ns", "slip_ns", "busy_seconds", "gaps"})
    EXPECT_TRUE(r["engine"][field].is_null()) << field << ": nothing is late under the virtual clock";
  for (const char* field : {"/engine/cpu_seconds", "/engine/wall_seconds", "/engine/simulated_seconds"})
    expect(r, field, Type::kNumber);
  expect(r, "/audit/balanced", Type::kFlag);
}

TEST_F(JsonReport, AHopIsAFrameThatLeavesASwitch) {
  // Two tiers, congested: pause frames are no hops.
  const Outcome o = railyard({"run", topology("incast-8to1.yaml"), "--duration", "1ms", "--json"});
  ASSERT_EQ(o.exit_code, kOk) << o.err;
  const Json r = Json::parse(o.out);
  std::uint64_t sent = 0;
  std::uint64_t pauses = 0;
  for (const Json& port : r["ports"]) {
    for (const Json& c : port["classes"]) pauses += c["pfc_sent"].get<std::uint64_t>();
    const auto node = port["node"].get<std::string>();
    if (node.starts_with("leaf") || node.starts_with("spine")) sent += port["tx"]["packets"].get<std::uint64_t>();
  }
  EXPECT_GT(pauses, 0u);
  EXPECT_EQ(r["engine"]["packet_hops"].get<std::uint64_t>(), sent);
  EXPECT_GT(r["engine"]["cpu_seconds"].get<double>(), 0);
}

TEST_F(JsonReport, HasTheRightNumbers) {
  const Json r = run({"--seed", "5", "--payload", "real", "--workers", "2"});
  EXPECT_EQ(r["run"]["spec"], "lab.yaml");
  EXPECT_EQ(r["run"]["seed"], 5);
  EXPECT_EQ(r["run"]["clock"], "virtual");
  EXPECT_EQ(r["run"]["payload"], "real");
  EXPECT_EQ(r["run"]["workers"], 2);
  EXPECT_EQ(r["flows"][0]["name"], "t/h1->h2");
  EXPECT_EQ(r["flows"][0]["class"], 3);
  EXPECT_EQ(r["flows"][0]["bytes"], 100'000);
  EXPECT_EQ(r["flows"][0]["packets"], 25);  // 24 of 4096 and one of 1696
  EXPECT_EQ(r["flows"][0]["lost"], 0);
  EXPECT_EQ(r["engine"]["packet_hops"], 25);
  EXPECT_EQ(r["audit"]["balanced"], true);
  EXPECT_TRUE(r["trace_digest"].is_null());
}

TEST_F(JsonReport, OfAFlowOverRoceSaysWhatItsQpsCounted) {
  const Json r = run({"--payload", "real", "--set", "traffic.t.transport=roce", "--set", "traffic.t.message=30KB"});
  const Json& flow = r["flows"][0];
  EXPECT_EQ(flow["transport"], "roce");
  EXPECT_EQ(flow["delivered_bytes"], 100'000);
  for (const char* field : {"/operation", "/status"}) expect(flow["roce"], field, Type::kText);
  for (const char* field :
       {"/qps", "/messages", "/verified", "/message_ns/p50", "/message_ns/p99", "/message_ns/max", "/discarded",
        "/retransmitted_packets", "/out_of_sequence", "/packet_seq_err", "/implied_nak_seq_err", "/duplicate_request",
        "/out_of_buffer", "/rnr_nak_received", "/local_ack_timeout_err", "/ecn_marked", "/cnp_sent", "/cnp_handled",
        "/cnp_ignored", "/completion_errors"})
    expect(flow["roce"], field, Type::kCount);
  EXPECT_EQ(flow["roce"]["messages"], 4);
  EXPECT_EQ(flow["roce"]["verified"], 4);
  EXPECT_TRUE(flow["roce"]["failed_ns"].is_null());
  EXPECT_EQ(flow["fct_ns"].get<std::int64_t>() > 8000, true) << "100 KB at 100 Gb/s";
  EXPECT_EQ(r["audit"]["balanced"], true);
}

TEST_F(JsonReport, IsWrittenToTheFolderToo) {
  const Outcome o = railyard({"run", "lab.yaml", "--json", "--report", "results/today"});
  EXPECT_EQ(o.exit_code, kOk) << o.err;
  EXPECT_EQ(read("results/today/report.json"), o.out);
  EXPECT_THAT(read("results/today/report.txt"), HasSubstr("t/h1->h2"));
}

TEST_F(JsonReport, HasTheRecordsOfInBandTelemetryBesideIt) {
  const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  const Json r = run({"--set", "run.int.one-in=1", "--report", "here"});
  EXPECT_EQ(r["int"]["sampled"], 25);
  EXPECT_EQ(r["int"]["not_kept"], 0);
  EXPECT_EQ(lines(read("here/int.jsonl")), 75) << "h1, leaf1 and h2";
  // With a name of its own, whether the lab asks for it or not.
  EXPECT_EQ(run({"--int", "hops.jsonl", "--int-one-in", "1"})["int"]["records"], 75);
  EXPECT_EQ(read("hops.jsonl"), read("here/int.jsonl"));
  EXPECT_EQ(run({"--int", "few.jsonl"})["int"]["one_in"], 1000);
}

TEST_F(JsonReport, IsTextWithoutTheOption) {
  const Outcome o = railyard({"run", "lab.yaml"});
  EXPECT_EQ(o.exit_code, kOk);
  EXPECT_EQ(o.err, "") << "no progress bar where there is no terminal";
  EXPECT_THAT(o.out, HasSubstr("small: 1.00 ms of simulated time, virtual clock, seed 1, elided payload\n"));
  EXPECT_THAT(o.out, HasSubstr("Packet accounting: balanced; 0 packets in flight.\n"));
}

TEST_F(JsonReport, OfTheWallClockSaysHowLateItWas) {
  const Json r = run({"--clock", "wall", "--quiet"});
  EXPECT_EQ(r["run"]["clock"], "wall");
  EXPECT_EQ(r["flows"][0]["lost"], 0);
  EXPECT_GT(r["engine"]["lateness_ns"]["max"], 0);
}

}  // namespace
}  // namespace railyard::tools
