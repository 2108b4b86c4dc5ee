// Windows that leave the path idle.
#include <gmock/gmock.h>

#include "tests/control/lint/lint_lab.h"

namespace railyard::lint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// 1 km each way to the leaf: 20 us there and back over cables alone, 250 KB at 100 Gb/s.
const std::string kFar = "defaults: { link: { cable: 1km } }\n";

TEST(Windows, TooFewMessagesOutstandingAreFound) {
  const auto found = findings_in(pair_lab(", message: 64KB, outstanding: 2", kFar));
  ASSERT_THAT(rules_of(found), ElementsAre("window-below-bdp"));
  EXPECT_EQ(found[0].path, "traffic.0.outstanding");
  EXPECT_THAT(found[0].text, HasSubstr("2 messages of 64 KB outstanding fill"));
  EXPECT_THAT(findings_in(pair_lab(", message: 64KB, outstanding: 8", kFar)), IsEmpty());
}

TEST(Windows, QpsThatShareALinkFillItTogether) {
  EXPECT_THAT(findings_in(pair_lab(", message: 64KB, outstanding: 2, qps: 4", kFar)), IsEmpty());
  EXPECT_THAT(findings_in(pair_lab(", message: 64KB, outstanding: 2, flows: 4", kFar)), IsEmpty());
}

TEST(Windows, AFlowThatIsShortOrSlowNeedsLess) {
  EXPECT_THAT(findings_in(pair_lab(", message: 64KB, outstanding: 2, bytes: 100KB", kFar)), IsEmpty());
  EXPECT_THAT(findings_in(pair_lab(", message: 64KB, outstanding: 2, rate: 10Gbps", kFar)), IsEmpty());
}

TEST(Windows, TheWindowOfANicCounts) {
  const auto found = findings_in(pair_lab("", kFar + "hosts: { default: { roce: { window: 16 } } }\n"));
  ASSERT_THAT(rules_of(found), ElementsAre("window-below-bdp"));
  EXPECT_EQ(found[0].path, "hosts.default.roce.window");
  EXPECT_EQ(found[0].place.line, 5);
}

}  // namespace
}  // namespace railyard::lint
