// NICs that share an uplink of PCI Express: together they are no faster than it, and each has its part.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "control/estimate/estimate.h"
#include "control/spec/load.h"
#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

constexpr double kUplink5x16 = 32e9 * 16 * 128 / 130;
constexpr double kUplink4x16 = kUplink5x16 / 2;
constexpr int kOctets = 4096;
// Of a frame's octets without preamble and gap: headers, payload, ICRC, FCS. A link carries preamble and gap as well.
constexpr double kShareOfPayload = 4096.0 / (54 + 4096 + 4 + 4);
constexpr double kOneAlone = 400e9 * 4096 / (54 + 4096 + 4 + 4 + 20);

const std::string kShared = "pcie: { slot: gen5x16, shared-by: 2 }";

// Host a with so many NICs, and one host of one NIC for each of them, b1, b2, ...; `pairs` are "a:1 b1" and so on.
std::string star(int nics, const std::string& profile, const std::vector<std::pair<std::string, std::string>>& flows,
                 const std::string& more = "payload: 4096B") {
  std::string nodes = fmt::format("nodes: {{ sw: {{ kind: switch }}, a: {{ kind: host, profile: shared, nics: {} }}", nics);
  std::string links;
  for (int n = 1; n <= nics; ++n) {
    nodes += fmt::format(", b{}: {{ kind: host }}", n);
    links += fmt::format("{}[a:{}, sw:{}], [b{}:1, sw:{}]", n > 1 ? ", " : "", n, n, n, nics + n);
  }
  std::string traffic;
  for (const auto& [from, to] : flows)
    traffic += fmt::format("  - {{ name: {}-{}, from: {}, to: {}, dscp: 26, {} }}\n", from.substr(0, from.find(':')),
                           to.substr(0, to.find(':')), from, to, more);
  return "name: star\n"
         "qos: { default: { classes: { 3: { lossless: true } } } }\n"
         "hosts: { default: {}, shared: { " + profile + " } }\n"
         "defaults: { link: { rate: 400Gbps, cable: 3m } }\n" +
         nodes + " }\nlinks: [" + links + "]\ntraffic:\n" + traffic + "run: { duration: 1ms }\n";
}

// Payload of each flow that came in the second half, in bits per second.
std::vector<double> goodputs(Scenario& s) {
  std::vector<double> rates;
  s.run_until(500_us);
  for (const build::Flow& f : s.lab().flows()) rates.push_back(-static_cast<double>(f.received().packets));
  s.run_until(1_ms);
  for (std::size_t i = 0; i < rates.size(); ++i)
    rates[i] = (rates[i] + static_cast<double>(s.lab().flows()[i].received().packets)) * kOctets * 8 / 500e-6;
  return rates;
}

std::vector<double> goodputs(const std::string& lab) {
  Scenario s(lab);
  return goodputs(s);
}

TEST(SharedPcie, TwoSendersHaveHalfOfItEach) {
  Scenario s(star(2, kShared, {{"a:1", "b1"}, {"a:2", "b2"}}));
  for (const double rate : goodputs(s)) EXPECT_NEAR(rate / (kUplink5x16 / 2 * kShareOfPayload), 1, 0.002);
  EXPECT_EQ(s.at("sw:1", 3).xoff_sent, 0u) << "nobody is paused";
}

TEST(SharedPcie, OneAloneHasAllOfIt) {
  EXPECT_NEAR(goodputs(star(2, kShared, {{"a:2", "b1"}}))[0] / kOneAlone, 1, 0.002) << "the link is the limit";
  EXPECT_NEAR(goodputs(star(2, "pcie: { slot: gen4x16, shared-by: 2 }", {{"a:2", "b1"}}))[0] / (kUplink4x16 * kShareOfPayload), 1, 0.002);
}

