// railyard tune and hunt: small searches over real runs; files, replay, messages.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/tools/railyard/command_line.h"

namespace railyard::tools {
namespace {

using testing::HasSubstr;

// Eight senders with DCQCN, and thresholds that let a queue of megabytes stand.
constexpr const char* kDeepThresholds = R"(
name: deep   # a comment
topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 9 }
qos:
  default:
    classes:
      3: { lossless: true, alpha: 1/8, ecn: { kmin: 2MB, kmax: 4MB, pmax: 1% } }
      6: { strict: true }
hosts: { default: { roce: { congestion: dcqcn, dcqcn: { rpg-ai-rate: 20Mbps, rpg-min-rate: 1Gbps } } } }
traffic:
  - { name: elephants, pattern: incast, from: h2*, to: h1, transport: roce, message: 1MB }
  - { name: incast, pattern: incast, from: [h3, h4, h5, h6, h7], to: h1, transport: roce, message: 256KB, outstanding: 2 }
  - { name: mice, pattern: incast, from: [h8, h9], to: h1, transport: roce, message: 10KB, bytes: 10KB, start: 200us, flows: 8, stagger: 10us }
run: { duration: 500us, drain: 500us }
)";

class TuneHunt : public CommandLine {
 protected:
  TuneHunt() { write("deep.yaml", kDeepThresholds); }

  nlohmann::json json(std::vector<std::string> arguments) const {
    arguments.emplace_back("--json");
    const Outcome o = railyard(arguments);
    EXPECT_EQ(o.exit_code, kOk) << o.err;
    return nlohmann::json::parse(o.out, nullptr, false);
  }
  double figure(const std::string& file, const std::string& name) const {
    return json({"run", file})["summary"][name].get<double>();
  }
};

TEST_F(TuneHunt, BadThresholdsAreFoundAndWrittenDown) {
  const auto r = json({"tune", "deep.yaml", "--goal", "p99", "--knobs", "ecn.kmin,ecn.kmax,ecn.pmax", "--seeds", "1",
                       "--budget", "20", "--lose", "10%", "-o", "better.yaml", "--html", "page.html"});
  EXPECT_EQ(r["kept"], "best");
  EXPECT_LE(r["runs"], 20);
  // Mice wait behind a standing queue before, and not after.
  EXPECT_LT(r["check"]["best"]["fct_p99"].get<double>(), 0.5 * r["check"]["start"]["fct_p99"].get<double>());
  EXPECT_GE(r["check"]["best"]["goodput"].get<double>(), 0.9 * r["check"]["start"]["goodput"].get<double>());
  EXPECT_DOUBLE_EQ(figure("better.yaml", "fct_p99"), r["best"]["figures"]["fct_p99"].get<double>())
      << "the file is what was found";
  EXPECT_THAT(read("better.yaml"), HasSubstr("# deep.yaml, by railyard tune"));
  EXPECT_THAT(read("page.html"), HasSubstr("Trade-off"));
}

TEST_F(TuneHunt, TheSameSearchAnyNumberOfJobs) {
  const std::vector<std::string> words{"tune", "deep.yaml", "--goal", "queue", "--seeds", "1-2", "--budget", "14"};
  auto one = words, two = words;
  one.insert(one.end(), {"--jobs", "1"});
  two.insert(two.end(), {"--jobs", "2"});
  EXPECT_EQ(json(one), json(two));
}

TEST_F(TuneHunt, BadTuneInputIsOneErrorAndNothingIsWritten) {
  EXPECT_THAT(error(kUsage, {"tune", "deep.yaml"}), HasSubstr("--goal"));
  EXPECT_THAT(error(kUsage, {"tune", "deep.yaml", "--goal", "fct_p9"}), HasSubstr("--goal: no run has 'fct_p9'"));
  EXPECT_THAT(error(kUsage, {"tune", "deep.yaml", "--goal", "p99", "--knobs", "alpha"}),
              HasSubstr("--knobs: there is no knob 'alpha'"));
  EXPECT_THAT(error(kUsage, {"tune", "deep.yaml", "--goal", "p99", "--budget", "5"}),
              HasSubstr("--budget: 5 runs; expected at least 15"));
  EXPECT_THAT(error(kUsage, {"tune", "deep.yaml", "--goal", "p99", "--subject-to", "drops at leaf1 = 0"}),
              HasSubstr("--subject-to"));
  EXPECT_THAT(error(kUsage, {"tune", "deep.yaml", "--goal", "p99", "--lose", "x"}), HasSubstr("--lose"));
  EXPECT_THAT(error(kUsage, {"tune", "deep.yaml", "--goal", "p99", "--check-seeds", "1-2"}),
              HasSubstr("is among --seeds"));
  EXPECT_THAT(error(kUsage, {"tune", "deep.yaml", "--goal", "p99", "--trade-off", "goodput"}),
              HasSubstr("--trade-off"));
  EXPECT_THAT(error(kInput, {"tune", "none.yaml", "--goal", "p99"}), HasSubstr("none.yaml"));
  EXPECT_THAT(error(kInput, {"tune", "deep.yaml", "--goal", "p99", "--set", "traffic=[]"}), HasSubstr("no workload"));
}

TEST_F(TuneHunt, TheWorstCaseIsReplayed) {
  const std::vector<std::string> words{"hunt", "deep.yaml", "--hurt", "p99", "--budget", "30", "--seed", "4"};
  auto one = words, two = words;
  one.insert(one.end(), {"--jobs", "1", "-o", "worst.yaml"});
  two.insert(two.end(), {"--jobs", "2"});
  const auto r = json(one);
  EXPECT_EQ(r, json(two)) << "whatever the number of processes";
  EXPECT_LE(r["runs"], 30);
  EXPECT_GE(r["damage"].get<double>(), 0.9 * r["damage_found"].get<double>());
  EXPECT_GT(r["damage"].get<double>(), 0.3);
  const auto again = nlohmann::json::parse(railyard({"run", "worst.yaml", "--digest", "--json"}).out);
  EXPECT_EQ(again["trace_digest"], r["digest"]);
}

TEST_F(TuneHunt, BadHuntInputIsOneErrorAndNothingIsWritten) {
  EXPECT_THAT(error(kUsage, {"hunt", "deep.yaml", "--hurt", "everybody"}), HasSubstr("--hurt"));
  EXPECT_THAT(error(kUsage, {"hunt", "deep.yaml", "--budget", "3"}),
              HasSubstr("--budget: 3 runs; expected at least 10"));
  EXPECT_THAT(error(kUsage, {"hunt", "deep.yaml", "--faults", "9"}), HasSubstr("--faults"));
  EXPECT_THAT(error(kInput, {"hunt", "none.yaml"}), HasSubstr("none.yaml"));
  EXPECT_THAT(error(kInput, {"hunt", "deep.yaml", "--set", "topology.hosts-per-leaf=1", "--set", "traffic=[]"}),
              HasSubstr("at least two built-in NICs"));
}

}  // namespace
}  // namespace railyard::tools
