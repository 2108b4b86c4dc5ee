// railyard compare-transports: the same lab in several columns; tables, files, messages.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/tools/railyard/command_line.h"

namespace railyard::tools {
namespace {

using testing::HasSubstr;
using testing::IsSupersetOf;

// Eight senders to one NIC, so that a lossless class and a lossy one are told apart.
constexpr const char* kIncast = R"(
name: incast
topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 5 }
switches: { default: { buffer: 2MiB } }
hosts: { default: { roce: { ack-timeout: 10 } } }
traffic:
  - { name: in, pattern: incast, fan-in: 8, to: h1, transport: roce, bytes: 1MB }
run: { drain: 20ms }
compare: { columns: [roce/gbn/ecmp/pfc, roce/sr/ecmp/lossy], metrics: [fct_max, retransmitted, xoff_sent] }
)";

class CompareTransports : public CommandLine {
 protected:
  CompareTransports() { write("incast.yaml", kIncast); }
};

TEST_F(CompareTransports, RunsTheColumnsOfTheFileSideBySide) {
  const Outcome o = railyard({"compare-transports", "incast.yaml", "--json"});
  ASSERT_EQ(o.exit_code, kOk) << o.err;
  const auto j = nlohmann::json::parse(o.out);
  ASSERT_EQ(j["columns"].size(), 2u);
  EXPECT_EQ(j["columns"][1]["name"], "roce/sr/ecmp/lossy");
  const auto& figures = j["blocks"][0]["figures"];
  EXPECT_EQ(figures["retransmitted"][0]["median"], 0) << "lossless";
  EXPECT_GT(figures["xoff_sent"][0]["median"], 0);
  EXPECT_GT(figures["retransmitted"][1]["median"], 0) << "lossy: what was dropped was sent again";
  EXPECT_EQ(figures["xoff_sent"][1]["median"], 0);
}

TEST_F(CompareTransports, IsMadeOverValuesAndSeedsAndLeavesReports) {
  const Outcome o = railyard({"compare-transports", "incast.yaml", "--column", "roce/gbn/pfc", "--column",
                              "roce/gbn/pfc,traffic.in.path-mtu=1024", "--over", "traffic.in.fan-in=2,4", "--seeds",
                              "1-2", "--report", "out"});
  ASSERT_EQ(o.exit_code, kOk) << o.err;
  EXPECT_THAT(o.out, HasSubstr("traffic.in.fan-in=4"));
  EXPECT_THAT(o.out, HasSubstr("roce/gbn/pfc,traffic.in.path-mtu=1024: traffic.in.transport=roce"));
  EXPECT_EQ(read("out/compare.txt"), o.out);
  EXPECT_EQ(nlohmann::json::parse(read("out/compare.json"))["blocks"].size(), 2u);
  EXPECT_THAT(read("out/compare.html"), HasSubstr("transports compared"));
  EXPECT_EQ(nlohmann::json::parse(read("out/roce-gbn-pfc-2-seed2/report.json"))["run"]["seed"], 2);
}

TEST_F(CompareTransports, ARunThatFailsIsOneColumnsLoss) {
  const Outcome o =
      railyard({"compare-transports", "incast.yaml", "--column", "roce/pfc", "--column", "roce/pfc,run.memory=1MiB"});
  EXPECT_EQ(o.exit_code, kFailed);
  EXPECT_THAT(o.out, HasSubstr("FAILED roce/pfc,run.memory=1MiB: seed 1: "));
}

TEST_F(CompareTransports, SaysWhatIsWrongBeforeAnythingRuns) {
  const auto wrong = [&](int code, std::vector<std::string> more) {
    more.insert(more.begin(), {"compare-transports", "incast.yaml"});
    return error(code, more);
  };
  EXPECT_THAT(wrong(kUsage, {"--column", "roce/gbm"}), HasSubstr("--column: 'gbm' is no word of a column"));
  EXPECT_THAT(wrong(kUsage, {"--column", "roce", "--column", "roce"}), HasSubstr("'roce' is there twice"));
  EXPECT_THAT(wrong(kSpec, {"--column", "roce,hosts.default.roce.windw=3"}), HasSubstr("did you mean 'window'?"));
  EXPECT_THAT(wrong(kUsage, {"--set", "run.clock=wall"}), HasSubstr("wall clock"));
  EXPECT_THAT(wrong(kUsage, {"--set", "traffic.in.transport=generator", "--set", "run.duration=1ms"}),
              HasSubstr("nothing that a transport carries"));
  EXPECT_THAT(wrong(kUsage, {"--metric", "fct_p98"}), HasSubstr("did you mean 'fct_p9"));
}

}  // namespace
}  // namespace railyard::tools