// What one of them does not use is the other's: what the uplink has left, or all that its link carries.
TEST(SharedPcie, ASlowFlowLeavesTheRestToItsNeighbour) {
  const std::string lab = star(2, kShared, {{"a:1", "b1"}, {"a:2", "b2"}});
  Scenario s(lab, {"traffic.0.rate=200Gbps"});
  const std::vector<double> rates = goodputs(s);
  EXPECT_NEAR(rates[0], 200e9 * 4096 / 4178, 0.01 * 200e9);
  EXPECT_NEAR(rates[0] + rates[1], kUplink5x16 * kShareOfPayload, 0.005 * kUplink5x16);
  Scenario slower(lab, {"traffic.0.rate=100Gbps"});
  const std::vector<double> link = goodputs(slower);
  EXPECT_NEAR(link[0], 100e9 * 4096 / 4178, 0.01 * 100e9);
  EXPECT_NEAR(link[1], kOneAlone, 0.005 * kOneAlone) << "the uplink has 404 Gb/s left, the link 400";
}

TEST(SharedPcie, TwoReceiversHaveHalfOfItEach) {
  Scenario s(star(2, kShared, {{"b1", "a:1"}, {"b2", "a:2"}}));
  for (const double rate : goodputs(s)) EXPECT_NEAR(rate / (kUplink5x16 / 2 * kShareOfPayload), 1, 0.01);
  EXPECT_GT(s.at("a:1", 3).xoff_sent, 0u);
  EXPECT_GT(s.at("a:2", 3).xoff_sent, 0u);
  EXPECT_EQ(s.dropped(), 0u);
}

TEST(SharedPcie, OneReceiverAloneHasAllOfIt) {
  Scenario s(star(2, kShared, {{"b1", "a:1"}}));
  EXPECT_NEAR(goodputs(s)[0] / kOneAlone, 1, 0.002);
  EXPECT_EQ(s.at("a:1", 3).xoff_sent, 0u);
}

// Neither direction takes from the other.
TEST(SharedPcie, DirectionsAreIndependent) {
  const std::vector<double> rates =
      goodputs(star(2, kShared, {{"a:1", "b1"}, {"a:2", "b2"}, {"b1", "a:1"}, {"b2", "a:2"}}));
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(rates[i] / (kUplink5x16 / 2 * kShareOfPayload), 1, 0.01) << i;
  for (std::size_t i = 2; i < 4; ++i) EXPECT_NEAR(rates[i] / (kUplink5x16 / 2 * kShareOfPayload), 1, 0.01) << i;
}

TEST(SharedPcie, ThreeHaveAThirdEach) {
  const std::string profile = "pcie: { slot: gen5x16, shared-by: 3 }";
  for (const double rate : goodputs(star(3, profile, {{"a:1", "b1"}, {"a:2", "b2"}, {"a:3", "b3"}})))
    EXPECT_NEAR(rate / (kUplink5x16 / 3 * kShareOfPayload), 1, 0.002);
  for (const double rate : goodputs(star(3, profile, {{"b1", "a:1"}, {"b2", "a:2"}, {"b3", "a:3"}})))
    EXPECT_NEAR(rate / (kUplink5x16 / 3 * kShareOfPayload), 1, 0.01);
}

// It is octets that are shared out: who sends small frames sends more of them.
TEST(SharedPcie, SmallFramesHaveAsManyOctetsAsLargeOnes) {
  Scenario s(star(3, "pcie: { slot: gen4x16, shared-by: 3 }", {{"a:1", "b1"}, {"a:2", "b2"}, {"a:3", "b3"}}), {"traffic.0.payload=1024B"});
  s.run_until(1_ms);
  std::vector<double> octets;
  for (const char* port : {"a:1", "a:2", "a:3"}) octets.push_back(static_cast<double>(s.at(port, 3).tx_octets));
  for (const double o : octets) EXPECT_NEAR(o / (kUplink4x16 / 3 / 8 * 1e-3), 1, 0.005);
}

// The third NIC is behind the next uplink, which it has for itself.
TEST(SharedPcie, EveryGroupHasAnUplinkOfItsOwn) {
  const std::vector<double> rates = goodputs(star(3, kShared, {{"a:1", "b1"}, {"a:2", "b2"}, {"a:3", "b3"}}));
  EXPECT_NEAR(rates[0] / (kUplink5x16 / 2 * kShareOfPayload), 1, 0.002);
  EXPECT_NEAR(rates[2] / kOneAlone, 1, 0.002);
}

