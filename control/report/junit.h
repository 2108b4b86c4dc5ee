// JUnit XML of runs: a test case for each verdict and each expectation, as CI servers show them.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace railyard::report {

struct Report;

struct JunitCase {
  enum class Result { kPassed, kFailed, kSkipped, kError };  // error: the run itself could not be finished
  std::string name;  // "lossless", "busbw >= 380Gbps"
  std::string kind;  // class name: "verdict", "expect", "run"
  Result result = Result::kPassed;
  std::string text;  // what was found
};

struct JunitSuite {
  std::string name;  // of the lab, and of a column or point
  double seconds = 0;
  std::vector<JunitCase> cases;
};

JunitSuite junit_suite(const Report& report);
// The same of report.json.
JunitSuite junit_suite(const nlohmann::ordered_json& report, std::string name);
// Of a run that could not be finished.
JunitSuite junit_failure(std::string name, std::string why);

// One <testsuites>, in UTF-8.
std::string junit_xml(const std::vector<JunitSuite>& suites);

}  // namespace railyard::report
