// What keeps UET from the paths and the rate that it could use.
#include <gmock/gmock.h>

#include "tests/control/lint/lint_lab.h"

namespace railyard::lint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Finding> with(const std::vector<std::string>& overrides) {
  return findings_in(
      "topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 1 }\n"
      "traffic: [ { name: t, from: h1, to: h2, transport: uet, bytes: 1MB } ]\n",
      overrides);
}

TEST(UetPaths, EntropyThatSwitchesDoNotReadIsFound) {
  EXPECT_THAT(with({}), IsEmpty());
  const std::string ip = "hosts.default.uet.encapsulation=ip";
  const auto found = with({ip});
  ASSERT_THAT(rules_of(found), ElementsAre("uet-not-sprayed"));
  EXPECT_THAT(found[0].text, HasSubstr("switches.default.ecmp.fields has no uet-entropy"));
  EXPECT_THAT(rules_of(with({"hosts.default.uet.profile=ref-prov", "hosts.default.uet.path-policy=oblivious",
                             "hosts.default.uet.paths=16"})),
              ElementsAre("uet-not-sprayed"));
  EXPECT_THAT(with({ip, "switches.default.ecmp.fields=[addresses, uet-entropy]"}), IsEmpty());
  EXPECT_THAT(with({ip, "hosts.default.uet.path-policy=single"}), IsEmpty());
  EXPECT_THAT(with({ip, "hosts.default.uet.ip-protocol=200", "switches.default.ecmp.fields=[uet-entropy]"})[0].text,
              HasSubstr("with IP protocol 253 only, but ip-protocol is 200"));
}

TEST(UetPaths, AWindowBelowThePathIsFound) {
  const std::string far = "defaults.link.delay=100us";
  const auto found = with({far});
  ASSERT_THAT(rules_of(found), ElementsAre("uet-window-below-bdp"));
  EXPECT_THAT(found[0].text, HasSubstr("A window of 512 packets does not fill h1:1 at 100Gbps"));
  EXPECT_THAT(with({far, "hosts.default.uet.window=4096", "hosts.default.uet.mp-range=4096"}), IsEmpty());
}

}  // namespace
}  // namespace railyard::lint
