// ECN marks that come after PFC or drops, or never.
#include <gmock/gmock.h>

#include "tests/control/lint/lint_lab.h"

namespace railyard::lint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// h1 and h2 to h3; XOFF at 100 KB of each of the two ingress groups, so at most 200 KB wait before the first XOFF.
std::vector<Finding> incast(const std::string& ecn, const std::string& buffer = "lossless: true, xoff: 100KB") {
  return findings_in("qos: { default: { classes: { 3: { " + buffer + ", ecn: " + ecn + " } } } }\n" +
                     "topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 3 }\n"
                     "traffic: [ { name: t, pattern: incast, from: [h1, h2], to: h3, dscp: 26 } ]\n");
}

TEST(Marking, AKminAboveWhatTheIngressGroupsHoldIsFound) {
  const auto found = incast("{ kmin: 400KB, kmax: 1600KB }");
  ASSERT_THAT(rules_of(found), ElementsAre("kmin-above-xoff"));
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_EQ(found[0].place.line, 2);
  EXPECT_EQ(found[0].path, "qos.default.classes.3.ecn.kmin");
  EXPECT_THAT(found[0].text,
              HasSubstr("kmin is 400 KB, but the 2 ingress ports that feed leaf1:3 reach XOFF at 200 KB"));
}

TEST(Marking, ThatOfTheBuiltInProfileIsPutAtTheFile) {
  // 1 MiB of buffer: alpha 1/8 leaves each of two groups some 100 KB.
  const auto found = findings_in(
      "switches: { default: { buffer: 1MiB } }\n"
      "topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 3 }\n"
      "traffic: [ { name: t, pattern: incast, from: [h1, h2], to: h3, dscp: 26 } ]\n");
  ASSERT_THAT(rules_of(found), ElementsAre("kmin-above-xoff"));
  EXPECT_EQ(found[0].place.file, "x.yaml");
}

// The boundary: two groups of 100 KB.
TEST(Marking, AKminBelowThatIsNot) {
  EXPECT_THAT(incast("{ kmin: 199KB, kmax: 1600KB }"), IsEmpty());
  EXPECT_THAT(rules_of(incast("{ kmin: 200KB, kmax: 1600KB }")), ElementsAre("kmin-above-xoff"));
  EXPECT_THAT(incast("{ kmin: 400KB, kmax: 1600KB }", "lossless: true, xoff: 250KB"), IsEmpty());
}

// One sender into a link as fast as its own: nothing ever waits, whatever the thresholds are.
TEST(Marking, OfAQueueThatNeverFillsNothingIsSaid) {
  EXPECT_THAT(findings_in(pair_lab(
                  "", "qos: { default: { classes: { 3: { lossless: true, xoff: 100KB, ecn: { kmin: 400KB, kmax: 1600KB "
                      "} } } } }\n")),
              IsEmpty());
}

TEST(Marking, ALossyQueueThatEndsBelowKminIsFound) {
  const auto found = incast("{ kmin: 400KB, kmax: 1600KB }", "queue-limit: 300KB");
  ASSERT_THAT(rules_of(found), ElementsAre("kmin-above-limit"));
  EXPECT_THAT(found[0].text, HasSubstr("dropped before they are marked: kmin is 400 KB, but"));
  EXPECT_THAT(incast("{ kmin: 100KB, kmax: 200KB }", "queue-limit: 300KB"), IsEmpty());
}

// h1 and h2 have credits for 100 KB each: no more than 200 KB ever wait.
TEST(Marking, AKminAboveTheCreditsOfAllSendersIsFound) {
  const std::string credits = "lossless: true, cbfc: { credits: 102400B }";
  const auto found = incast("{ kmin: 400KB, kmax: 1600KB }", credits);
  ASSERT_THAT(rules_of(found), ElementsAre("kmin-above-limit"));
  EXPECT_EQ(found[0].path, "qos.default.classes.3.ecn.kmin");
  EXPECT_THAT(found[0].text, HasSubstr("kmin is 400 KB, and the 2 ingress ports that feed it grant credits for 205 KB"));
  EXPECT_THAT(rules_of(incast("{ kmin: 204800B, kmax: 1600KB }", credits)), ElementsAre("kmin-above-limit"));
  EXPECT_THAT(incast("{ kmin: 200KB, kmax: 1600KB }", credits), IsEmpty());
  EXPECT_THAT(rules_of(incast("{ kmin: 4MB, kmax: 16MB }", "lossless: true, cbfc: on")), ElementsAre("kmin-above-limit"));
}

TEST(Marking, EarlyDropsThatBeginAboveTheQueuesLimitAreFound) {
  const auto with = [](const std::string& drop) { return incast("off", "queue-limit: 300KB, drop: " + drop); };
  const auto found = with("{ min: 400KB, max: 800KB }");
  ASSERT_THAT(rules_of(found), ElementsAre("drop-above-limit"));
  EXPECT_EQ(found[0].path, "qos.default.classes.3.drop.min");
  EXPECT_THAT(found[0].text, HasSubstr("Early drops never begin: drop.min is 400 KB, and the queue of leaf1:3 ends at 300 KB"));
  EXPECT_THAT(rules_of(with("{ min: 100KB, max: 200KB, not-ect: { min: 300KB, max: 400KB } }")),
              ElementsAre("drop-above-limit"));
  EXPECT_THAT(with("{ min: 299KB, max: 800KB }"), IsEmpty());
}

TEST(Marking, DcqcnWithoutMarksIsFound) {
  const std::string dcqcn = "hosts: { default: { roce: { congestion: dcqcn } } }\n";
  const std::string off = "qos: { default: { classes: { 3: { lossless: true, ecn: off } } } }\n";
  ASSERT_THAT(rules_of(findings_in(pair_lab("", dcqcn + off))), ElementsAre("congestion-control-without-marks"));
  EXPECT_THAT(rules_of(findings_in(pair_lab(", ecn: false", dcqcn))), ElementsAre("congestion-control-without-marks"));
  EXPECT_THAT(findings_in(pair_lab("", dcqcn)), IsEmpty());
  EXPECT_THAT(findings_in(pair_lab("", "hosts: { default: { roce: { congestion: none } } }\n" + off)), IsEmpty());
}

}  // namespace
}  // namespace railyard::lint
