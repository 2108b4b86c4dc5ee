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
  EXPECT_THAT(o.out, testing::ContainsRegex("traffic.in.path-mtu +4096 +1024"));
  EXPECT_EQ(read("out/compare.txt"), o.out);
  EXPECT_EQ(nlohmann::json::parse(read("out/compare.json"))["blocks"].size(), 2u);
  EXPECT_THAT(read("out/compare.html"), HasSubstr("transports compared"));
  EXPECT_EQ(nlohmann::json::parse(read("out/roce-gbn-pfc-2-seed2/report.json"))["run"]["seed"], 2);
}

TEST_F(CompareTransports, ARunThatFailsIsOneColumnsLoss) {
  const Outcome o = railyard({"compare-transports", "incast.yaml", "--column", "roce/pfc", "--column",
                              "roce/pfc,run.memory=1MiB,traffic.in.path-mtu=256"});
  EXPECT_EQ(o.exit_code, kFailed);
  EXPECT_THAT(o.out, HasSubstr("FAILED roce/pfc,run.memory=1MiB,traffic.in.path-mtu=256: seed 1: "));
}

// Eight senders share one link: each has an eighth of it at most, and lossless classes pause those that want more.
TEST_F(CompareTransports, FindsTheHighestRateThatHoldsOfEachColumn) {
  const std::vector<std::string> command{
      "compare-transports", "incast.yaml", "--search", "traffic.in.rate=5Gbps..20Gbps",
      "--resolution",       "5%",          "--report", "out"};
  const Outcome o = railyard(command);
  ASSERT_EQ(o.exit_code, kOk) << o.err << o.out;
  const auto j = nlohmann::json::parse(read("out/compare.json"));
  EXPECT_EQ(j["search"]["path"], "traffic.in.rate");
  EXPECT_EQ(j["search"]["until"], "drops=0 and lost=0 and retransmitted=0 and accepted>=0.995");
  const auto& figures = j["blocks"][0]["figures"];
  for (std::size_t c = 0; c < 2; ++c) {
    const double found = figures["traffic.in.rate"][c]["median"].get<double>();
    EXPECT_GE(found, 11e9) << c;
    EXPECT_LE(found, 12.5e9) << c << ": an eighth of 100 Gb/s";
    EXPECT_EQ(figures["xoff_sent"][c]["median"], 0) << c << ": the figures are from the run with that rate";
  }
  EXPECT_THAT(o.out, HasSubstr("traffic.in.rate: the highest of 5Gbps..20Gbps with drops=0 and lost=0"));
  const auto report = nlohmann::json::parse(read("out/roce-gbn-ecmp-pfc/report.json"));
  EXPECT_GE(report["summary"]["accepted"].get<double>(), 0.999);
  EXPECT_THAT(read("out/compare.html"), HasSubstr("the highest of 5Gbps..20Gbps"));
}

TEST_F(CompareTransports, ASearchThatNothingMeetsHasFailed) {
  const Outcome o = railyard({"compare-transports", "incast.yaml", "--column", "roce/pfc", "--search",
                              "traffic.in.rate=15Gbps..20Gbps", "--resolution", "20%"});
  EXPECT_EQ(o.exit_code, kFailed);
  EXPECT_THAT(o.out, HasSubstr("FAILED roce/pfc: seed 1: even traffic.in.rate=15Gbps does not meet 'drops=0 and lost=0"));
}

