// A NIC is no faster than its slot: PCI Express 4.0 x16 carries 16 GT/s x 16 x 128/130 = 252.06 Gb/s each way.
#include <string>

#include <gtest/gtest.h>

#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

constexpr double kGen4x16 = 16e9 * 16 * 128 / 130;
// Of a frame's octets without preamble and gap: headers, payload, ICRC, FCS.
constexpr double kPayloadShare = 4096.0 / (54 + 4096 + 4 + 4);

std::string pair(const std::string& sender, const std::string& receiver) {
  return "name: pair\n"
         "qos: { default: { classes: { 3: { lossless: true } } } }\n"
         "hosts: { default: {}, a: { " + sender + " }, b: { " + receiver + " } }\n"
         "defaults: { link: { rate: 400Gbps, cable: 3m } }\n"
         "nodes: { sw: { kind: switch }, h1: { kind: host, profile: a }, h2: { kind: host, profile: b } }\n"
         "links: [[h1:1, sw:1], [h2:1, sw:2]]\n"
         "traffic: [ { name: t, from: h1, to: h2, dscp: 26, payload: 4096B } ]\n"
         "run: { duration: 1ms }\n";
}

// Octets of payload per second that came in the second half, in bits.
double goodput(Scenario& s) {
  s.run_until(500_us);
  const std::uint64_t before = s.flow("t/h1->h2").received().packets;
  s.run_until(1_ms);
  return static_cast<double>(s.flow("t/h1->h2").received().packets - before) * 4096 * 8 / 500e-6;
}

TEST(Pcie, ASenderIsHeldToItsSlot) {
  Scenario s(pair("pcie: gen4x16", "pcie: gen5x16"));
  EXPECT_NEAR(goodput(s) / (kGen4x16 * kPayloadShare), 1, 0.002);
  EXPECT_EQ(s.at("sw:1", 3).xoff_sent, 0u) << "nobody is paused";
}

TEST(Pcie, AReceiverPausesItsSwitch) {
  Scenario s(pair("pcie: gen5x16", "pcie: gen4x16"));
  EXPECT_NEAR(goodput(s) / (kGen4x16 * kPayloadShare), 1, 0.01);
  EXPECT_GT(s.at("h2:1", 3).xoff_sent, 0u);
  EXPECT_EQ(s.dropped(), 0u);
}

TEST(Pcie, ASlotThatIsFastEnoughChangesNothing) {
  Scenario with(pair("pcie: gen5x16", "pcie: gen6x8")), without(pair("", ""));
  EXPECT_EQ(goodput(with), goodput(without));
  EXPECT_EQ(with.digest(), without.digest());
}

// A host that straggles has the share of the link that the fault says, if that is less than its slot's.
TEST(Pcie, AStragglerIsAsSlowAsTheSlowerOfBoth) {
  Scenario s(pair("pcie: gen4x16", ""));
  s.run_until(100_us);
  s.add_fault_at(100_us, "name: tired, on: h1, straggle: 1/4");
  EXPECT_NEAR(goodput(s) / (0.25 * 400e9 * 4096 / (54 + 4096 + 4 + 4 + 20)), 1, 0.002);
}

TEST(Pcie, CollectivesAreMeasuredAgainstIt) {
  Scenario s = Scenario::ready("shared-nics", {"hosts.default.pcie=gen4x16", "collectives.experts="});
  s.run_to_the_end();
  const report::CollectiveReport c = s.report().collectives.at(0);
  EXPECT_TRUE(c.verified) << c.stalled << c.wrong;
  EXPECT_NEAR(c.limit_bps, 4 * kGen4x16, 0.001 * 4 * kGen4x16);
  EXPECT_GT(c.share_of_limit(), 0.9);
  EXPECT_LE(c.share_of_limit(), 1.0);
}

}  // namespace
}  // namespace railyard::test
