// run --metrics and --steps: what a run says to other programs about its time.
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/tools/railyard/command_line.h"

namespace railyard::tools {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

class RunMetrics : public CommandLine {
 protected:
  // What the file has when the incast has run on so many workers; the report as JSON.
  std::string metrics(const std::string& workers, nlohmann::json* report = nullptr) const {
    const Outcome o = railyard({"run", topology("scenarios/roce-incast.yaml"), "--duration", "500us", "--workers", workers, "--metrics",
                                "run.om", "--metrics-every", "100us", "--metrics-stretch", "1000", "--json", "-q"});
    EXPECT_EQ(o.exit_code, kOk) << o.err;
    if (report != nullptr) *report = nlohmann::json::parse(o.out);
    return read("run.om");
  }
  // The samples of one metric, in the order of the file: value and timestamp.
  static std::vector<std::pair<double, double>> samples(const std::string& text, const std::string& metric) {
    std::vector<std::pair<double, double>> out;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with(metric + " ")) continue;
      std::istringstream rest(line.substr(metric.size()));
      std::pair<double, double> s;
      rest >> s.first >> s.second;
      out.push_back(s);
    }
    return out;
  }
};

TEST_F(RunMetrics, AreTheSameForAnyNumberOfWorkers) {
  const std::string one = metrics("1");
  EXPECT_THAT(one, EndsWith("\n# EOF\n"));
  EXPECT_EQ(metrics("2"), one);
}

TEST_F(RunMetrics, HaveSimulatedTimeAndTheReportsCounters) {
  nlohmann::json report;
  const std::string text = metrics("1", &report);
  const auto time = samples(text, "railyard_simulated_seconds_total");
  ASSERT_GE(time.size(), 5u);
  EXPECT_NEAR(time[0].first, 100e-6, 1e-12);
  EXPECT_NEAR(time[0].second, 0.1, 1e-9);
  for (std::size_t i = 1; i < time.size(); ++i) EXPECT_GT(time[i].second, time[i - 1].second);
  double delivered = 0;
  for (const auto& flow : report["flows"]) delivered += flow["delivered_bytes"].get<double>();
  const auto last = samples(text, R"(railyard_flow_delivered_bytes_total{transport="roce",class="3"})");
  ASSERT_FALSE(last.empty());
  EXPECT_EQ(last.back().first, delivered);
  EXPECT_GT(delivered, 0);
  EXPECT_THAT(text, Not(HasSubstr("lateness"))) << "of wall time";
}

TEST_F(RunMetrics, ArePointsThatPrometheusCanTellApart) {
  EXPECT_EQ(error(kFailed, {"run", "lab.yaml", "--metrics", "x.om", "--metrics-every", "10us"}),
            "railyard: --metrics-every: 10us; Prometheus tells milliseconds apart: expected at least 1ms, or "
            "--metrics-stretch 100");
  EXPECT_THAT(error(kFailed, {"run", "lab.yaml", "--clock", "wall", "--metrics", "x.om"}), HasSubstr("--metrics needs --clock virtual"));
  EXPECT_THAT(error(kUsage, {"run", "lab.yaml", "--metrics-every", "1ms"}), HasSubstr("--metrics-every requires --metrics"));
}

TEST_F(RunMetrics, StepsOfTrainingAreATable) {
  const Outcome o = railyard({"run", topology("scenarios/training-step.yaml"), "--steps", "-", "-q"});
  std::istringstream lines(o.out);
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_EQ(line, "collective,transport,step,start_ns,time_ns,algbw_bps,busbw_bps,cumulative_ns");
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_THAT(line, HasSubstr(",roce,1,"));
}

}  // namespace
}  // namespace railyard::tools