// Four slots of 252 Gb/s behind an uplink of 504.
TEST(SharedPcie, SlotAndUplinkLimitTogether) {
  const std::string profile = "pcie: { slot: gen4x16, uplink: gen5x16, shared-by: 4 }";
  EXPECT_NEAR(goodputs(star(4, profile, {{"a:1", "b1"}}))[0] / (kUplink4x16 * kShareOfPayload), 1, 0.002);
  for (const double rate : goodputs(star(4, profile, {{"a:1", "b1"}, {"a:2", "b2"}, {"a:3", "b3"}, {"a:4", "b4"}})))
    EXPECT_NEAR(rate / (kUplink5x16 / 4 * kShareOfPayload), 1, 0.002);
  EXPECT_NEAR(goodputs(star(4, profile, {{"b1", "a:1"}}))[0] / (kUplink4x16 * kShareOfPayload), 1, 0.01);
  for (const double rate : goodputs(star(4, profile, {{"b1", "a:1"}, {"b2", "a:2"}, {"b3", "a:3"}})))
    EXPECT_NEAR(rate / (kUplink5x16 / 3 * kShareOfPayload), 1, 0.01);
}

// A host that stops taking frames at one NIC leaves the uplink to the other.
TEST(SharedPcie, AStoppedReceiverLeavesItToTheOther) {
  Scenario s(star(2, kShared, {{"b1", "a:1"}, {"b2", "a:2"}}));
  s.run_until(100_us);
  s.add_fault_at(100_us, "name: stuck, on: \"a:1\", stop-receiving: true");
  const std::vector<double> rates = goodputs(s);
  EXPECT_EQ(rates[0], 0);
  EXPECT_NEAR(rates[1] / kOneAlone, 1, 0.01);
}

TEST(SharedPcie, AnUplinkThatIsFastEnoughChangesNothing) {
  const std::vector<std::pair<std::string, std::string>> flows{{"a:1", "b1"}, {"b2", "a:2"}};
  Scenario with(star(2, "pcie: { slot: gen6x16, shared-by: 2 }", flows)), without(star(2, "", flows));
  EXPECT_EQ(goodputs(with), goodputs(without));
  EXPECT_EQ(with.digest(), without.digest());
}

// ---- Whatever runs it ------------------------------------------------------------------------------------------------

std::uint64_t shared_pcie_digest(std::size_t workers) {
  EngineConfig config;
  config.workers = workers;
  Scenario s = Scenario::ready("shared-pcie", {}, config);
  s.run_to_the_end();
  return s.digest();
}

TEST(SharedPcie, AnyNumberOfWorkersGivesTheSameBytes) {
  const std::uint64_t one = shared_pcie_digest(1);
  for (const std::size_t workers : {2u, 4u}) EXPECT_EQ(shared_pcie_digest(workers), one) << workers;
}

TEST(SharedPcie, CollectivesAreMeasuredAgainstItAndEstimated) {
  Scenario s = Scenario::ready("shared-pcie");
  s.run_to_the_end();
  const report::CollectiveReport c = s.report().collectives.at(0);
  EXPECT_TRUE(c.verified) << c.stalled << c.wrong;
  EXPECT_NEAR(c.limit_bps, 2 * kUplink5x16, 0.001 * 2 * kUplink5x16);
  EXPECT_GT(c.share_of_limit(), 0.9);
  EXPECT_LE(c.share_of_limit(), 1.0);
  const auto estimated = estimate::estimate(s.lab().spec(), {.least_chunk = 0});
  ASSERT_TRUE(estimated);
  const double run = static_cast<double>(*c.median_ns) * 1000;
  EXPECT_NEAR(static_cast<double>(estimated->collectives[0].time.ps) / run, 1, 0.02);
  EXPECT_EQ(estimated->links[0].name, "h1:1-2 PCIe out");
}

}  // namespace
}  // namespace railyard::test
