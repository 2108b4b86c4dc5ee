// Sprayed paths that alike senders do not share.
#include <gmock/gmock.h>

#include "tests/control/lint/lint_lab.h"

namespace railyard::lint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Finding> sprayed(const std::string& path, int spines = 2) {
  return findings_in("qos: { default: { classes: { 3: { lossless: true, path: " + path + " } } } }\n" +
                     "topology: { preset: leaf-spine, leaves: 2, spines: " + std::to_string(spines) +
                     ", hosts-per-leaf: 1 }\n"
                     "traffic: [ { name: t, from: h1, to: h2, dscp: 26 } ]\n");
}

TEST(Paths, AFixedOrderIsFound) {
  for (const char* order : {"round-robin", "least-loaded"}) {
    const auto found = sprayed("{ policy: spray, order: " + std::string(order) + " }");
    ASSERT_THAT(rules_of(found), ElementsAre("spray-in-fixed-order")) << order;
    EXPECT_EQ(found[0].place.line, 2);
    EXPECT_EQ(found[0].path, "qos.default.classes.3.path");
    EXPECT_THAT(found[0].text, HasSubstr(std::string("order ") + order + " is fixed"));
  }
}

TEST(Paths, OtherOrdersAndPoliciesAreNot) {
  for (const char* path : {"ecmp", "flowlet", "spray", "{ policy: spray, order: random }", "adaptive", "drill"})
    EXPECT_THAT(rules_of(sprayed(path)), IsEmpty()) << path;
}

TEST(Paths, WhereThereIsOnePathNothingIs) {
  EXPECT_THAT(rules_of(sprayed("{ policy: spray, order: round-robin }", 1)), IsEmpty());
}

}  // namespace
}  // namespace railyard::lint
