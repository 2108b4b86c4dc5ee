// Trains between NICs of a lab under the virtual clock.
#include "control/probes/prober.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/load.h"
#include "tests/scenarios/scenario.h"

namespace railyard::probes {
namespace {

using namespace literals;
using test::Scenario;
using testing::HasSubstr;

constexpr const char* kTwoRacks = R"(
name: racks
defaults: { link: { rate: 100Gbps, cable: 3m } }
topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 2, fabric-link: { rate: 100Gbps, cable: 3m } }
)";

std::vector<Arrived> send(Scenario& s, Prober& prober, const std::vector<Train>& trains, const Shape& shape = {}) {
  const Instant now = s.engine().reached();
  prober.begin(s.engine(), now, trains, shape);
  s.run_until(prober.ends() - Instant{});
  s.engine().settle(prober.ends());
  EXPECT_TRUE(prober.is_over(prober.ends()));
  std::vector<Arrived> arrived = prober.end(s.engine(), prober.ends());
  s.run_until(prober.ends() - Instant{} + 1_us);
  return arrived;
}

// 4096 octets of payload and 82 around them, as on an Ethernet link of 100 Gb/s.
TEST(Prober, ATrainOnAnIdleFabricHasTheRateOfItsLink) {
  Scenario s(kTwoRacks);
  Prober prober(s.lab());
  const Train train{{"h1", 1}, {"h3", 1}, {}, 64, {}};
  const auto arrived = send(s, prober, {train});
  ASSERT_EQ(arrived.size(), 1u);
  EXPECT_EQ(arrived[0].sent, 64u);
  EXPECT_EQ(arrived[0].received, 64u);
  EXPECT_EQ(arrived[0].corrupted, 0u);
  const auto bps = bps_of(arrived[0], {}, prober.least_time(train, {}));
  ASSERT_TRUE(bps);
  EXPECT_NEAR(*bps, 100e9 * 4096 / (4096 + 82), 100e9 * 0.0002);
}

TEST(Prober, SpacedFramesDoNotQueue) {
  Scenario s(kTwoRacks);
  Prober prober(s.lab());
  const auto arrived = send(s, prober, {{{"h1", 1}, {"h3", 1}, {}, 100, 20_us}});
  EXPECT_EQ(arrived[0].latency.count(), 100u);
  EXPECT_EQ(arrived[0].latency.min(), arrived[0].latency.max());
}

TEST(Prober, TwoTrainsIntoOneNicShareItsLink) {
  Scenario s(kTwoRacks);
  Prober prober(s.lab());
  const std::vector<Train> trains{{{"h1", 1}, {"h2", 1}, {}, 64, {}}, {{"h3", 1}, {"h2", 1}, {}, 64, {}}};
  const auto arrived = send(s, prober, trains);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_LT(*bps_of(arrived[i], {}, prober.least_time(trains[i], {})), 60e9) << i;
}

TEST(Prober, LostFramesMakeATrainSlow) {
  Scenario s(kTwoRacks);
  s.add_fault_at({}, "on: leaf2:1, loss: 50%");
  Prober prober(s.lab());
  const Train train{{"h1", 1}, {"h3", 1}, {}, 400, {}};
  const auto arrived = send(s, prober, {train});
  EXPECT_GT(arrived[0].lost(), 100u);
  EXPECT_LT(*bps_of(arrived[0], {}, prober.least_time(train, {})), 70e9);
}

// The lab's own traffic goes on beside the probes and after them, and every octet of it is right.
TEST(Prober, TheNicsOwnTrafficGoesOn) {
  Scenario s(std::string(kTwoRacks) +
             "traffic: [ { name: own, from: h1, to: h3, transport: roce, bytes: 4MB }, { name: gen, from: h2, to: h3, "
             "bytes: 1MB } ]\n");
  Prober prober(s.lab());
  s.run_until(20_us);
  const auto arrived = send(s, prober, {{{"h1", 1}, {"h3", 1}, {}, 64, {}}, {{"h3", 1}, {"h2", 1}, {}, 64, {}}});
  EXPECT_EQ(arrived[0].received, 64u);
  EXPECT_EQ(arrived[1].received, 64u);
  s.run_to_the_end();
  const report::Report r = s.report();
  for (const report::FlowReport& f : r.flows) EXPECT_TRUE(f.fct_ns) << f.name;
}

TEST(Prober, ProbesGoInTheClassOfTheirDscp) {
  Scenario s(kTwoRacks);
  Prober prober(s.lab());
  send(s, prober, {{{"h1", 1}, {"h3", 1}, {}, 32, {}}});
  EXPECT_EQ(s.at("leaf1:1", 1).rx_packets, 32u);
  EXPECT_EQ(s.at("leaf1:1", 3).rx_packets, 0u);
  send(s, prober, {{{"h1", 1}, {"h3", 1}, {}, 32, {}}}, {.dscp = 26});
  EXPECT_EQ(s.at("leaf1:1", 3).rx_packets, 32u);
}

TEST(Prober, WhatCannotBeProbedIsRefusedAndNothingIsSent) {
  Scenario s(kTwoRacks);
  Prober prober(s.lab());
  const auto error = [&](const std::vector<Train>& trains, const Shape& shape = {}) -> std::string {
    try {
      prober.begin(s.engine(), s.engine().reached(), trains, shape);
    } catch (const NoProbe& refused) {
      return refused.what();
    }
    return "";
  };
  EXPECT_THAT(error({}), HasSubstr("no train"));
  EXPECT_THAT(error({{{"h1", 1}, {"h2", 1}, {}, 1, {}}}, {.payload = 9216}), HasSubstr("longer than its MTU of 9216"));
  EXPECT_FALSE(prober.running());
  prober.begin(s.engine(), s.engine().reached(), {{{"h1", 1}, {"h2", 1}, {}, 1, {}}}, {});
  EXPECT_THAT(error({{{"h1", 1}, {"h2", 1}, {}, 1, {}}}), HasSubstr("on their way"));
  EXPECT_FALSE(prober.is_abandoned(prober.ends()));
  EXPECT_TRUE(prober.is_abandoned(prober.ends() + Duration{60'000'000'000'000}));
  EXPECT_EQ(prober.job(), 1u) << "those that were refused are none";
  s.run_until(2_ms);
  prober.end(s.engine(), s.engine().reached());
}

}  // namespace
}  // namespace railyard::probes