// UUD sends nothing again: of eight datagrams flows some lack a packet for ever.
TEST_F(CompareTransports, WhoDidNotCompleteAllHasNoStarForTheRest) {
  const Outcome o = railyard({"compare-transports", "incast.yaml", "--column", "roce/sr/lossy", "--column",
                              "uet/uud/lossy,traffic.in.message=4KB,traffic.in.operation=send", "--metric",
                              "completed,fct_max,missing", "--set",
                              "qos.default.classes.3={ lossless: false, queue-alpha: 1/64 }", "--report", "out"});
  ASSERT_EQ(o.exit_code, kOk) << o.err << o.out;
  const auto block = nlohmann::json::parse(read("out/compare.json"))["blocks"][0];
  EXPECT_EQ(block["figures"]["completed"][0]["median"], 1);
  EXPECT_EQ(block["figures"]["missing"][0]["median"], 0);
  EXPECT_LT(block["figures"]["completed"][1]["median"], 1);
  EXPECT_GT(block["figures"]["missing"][1]["median"], 0);
  EXPECT_THAT(block["incomplete"][1].get<std::string>(), HasSubstr(" of 8"));
  for (const auto& cell : block["figures"]["fct_max"])
    if (!cell.is_null()) {
      EXPECT_EQ(cell["best"], false) << cell;
    }
}

// Figures that this lab lacks are "-"; what was run is not thrown away for them.
TEST_F(CompareTransports, AFigureThatNoRunHasIsARowWithoutFigures) {
  const Outcome o = railyard({"compare-transports", "incast.yaml", "--metric", "fct_max,busbw,/collectives/0/busbw_bps"});
  ASSERT_EQ(o.exit_code, kOk) << o.err;
  EXPECT_THAT(o.out, testing::ContainsRegex("busbw +- +-\n"));
  EXPECT_THAT(o.out, testing::ContainsRegex("/collectives/0/busbw_bps +- +-\n"));
}

TEST_F(CompareTransports, KeysThatTakeTheSameAreOneDimension) {
  const Outcome o = railyard({"compare-transports", "incast.yaml", "--over",
                              "traffic.in.bytes+traffic.in.message=64KB,128KB", "--column", "uet/rud/trim", "--json"});
  ASSERT_EQ(o.exit_code, kOk) << o.err;
  const auto j = nlohmann::json::parse(o.out);
  EXPECT_EQ(j["blocks"].size(), 2u);
  EXPECT_EQ(j["blocks"][1]["over"][0], "traffic.in.bytes+traffic.in.message=128KB");
}

// The end of a run with what passed before it settled.
TEST_F(CompareTransports, LooksForWhatPassesIfSomebodyAsks) {
  const Outcome o =
      railyard({"compare-transports", "incast.yaml", "--column", "uet/rud/trim,qos.default.classes.3.queue-alpha=1/64",
                "--metric", "repair_after,trimmed,convergence", "--json"});
  ASSERT_EQ(o.exit_code, kOk) << o.err;
  const auto figures = nlohmann::json::parse(o.out)["blocks"][0]["figures"];
  ASSERT_GT(figures["trimmed"][0]["median"], 0);
  EXPECT_GE(figures["repair_after"][0]["median"], 1000) << "ns";
  EXPECT_LT(figures["repair_after"][0]["median"], 100'000) << "well before a timeout";
}

TEST_F(CompareTransports, UnderTheWallClockRunsGoOneAfterTheOther) {
  write("tiny.yaml",
        "name: tiny\n"
        "topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 2 }\n"
        "traffic: [ { name: t, from: h1, to: h2, transport: roce, bytes: 8KB } ]\n"
        "run: { clock: wall, duration: 1ms, drain: 1ms }\n");
  for (const std::string command : {"compare-transports", "sweep"}) {
    std::vector<std::string> words{command, "tiny.yaml", "--metric", "completed,goodput"};
    if (command == "sweep")
      words.insert(words.end(), {"--over", "traffic.t.bytes=4KB,8KB"});
    else
      words.insert(words.end(), {"--column", "roce/gbn", "--column", "uet/rud"});
    const Outcome o = railyard(words);
    ASSERT_EQ(o.exit_code, kOk) << o.err << o.out;
    EXPECT_THAT(o.out, HasSubstr("/engine/lateness_ns/p99"));
    EXPECT_THAT(o.out, HasSubstr("/engine/slip_ns"));
    EXPECT_THAT(o.out, HasSubstr("Note: wall clock: ")) << command;
  }
}

// A word of a column would override what --over and --set say, and their values would head figures of other settings.
TEST_F(CompareTransports, RefusesASettingThatAColumnsWordDecides) {
  const auto refused = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"compare-transports", "incast.yaml"});
    return error(kUsage, more);
  };
  EXPECT_THAT(refused({"--over", "qos.default.classes.3.path=ecmp,spray"}),
              HasSubstr("--over: qos.default.classes.3.path=spray: column roce/gbn/ecmp/pfc sets "
                        "qos.default.classes.3.path=ecmp, by its word 'ecmp'; expected columns without this word, or "
                        "another key"));
  EXPECT_THAT(refused({"--over", "qos.default.classes.3.lossless=false,true"}), HasSubstr("by its word 'pfc'"));
  EXPECT_THAT(refused({"--over", "hosts.default.roce.loss-recovery=selective-repeat,go-back-n"}),
              HasSubstr("by its word 'gbn'"));
  EXPECT_THAT(refused({"--set", "qos.default.classes.3.path=spray"}),
              HasSubstr("--set: qos.default.classes.3.path=spray: column roce/gbn/ecmp/pfc sets"));
  EXPECT_THAT(refused({"--set", "qos.default.classes.3={ lossless: true, path: spray }"}),
              HasSubstr("by its word 'ecmp'"));
  EXPECT_THAT(refused({"--over", "traffic.0.transport=roce,uet"}),
              HasSubstr("traffic.in.transport=roce, by its word 'roce'"));
  EXPECT_THAT(refused({"--over", "traffic.in.rate=1Gbps,2Gbps", "--search", "traffic.in.rate=1Gbps..9Gbps"}),
              HasSubstr("--over: traffic.in.rate=1Gbps: --search varies this key"));
}

