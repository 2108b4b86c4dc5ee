// railyard doctor: a lab or a report in, causes out.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/tools/railyard/command_line.h"

namespace railyard::tools {
namespace {

using testing::HasSubstr;

class Doctor : public CommandLine {
 protected:
  Doctor() {
    write("sick.yaml",
          "name: sick\ntopology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 2 }\n"
          "traffic: [{ name: t, from: h1, to: h2, transport: roce }]\n"
          "faults: [{ on: \"h1:1 out\", bit-errors: 1e-6 }]\nrun: { duration: 500us }\n");
  }
};

TEST_F(Doctor, ALabIsRunAndAReportIsRead) {
  const Outcome lab = railyard({"doctor", "sick.yaml"});
  EXPECT_EQ(lab.exit_code, kOk) << lab.err;
  EXPECT_THAT(lab.out, HasSubstr("1. frame-errors at leaf1:1-h1:1 (97 % sure)"));
  EXPECT_THAT(lab.out, HasSubstr("What to do: Clean or replace"));
  write("report.json", railyard({"run", "sick.yaml", "--json"}).out);
  EXPECT_EQ(railyard({"doctor", "report.json"}).out, lab.out);
  const auto json = nlohmann::json::parse(railyard({"doctor", "report.json", "--json"}).out);
  EXPECT_EQ(json["findings"][0]["rule"], "frame-errors");
  EXPECT_EQ(json["findings"][0]["element"], "leaf1:1-h1:1");
}

TEST_F(Doctor, ALabWithoutAnIncidentHasNoFinding) {
  EXPECT_THAT(railyard({"doctor", "sick.yaml", "--set", "faults=[]"}).out, HasSubstr("sick: nothing found."));
}

TEST_F(Doctor, BadInputIsOneLine) {
  EXPECT_THAT(error(kInput, {"doctor", "none.json"}), HasSubstr("none.json"));
  EXPECT_THAT(error(kInput, {"doctor", "none.yaml"}), HasSubstr("none.yaml"));
  write("other.json", "{\"flows\": [], \"run\": {}}");
  EXPECT_THAT(error(kInput, {"doctor", "other.json"}), HasSubstr("other.json"));
  EXPECT_THAT(error(kUsage, {"doctor", "other.json", "--set", "run.seed=2"}), HasSubstr("--set"));
}

}  // namespace
}  // namespace railyard::tools
