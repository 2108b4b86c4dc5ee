// JUnit XML: well formed whatever is in it, its counts are those of its cases.
#include "control/report/junit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/control/picture/well_formed.h"
#include "tests/control/report/sample.h"

namespace railyard::report {
namespace {

using testing::HasSubstr;

TEST(Junit, HasACaseForEachVerdictAndEachExpectation) {
  Report r = sample();
  r.expectations = {{"drops == 0", false, 100, "100", "leaf1:1 class 1", {"x.yaml", 4, 9}},
                    {"busbw < 5Gbps", true, 1e9, "1 Gb/s", "", {}}};
  const std::string xml = junit_xml({junit_suite(r)});
  EXPECT_THAT(xml, HasSubstr("<testsuite name=\"incast\" tests=\"8\" failures=\"2\" errors=\"0\" skipped=\"1\" "
                             "time=\"0.500\">"));
  EXPECT_THAT(xml, HasSubstr("<testcase classname=\"verdict\" name=\"completion\"><failure message=\"1 of 2 finite "
                             "flows completed\"/></testcase>"));
  EXPECT_THAT(xml, HasSubstr("<testcase classname=\"expect\" name=\"drops == 0\"><failure message=\"found 100 (leaf1:1 "
                             "class 1), expected drops == 0 [x.yaml:4:9]\"/></testcase>"));
  EXPECT_THAT(xml, HasSubstr("name=\"busbw &lt; 5Gbps\"><system-out>found 1 Gb/s</system-out></testcase>"));
  EXPECT_THAT(xml, HasSubstr("<testcase classname=\"verdict\" name=\"pauses\"><skipped message="));
}

TEST(Junit, OfReportJsonItIsTheSame) {
  Report r = sample();
  r.expectations = {{"drops == 0", false, 100, "100", "leaf1:1 class 1", {"x.yaml", 4, 9}}};
  EXPECT_EQ(junit_xml({junit_suite(r)}), junit_xml({junit_suite(nlohmann::ordered_json::parse(r.json()), "incast")}));
}

TEST(Junit, ARunThatCouldNotBeFinishedIsAnError) {
  const std::string xml = junit_xml({junit_failure("a <b>", "killed by \"signal\" 9\x01"), junit_suite(sample())});
  EXPECT_THAT(xml, HasSubstr("<testsuites name=\"railyard\" tests=\"7\" failures=\"1\" errors=\"1\" skipped=\"1\">"));
  EXPECT_THAT(xml, HasSubstr("<testsuite name=\"a &lt;b&gt;\" tests=\"1\" failures=\"0\" errors=\"1\""));
  const std::size_t behind = xml.find("?>\n");
  ASSERT_NE(behind, xml.npos) << "its declaration";
  EXPECT_EQ(picture::read_xml(xml.substr(behind + 3)).error, "");
}

}  // namespace
}  // namespace railyard::report