// A column's own settings, behind its words, may be exceptions: they are said.
TEST_F(CompareTransports, SaysWhereAValueHasNoEffect) {
  const Outcome own =
      railyard({"compare-transports", "incast.yaml", "--column", "roce/gbn/pfc", "--column",
                "roce/sr/lossy,traffic.in.bytes=64KB", "--over", "traffic.in.bytes=32KB,128KB", "--metric", "fct_max"});
  ASSERT_EQ(own.exit_code, kOk) << own.err;
  EXPECT_THAT(own.out, HasSubstr("Note: column roce/sr/lossy sets traffic.in.bytes=64KB: a setting of its own, so "
                                 "traffic.in.bytes=32KB has no effect there\n"));
  write("lossy.yaml", std::string(kIncast) + "qos: { default: { classes: { 3: { lossless: false } } } }\n");
  const Outcome limit = railyard({"compare-transports", "lossy.yaml", "--over",
                                  "qos.default.classes.3.queue-limit=200KB,400KB", "--metric", "fct_max"});
  ASSERT_EQ(limit.exit_code, kOk) << limit.err << limit.out;
  EXPECT_THAT(limit.out,
              HasSubstr("Note: column roce/gbn/ecmp/pfc removes qos.default.classes.3.queue-limit: word 'pfc', "
                        "so qos.default.classes.3.queue-limit=200KB has no effect there\n"));
}

// Of the lab that it has the figures of: also where it is the class that a comparison is over.
TEST_F(CompareTransports, TheHeadOfEveryBlockIsItsOwn) {
  const Outcome o = railyard(
      {"compare-transports", "incast.yaml", "--over", "hosts.default.roce.congestion=none,dcqcn", "--report", "out"});
  ASSERT_EQ(o.exit_code, kOk) << o.err;
  const auto j = nlohmann::json::parse(read("out/compare.json"));
  EXPECT_EQ(j["blocks"][0]["columns"][0]["congestion"], "none");
  EXPECT_EQ(j["blocks"][1]["columns"][0]["congestion"], "dcqcn (vendor)");
  EXPECT_TRUE(j["columns"][0]["congestion"].is_null());
  EXPECT_LT(o.out.find("congestion=none\nColumns\n"), o.out.find("congestion=dcqcn\nColumns\n"));
  const Outcome classes = railyard({"compare-transports", "incast.yaml", "--over", "traffic.in.dscp=26,34", "--set",
                                    "switches.default.buffer=8MiB", "--json"});
  ASSERT_EQ(classes.exit_code, kOk) << classes.err;
  const auto c = nlohmann::json::parse(classes.out);
  EXPECT_EQ(c["blocks"][0]["columns"][0]["class"], "3 lossless");
  EXPECT_EQ(c["blocks"][1]["columns"][0]["class"], "4 lossless") << "pfc is of the class that the traffic is in";
  EXPECT_EQ(c["blocks"][1]["columns"][1]["class"], "4 lossy");
}

