// hosts.<name>.uet.profile: NICs of a lab are what the name stands for, and understand each other.
#include <gtest/gtest.h>

#include "tests/scenarios/scenario.h"
#include "transports/uet/wire/profile.h"

namespace railyard::test {
namespace {

TEST(UetProfile, NicsAreWhatTheReferenceProviderExpects) {
  Scenario s(
      "name: pair\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 2 }\n"
      "hosts: { default: { uet: { profile: ref-prov } } }\n"
      "traffic: [ { name: t, from: h1, to: h2, transport: uet, dscp: 10, path-mtu: 1024, bytes: 1MB, message: 100KB } "
      "]\n");
  for (const auto& nic : s.lab().uet_nics()) {
    const uet::EngineConfig& c = nic.endpoint->engine().config();
    const uet::Profile& p = uet::kRefProvProfile;
    EXPECT_EQ(c.payload_mtu, p.payload_mtu);
    EXPECT_EQ(c.window, p.window);
    EXPECT_EQ(c.mp_range, p.window);
    EXPECT_EQ(c.multipath.paths, p.paths);
    EXPECT_EQ(c.ack_cc, p.ack_cc);
    EXPECT_EQ(c.keep_alive, p.keep_alive);
    EXPECT_TRUE(c.dialect == p.dialect);
    EXPECT_TRUE(nic.endpoint->takes_everything()) << "over IP, without UDP";
  }
  s.run_to_the_end();
  const report::Report r = s.report();
  EXPECT_EQ(r.flows.at(0).uet->verified, 10u);
}

}  // namespace
}  // namespace railyard::test
