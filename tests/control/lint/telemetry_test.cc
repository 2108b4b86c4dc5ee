// Where congestion control does not get the telemetry that it needs.
#include <gmock/gmock.h>

#include "tests/control/lint/lint_lab.h"

namespace railyard::lint {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<Finding> with_hpcc(const std::vector<std::string>& overrides) {
  return findings_in(
      "topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 1 }\n"
      "qos: { default: { classes: { 3: { lossless: true } } } }\n"
      "hosts: { default: { roce: { congestion: hpcc, loss-recovery: selective-repeat } } }\n"
      "traffic: [ { name: t, from: h1, to: h2, transport: roce, bytes: 1MB } ]\n",
      overrides);
}

TEST(Telemetry, SprayedPacketsAreFound) {
  EXPECT_THAT(with_hpcc({}), IsEmpty());
  const std::string spray = "qos.default.classes.3.path={ policy: spray, order: random }";
  const auto found = with_hpcc({spray});
  ASSERT_THAT(rules_of(found), ElementsAre("telemetry-many-paths"));
  EXPECT_THAT(found[0].text, HasSubstr("Packets of t take 2 paths"));
  EXPECT_THAT(rules_of(with_hpcc({spray, "hosts.default.roce.congestion=none"})), Not(Contains("telemetry-many-paths")));
  EXPECT_THAT(with_hpcc({spray, "topology.spines=1"}), IsEmpty());
  EXPECT_THAT(with_hpcc({"qos.default.classes.3.path={ policy: flowlet, gap: 20us }"}), IsEmpty());
}

}  // namespace
}  // namespace railyard::lint
