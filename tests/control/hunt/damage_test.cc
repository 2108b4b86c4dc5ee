// Damage against the fair share of a fabric, by reports that say what a run would.
#include "control/hunt/damage.h"

#include <gmock/gmock.h>

#include "control/spec/load.h"

namespace railyard::hunt {
namespace {

using HuntJson = nlohmann::ordered_json;

spec::Lab incast(const std::string& faults = "[]") {
  return spec::parse(R"(
name: lab
topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 3 }
defaults: { link: { rate: 100Gbps, cable: 3m } }
traffic:
  - { name: t1, pattern: incast, from: [h2, h3], to: h1, transport: roce, message: 64KiB, bytes: 1MiB }
faults: )" + faults + "\nrun: { duration: 10ms }\n",
                     "lab.yaml");
}

// 1 MiB at 98 Gb/s of payload takes 85.6 us alone, and 2 us are latency.
constexpr double kOctets = 1 << 20, kLimit = 98e9, kAlone = kOctets * 8e9 / kLimit + 2000;

HuntJson flow(const char* from, std::optional<double> fct_ns) {
  HuntJson f = {{"name", std::string("t1/") + from + "->h1"},
                {"src", from},
                {"dst", "h1"},
                {"start_ns", 0},
                {"ideal_ns", kAlone},
                {"limit_bps", kLimit},
                {"packets", 256},
                {"marked", 64}};
  f["fct_ns"] = fct_ns ? HuntJson(*fct_ns) : HuntJson(nullptr);
  return f;
}

HuntJson report(std::optional<double> h2, std::optional<double> h3, double pause_share = 0) {
  return {{"flows", {flow("h2", h2), flow("h3", h3)}},
          {"ports", {{{"classes", {{{"pause_share", pause_share}}}}}}},
          {"summary", {{"drops", 0}, {"retransmitted", 0}}}};
}

// Two flows to one NIC: each ideally has half of it, and takes twice as long.
constexpr double kFair = 2 * kOctets * 8e9 / kLimit + 2000;

TEST(Damage, AFairShareIsNoDamage) {
  for (const Hurt h : {Hurt::kGoodput, Hurt::kP99, Hurt::kJct})
    EXPECT_NEAR(damage_of(h, incast(), report(kFair, kFair)).value, 0, 0.01);
  const auto flows = flow_damages(incast(), report(kFair, kFair));
  ASSERT_EQ(flows.size(), 2u);
  EXPECT_NEAR(flows[0].ideal_ns, kFair, kFair * 0.01);
}

TEST(Damage, IsTheShareOfTheIdealThatIsLost) {
  // One as it should be, one four times as long.
  const HuntJson r = report(kFair, 4 * kFair);
  EXPECT_NEAR(damage_of(Hurt::kP99, incast(), r).value, 0.75, 0.01);
  EXPECT_NEAR(damage_of(Hurt::kJct, incast(), r).value, 0.75, 0.01);
  EXPECT_NEAR(damage_of(Hurt::kGoodput, incast(), r).value, 0.375, 0.01);
  EXPECT_EQ(damage_of(Hurt::kP99, incast(), r).worst_flow, "t1/h3->h1");
  EXPECT_DOUBLE_EQ(damage_of(Hurt::kPause, incast(), report(kFair, kFair, 0.3)).value, 0.3);
}

TEST(Damage, AFlowThatDoesNotCompleteTookAllOfTheRun) {
  EXPECT_NEAR(damage_of(Hurt::kP99, incast(), report(kFair, std::nullopt)).value, 1 - kFair / 10e6, 0.01);
}

TEST(Damage, WhatAFaultTakesFromTheFabricIsNoDamage) {
  // The receiver's link has a quarter of its rate: four times the fair time is ideal.
  const spec::Lab lab = incast("[{ name: f1, on: h1, rate: 1/4, at: 0us, for: 5ms }]");
  EXPECT_NEAR(damage_of(Hurt::kJct, lab, report(4 * kFair, 4 * kFair)).value, 0, 0.03);
  // To a NIC whose port is paused from outside nothing can be sent: there is no ideal.
  EXPECT_TRUE(flow_damages(incast("[{ name: f1, on: h1, pfc-storm: 3, for: 1ms }]"), report(kFair, kFair)).empty());
}

TEST(Damage, WhatAWindowKeepsBackIsNoDamage) {
  spec::Lab lab = incast();
  lab.traffic[0].roce.message = 256;
  // Four messages of 256 octets for each round trip of twice 2 us: 24 times as long as at line rate.
  const double slow = kOctets / (4 * 256 / (256 * 8e9 / kLimit + 2 * 2000)) + 2000;
  EXPECT_GT(slow, 20 * kFair);
  EXPECT_NEAR(damage_of(Hurt::kP99, lab, report(slow, slow)).value, 0, 0.01);
  EXPECT_NEAR(damage_of(Hurt::kP99, lab, report(2 * slow, 2 * slow)).value, 0.5, 0.01);
}

TEST(Damage, SignsLeadTheSearchWhereDamageIsAlike) {
  const Damage calm = damage_of(Hurt::kJct, incast(), report(kFair, kFair));
  const Damage paused = damage_of(Hurt::kJct, incast(), report(kFair, kFair, 0.9));
  EXPECT_EQ(calm.value, paused.value);
  EXPECT_GT(paused.energy(), calm.energy());
  EXPECT_DOUBLE_EQ(calm.signs.at("marked"), 128.0 / 513);
}

}  // namespace
}  // namespace railyard::hunt
