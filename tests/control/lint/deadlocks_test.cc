// Fabrics that can deadlock.
#include <gmock/gmock.h>

#include "tests/control/lint/lint_lab.h"

namespace railyard::lint {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Four switches in a ring.
const std::string kRing =
    "nodes:\n"
    "  s1: { kind: switch }\n  s2: { kind: switch }\n  s3: { kind: switch }\n  s4: { kind: switch }\n"
    "  h1: { kind: host }\n  h2: { kind: host }\n  h3: { kind: host }\n  h4: { kind: host }\n"
    "links:\n  - [s1:1, s2:2]\n  - [s2:1, s3:2]\n  - [s3:1, s4:2]\n  - [s4:1, s1:2]\n"
    "  - [h1:1, s1:3]\n  - [h2:1, s2:3]\n  - [h3:1, s3:3]\n  - [h4:1, s4:3]\n"
    "traffic: [ { name: t, from: h1, to: h2, transport: roce } ]\n";

TEST(Deadlocks, ARingIsAnErrorThatNamesTheCircle) {
  const auto found = findings_in("qos: { default: { classes: { 3: { lossless: true } } } }\n" + kRing);
  ASSERT_THAT(rules_of(found), Contains("buffer-cycle"));
  const auto at = std::ranges::find(found, "buffer-cycle", &Finding::rule);
  EXPECT_EQ(at->severity, Severity::kError);
  EXPECT_EQ(at->path, "qos.default.classes.3.lossless");
  EXPECT_EQ(at->place.line, 2);
  EXPECT_THAT(at->text, HasSubstr("-> s"));
  for (const char* port : {"s1:", "s2:", "s3:", "s4:"}) EXPECT_THAT(at->text, HasSubstr(port));
  EXPECT_THAT(at->text, HasSubstr("in class 3"));
}

TEST(Deadlocks, WhatIsMeantIsAWarning) {
  const auto found =
      findings_in("qos: { default: { classes: { 3: { lossless: true, accept-deadlock: true } } } }\n" + kRing);
  EXPECT_THAT(rules_of(found), Contains("accepted-buffer-cycle"));
  EXPECT_THAT(rules_of(found), Not(Contains("buffer-cycle")));
}

TEST(Deadlocks, LossyClassesHaveNone) {
  EXPECT_THAT(rules_of(findings_in("qos: { default: { classes: { 0: { weight: 1 } } } }\n" + kRing)),
              Not(Contains("buffer-cycle")));
}

}  // namespace
}  // namespace railyard::lint
