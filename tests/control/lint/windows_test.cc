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

TEST(Windows, UetMessagesThatDoNotFillThePathAreFound) {
  const auto uet = [](const std::string& more) {
    return findings_in(
        "topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 2 }\n"
        "defaults: { link: { rate: 400Gbps } }\n"
        "traffic: [ { name: u, from: h2, to: h1, transport: uet, message: 8KB" +
        more + " } ]\n");
  };
  const auto found = uet(", outstanding: 1");
  ASSERT_THAT(rules_of(found), ElementsAre("window-below-bdp"));
  EXPECT_EQ(found[0].path, "traffic.0.outstanding");
  EXPECT_THAT(found[0].text, HasSubstr("1 message of 8 KB outstanding fill 6."));
  EXPECT_THAT(found[0].fix, HasSubstr("or use more PDCs"));
  EXPECT_THAT(uet(", outstanding: 32"), IsEmpty());
  EXPECT_THAT(uet(", outstanding: 1, qps: 32"), IsEmpty());
  EXPECT_THAT(rules_of(uet(", outstanding: 1, service: rod")), ElementsAre("window-below-bdp"));
}

TEST(Windows, WindowsOfUetThatDoNotFillThePathAreFound) {
  const auto uet = [](const std::string& nic, const std::string& more = "") {
    return findings_in(
        "topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 2 }\n"
        "defaults: { link: { rate: 400Gbps } }\nhosts: { default: { uet: { " +
        nic +
        " } } }\n"
        "traffic: [ { name: u, from: h2, to: h1, transport: uet" +
        more + " } ]\n");
  };
  const auto found = uet("congestion: none, window: 8");
  ASSERT_THAT(rules_of(found), ElementsAre("window-below-bdp"));
  EXPECT_EQ(found[0].path, "hosts.default.uet.window");
  const auto narrow = uet("nscc: { max-window: 1/4 }");
  ASSERT_THAT(rules_of(narrow), ElementsAre("window-below-bdp"));
  EXPECT_EQ(narrow[0].path, "hosts.default.uet.nscc.max-window");
  const auto rudi = uet("rudi-window: 8", ", service: rudi");
  ASSERT_THAT(rules_of(rudi), ElementsAre("window-below-bdp"));
  EXPECT_EQ(rudi[0].path, "hosts.default.uet.rudi-window");
  EXPECT_THAT(uet("congestion: none"), IsEmpty());
  EXPECT_THAT(uet("rudi-window: 512", ", service: rudi"), IsEmpty());
}

// UC and UUD: a message that nobody answers is complete when it is sent.
TEST(Windows, MessagesWithoutAnswersNeedNoWindow) {
  EXPECT_THAT(findings_in(pair_lab(", message: 4KB, outstanding: 1, qp-type: uc",
                                   kFar + "hosts: { default: { roce: { congestion: none } } }\n"
                                          "qos: { default: { classes: { 3: { lossless: true, ecn: off } } } }\n")),
              IsEmpty());
}

}  // namespace
}  // namespace railyard::lint