TEST_F(CompareTransports, SaysWhatIsWrongBeforeAnythingRuns) {
  const auto wrong = [&](int code, std::vector<std::string> more) {
    more.insert(more.begin(), {"compare-transports", "incast.yaml", "--report", "out"});
    const std::string text = error(code, more);
    EXPECT_FALSE(exists(folder_ / "out")) << "each run would have left its report there";
    return text;
  };
  EXPECT_THAT(wrong(kUsage, {"--column", "roce/gbm"}), HasSubstr("--column: unknown word 'gbm' in a column"));
  EXPECT_THAT(wrong(kUsage, {"--column", "roce", "--column", "roce"}), HasSubstr("'roce' is given twice"));
  EXPECT_THAT(wrong(kInput, {"--column", "roce,hosts.default.roce.windw=3"}), HasSubstr("did you mean 'window'?"));
  EXPECT_THAT(wrong(kInput, {"--column", "roce", "--column", "uet,hosts.default.uet.windw=3"}),
              HasSubstr("column uet: hosts.default.uet: unknown key 'windw'"));
  EXPECT_THAT(wrong(kInput, {"--over", "traffic.in.bytes=1MB,2XB"}), HasSubstr("2XB"));
  EXPECT_THAT(wrong(kUsage, {"--column", "roce,run.seed=3"}), HasSubstr("--column: run.seed=3: seeds are the same"));
  EXPECT_THAT(wrong(kUsage, {"--over", "run.seed=1,2"}), HasSubstr("expected --seeds"));
  EXPECT_THAT(wrong(kUsage, {"--set", "run.clock=wall", "--search", "traffic.in.rate=1Gbps..2Gbps"}),
              HasSubstr("--search: wall-clock runs"));
  EXPECT_THAT(wrong(kUsage, {"--set", "run.clock=wall", "--jobs", "2"}), HasSubstr("--jobs: wall-clock runs"));
  EXPECT_THAT(wrong(kUsage, {"--set", "traffic.in.transport=generator", "--set", "run.duration=1ms"}),
              HasSubstr("no RDMA traffic to compare"));
  EXPECT_THAT(wrong(kUsage, {"--metric", "fct_p98"}), HasSubstr("did you mean 'fct_p9"));
  EXPECT_THAT(wrong(kUsage, {"--search", "traffic.in.rate=1Gbps"}),
              HasSubstr("--search: 'traffic.in.rate=1Gbps': no range"));
  EXPECT_THAT(wrong(kInput, {"--search", "traffic.in.rat=1Gbps..2Gbps"}), HasSubstr("did you mean 'rate'?"));
  EXPECT_THAT(wrong(kUsage, {"--search", "traffic.in.rate=1Gbps..2Gbps", "--until", "drops"}),
              HasSubstr("--until: 'drops': no comparison"));
  EXPECT_THAT(wrong(kUsage, {"--search", "traffic.in.rate=1Gbps..2Gbps", "--until", "drips=0"}),
              HasSubstr("--until: no run has 'drips'; did you mean 'drops'?"));
  EXPECT_THAT(wrong(kUsage, {"--search", "traffic.in.rate=1Gbps..2Gbps", "--resolution", "2"}),
              HasSubstr("--resolution: expected a fraction"));
  EXPECT_THAT(wrong(kUsage, {"--until", "drops=0"}), HasSubstr("--until: needs --search"));
  EXPECT_THAT(wrong(kUsage, {"--column", "roce/uc/sr"}), HasSubstr("'sr' does not apply to uc"));
}

}  // namespace
}  // namespace railyard::tools
