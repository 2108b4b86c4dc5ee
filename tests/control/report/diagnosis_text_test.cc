// What a file shows, in the report of its run.
#include "control/report/diagnosis_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "control/report/html/page.h"
#include "tests/control/report/sample.h"

namespace railyard::report {
namespace {

using testing::HasSubstr;
using testing::Not;

Report with_diagnosis() {
  Report r = sample();
  r.run.spec = "labs/my incast.yaml";
  r.run.diagnosis = {{},
                     "Small messages pass, and large ones <never> come: their QP runs out of retries, and goes into "
                     "the state of error for good.",
                     "too_big at spine1.",
                     "One MTU.",
                     {"traffic.large.path-mtu=1024", "qos.default.classes.3.ecn={ kmin: 4KB }"}};
  r.evidence = {{"drops(too_big) at spine1 > 0", true, 12, "12", "spine1:2 class 3", {}}};
  return r;
}

TEST(DiagnosisText, SaysSymptomCauseAndFixAndTheCommandWithIt) {
  EXPECT_EQ(diagnosis_text(with_diagnosis()),
            "Diagnosis\n"
            "  Symptom: Small messages pass, and large ones <never> come: their QP runs out of retries, and goes into the\n"
            "           state of error for good.\n"
            "  Cause:   too_big at spine1.\n"
            "    drops(too_big) at spine1 > 0: 12 (spine1:2 class 3)\n"
            "  Fix:     One MTU.\n"
            "    railyard run 'labs/my incast.yaml' --set traffic.large.path-mtu=1024 --set "
            "'qos.default.classes.3.ecn={ kmin: 4KB }'\n");
  EXPECT_THAT(with_diagnosis().text(), HasSubstr("\n\nDiagnosis\n  Symptom: Small"));
  EXPECT_THAT(sample().text(), Not(HasSubstr("Diagnosis")));
}

TEST(DiagnosisText, AFixThatIsNoValueHasNoCommand) {
  Report r = with_diagnosis();
  r.run.diagnosis.set.clear();
  EXPECT_EQ(healed_command(r.run), "");
  EXPECT_THAT(diagnosis_text(r), testing::EndsWith("  Fix:     One MTU.\n"));
}

TEST(DiagnosisText, IsInTheJsonAndOnThePage) {
  const auto j = nlohmann::json::parse(with_diagnosis().json());
  EXPECT_EQ(j["diagnosis"]["cause"], "too_big at spine1.");
  EXPECT_EQ(j["diagnosis"]["set"].size(), 2u);
  EXPECT_EQ(j["diagnosis"]["evidence"][0]["found"], 12);
  EXPECT_FALSE(nlohmann::json::parse(sample().json()).contains("diagnosis"));
  const std::string page = html(with_diagnosis());
  EXPECT_THAT(page, HasSubstr("<section id=\"diagnosis\">"));
  EXPECT_THAT(page, HasSubstr("large ones &lt;never&gt; come"));
  EXPECT_THAT(html(sample()), Not(HasSubstr("id=\"diagnosis\"")));
}

}  // namespace
}  // namespace railyard::report
