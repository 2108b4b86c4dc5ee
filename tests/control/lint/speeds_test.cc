// Rates that cannot be reached.
#include <gmock/gmock.h>

#include "tests/control/lint/lint_lab.h"

namespace railyard::lint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string fabric(const std::string& host, const std::string& uplink, const std::string& traffic = "") {
  return "topology: { preset: leaf-spine, leaves: 2, spines: 4, hosts-per-leaf: 1, host-link: { rate: " + host +
         " }, fabric-link: { rate: " + uplink + " } }\ntraffic: [ { name: t, from: h1, to: h2" + traffic + " } ]\n";
}

TEST(Speeds, NicsThatAreFasterThanEveryPathAreFound) {
  const auto found = findings_in(fabric("400Gbps", "100Gbps"));
  ASSERT_THAT(rules_of(found), ElementsAre("path-slower-than-nics"));
  EXPECT_THAT(found[0].text, HasSubstr("a flow from h1:1 (400Gbps) to h2:1 (400Gbps) is limited to 100Gbps"));
  EXPECT_THAT(findings_in(fabric("100Gbps", "400Gbps")), IsEmpty());
}

// Over four paths of 100 Gb/s there are 400.
TEST(Speeds, PacketsThatAreSpreadUseAllPaths) {
  EXPECT_THAT(findings_in(fabric("400Gbps", "100Gbps", ", transport: uet, dscp: 0")), IsEmpty());
  EXPECT_THAT(findings_in(fabric("400Gbps", "100Gbps"), {"qos.default.classes.3.path=spray"}), IsEmpty());
  EXPECT_THAT(rules_of(findings_in(fabric("800Gbps", "100Gbps"), {"qos.default.classes.3.path=spray"})),
              ElementsAre("path-slower-than-nics"));
}

TEST(Speeds, AFlowThatAsksForLessIsContent) {
  EXPECT_THAT(findings_in(fabric("400Gbps", "100Gbps", ", rate: 100Gbps")), IsEmpty());
}

TEST(Speeds, ACableThatNoChannelUsesIsFound) {
  const auto with = [](const std::string& keys) {
    return findings_in("nodes: { h1: { kind: host, nics: 2 }, h2: { kind: host, nics: 2 } }\n"
                       "links: [ [h1:1, h2:1], [h1:2, h2:2] ]\n"
                       "collectives: [ { name: ar, collective: all-reduce, size: 64MB" + keys + " } ]\n");
  };
  const auto found = with("");
  ASSERT_THAT(rules_of(found), ElementsAre("cables-unused"));
  EXPECT_EQ(found[0].path, "collectives.0.channels");
  EXPECT_THAT(found[0].text, HasSubstr("ar uses 1 of 2 links between h1 and h2: channels is 1"));
  EXPECT_THAT(with(", channels: 2"), IsEmpty());
  EXPECT_THAT(with(", channels: 2, transport: uet"), IsEmpty());
}

TEST(Speeds, AHostThatTakesFramesSlowlyIsFound) {
  const std::string slow = "hosts: { default: { receive: { rate: 50Gbps } } }\n";
  const auto found = findings_in(pair_lab("", slow));
  ASSERT_THAT(rules_of(found), ElementsAre("receiver-slower-than-link"));
  EXPECT_EQ(found[0].path, "hosts.default.receive.rate");
  EXPECT_EQ(found[0].place.line, 4);
  EXPECT_THAT(findings_in(pair_lab(", rate: 20Gbps", slow)), IsEmpty());
}

TEST(Speeds, ANicAboveItsSlotIsFoundOnceForAllHostsOfAProfile) {
  const auto with = [](const std::string& slot) {
    return findings_in("topology: { preset: leaf-spine, leaves: 1, spines: 1, hosts-per-leaf: 3, host-link: { rate: 400Gbps }, "
                       "fabric-link: { rate: 1600Gbps } }\n"
                       "hosts: { default: { pcie: " + slot + " } }\n");
  };
  const auto found = with("gen4x16");
  ASSERT_THAT(rules_of(found), ElementsAre("nic-above-pcie"));
  EXPECT_EQ(found[0].path, "hosts.default.pcie");
  EXPECT_THAT(found[0].text, HasSubstr("h1:1 has a link of 400Gbps, but its PCI Express slot carries 252 Gb/s"));
  EXPECT_THAT(with("gen5x16"), IsEmpty());
  EXPECT_THAT(with("unlimited"), IsEmpty());
}

TEST(Speeds, NicsAboveTheUplinkThatTheyShareAreCountedTogether) {
  const auto with = [](const std::string& pcie) {
    return findings_in("topology: { preset: rail-optimized, hosts: 2, rails: 4, spines: 1, host-link: { rate: 400Gbps }, fabric-link: "
                       "{ rate: 1600Gbps } }\n"
                       "hosts: { default: { pcie: " + pcie + " } }\n");
  };
  const auto found = with("{ slot: gen5x16, shared-by: 2 }");
  ASSERT_THAT(rules_of(found), ElementsAre("nic-above-pcie"));
  EXPECT_EQ(found[0].path, "hosts.default.pcie");
  EXPECT_EQ(found[0].text, "The 2 NICs h1:1-2 have 800Gbps together, but the PCI Express uplink that they share carries 504 Gb/s.");
  EXPECT_THAT(with("{ slot: gen5x16, uplink: gen6x16, shared-by: 2 }"), IsEmpty());
  EXPECT_THAT(rules_of(with("{ slot: gen4x16, shared-by: 2 }")), ElementsAre("nic-above-pcie")) << "said once, though the slot is too slow as well";
}

}  // namespace
}  // namespace railyard::lint
