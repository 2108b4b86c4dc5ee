// h1 - leaf1 - h2, h3 with a fault that has acted: what it explains, and what not.
#include "control/swarm/excuses.h"

#include <string>

#include <gtest/gtest.h>

#include "control/fault/faults.h"
#include "control/spec/load.h"
#include "dataplane/run/engine.h"
#include "dataplane/run/virtual_clock.h"

namespace railyard::swarm {
namespace {

constexpr Priority kLossless{3};
constexpr Priority kLossy{0};

class ExcusesTest : public testing::Test {
 protected:
  // Runs a lab with one fault for 100 us.
  void with(const std::string& fault, const std::string& more = "") {
    TearDown();
    const std::string yaml =
        "name: excuses\ntopology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 3 }\n"
        "qos: { default: { classes: { 3: { lossless: true } } } }\n"
        "traffic: [{ name: t, pattern: permutation, dscp: 26, rate: 10Gbps }]\n"
        "faults: [{ " +
        fault + " }]\nrun: { duration: 100us }\n" + more;
    lab_ = std::make_unique<build::BuiltLab>(spec::parse(yaml, "excuses.yaml"));
    engine_ = std::make_unique<Engine>(lab_->fabric(), EngineConfig{});
    faults_ = std::make_unique<fault::Faults>(*lab_, *engine_);
    engine_->wake_all();
    run_virtual(*engine_, Instant{} + Duration{100'000'000});
    reach_ = std::make_unique<Reach>(*lab_);
    reach_->look(*faults_, engine_->reached());
    excuses_ = std::make_unique<Excuses>(*lab_, *reach_);
  }
  void TearDown() override {
    faults_.reset();
    engine_.reset();
  }
  PortRef port(const char* node, int number) const { return lab_->port({node, number}); }

  std::unique_ptr<build::BuiltLab> lab_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<fault::Faults> faults_;
  std::unique_ptr<Reach> reach_;
  std::unique_ptr<Excuses> excuses_;
};

TEST_F(ExcusesTest, LossExplainsWhatItsOwnDirectionLost) {
  with("on: \"leaf1:2 out\", loss: 10%");
  EXPECT_TRUE(excuses_->lost_to_fault(port("h2", 1)));
  EXPECT_FALSE(excuses_->lost_to_fault(port("leaf1", 2)));
  EXPECT_FALSE(excuses_->lost_to_fault(port("h3", 1)));
  EXPECT_FALSE(excuses_->lost_with_link(port("h2", 1)));
}

// Our pause frames to h2 are among those that are lost; what h2 gets is none of the headroom's.
TEST_F(ExcusesTest, LostPausesExplainFullHeadroomBehindThem) {
  with("on: \"leaf1:2 out\", loss: 10%");
  EXPECT_TRUE(excuses_->drop(DropReason::kHeadroomFull, port("leaf1", 2), kLossless));
  EXPECT_FALSE(excuses_->drop(DropReason::kHeadroomFull, port("leaf1", 1), kLossless));
  EXPECT_FALSE(excuses_->late_drop(DropReason::kHeadroomFull, port("leaf1", 2), kLossless));
}

// Our pause frames to h2 wait for frames of a quarter of the rate, while h2 sends at all of it. With both directions slow
// it sends as slowly, and headroom is enough.
TEST_F(ExcusesTest, ASlowDirectionExplainsFullHeadroomBehindItsPauses) {
  with("on: \"leaf1:2 out\", rate: 1/4");
  EXPECT_TRUE(excuses_->drop(DropReason::kHeadroomFull, port("leaf1", 2), kLossless));
  EXPECT_FALSE(excuses_->drop(DropReason::kHeadroomFull, port("leaf1", 1), kLossless));
  with("on: \"h2:1 in\", rate: 1/4");
  EXPECT_TRUE(excuses_->drop(DropReason::kHeadroomFull, port("leaf1", 2), kLossless));
  with("on: \"leaf1:2\", rate: 1/4");
  EXPECT_FALSE(excuses_->drop(DropReason::kHeadroomFull, port("leaf1", 2), kLossless));
}

// With LLR a pause frame waits until what is sent before it has arrived whole, however often it is retried.
TEST_F(ExcusesTest, RetriesExplainFullHeadroomBehindPausesThatWaitForThem) {
  with("on: \"leaf1:2 out\", truncate: 100B", "defaults: { link: { llr: on } }\n");
  EXPECT_TRUE(excuses_->drop(DropReason::kHeadroomFull, port("leaf1", 2), kLossless));
  EXPECT_FALSE(excuses_->drop(DropReason::kHeadroomFull, port("leaf1", 1), kLossless));
  EXPECT_FALSE(excuses_->late_drop(DropReason::kHeadroomFull, port("leaf1", 2), kLossless));
}

TEST_F(ExcusesTest, WithoutRetriesFramesThatAreCutHoldNothingUp) {
  with("on: \"leaf1:2 out\", truncate: 100B");
  EXPECT_FALSE(excuses_->drop(DropReason::kHeadroomFull, port("leaf1", 2), kLossless));
}

TEST_F(ExcusesTest, AFaultThatHasDoneNothingExplainsNothing) {
  with("on: leaf1:2, at: 90ms, down: true");
  EXPECT_FALSE(excuses_->drop(DropReason::kLinkDown, port("leaf1", 2), kLossless));
}

TEST_F(ExcusesTest, ALinkThatIsDown) {
  with("on: h2, at: 10us, for: 10us, down: true");
  EXPECT_TRUE(excuses_->drop(DropReason::kLinkDown, port("leaf1", 2), kLossless));
  EXPECT_TRUE(excuses_->lost_with_link(port("h2", 1)));
  EXPECT_FALSE(excuses_->drop(DropReason::kLinkDown, port("leaf1", 3), kLossless));
  EXPECT_FALSE(excuses_->late_drop(DropReason::kLinkDown, port("leaf1", 2), kLossless));
  EXPECT_FALSE(excuses_->drop(DropReason::kCrash, port("leaf1", 2), kLossless));
}

// Where tables follow links, they may lead nowhere for a while; not after the last fault.
TEST_F(ExcusesTest, RoutesThatAreOnTheirWay) {
  const std::string down = "on: h2, at: 10us, for: 10us, down: true";
  with(down, "routing: bgp\n");
  for (const DropReason reason : {DropReason::kNoRoute, DropReason::kTtlExpired}) {
    EXPECT_TRUE(excuses_->drop(reason, port("leaf1", 3), kLossless));
    EXPECT_FALSE(excuses_->late_drop(reason, port("leaf1", 3), kLossless));
  }
  with(down, "routing: static\n");
  EXPECT_FALSE(excuses_->drop(DropReason::kNoRoute, port("leaf1", 3), kLossless));
  with("on: h2, mark: true", "routing: bgp\n");
  EXPECT_FALSE(excuses_->drop(DropReason::kNoRoute, port("leaf1", 3), kLossless));
}

TEST_F(ExcusesTest, WhatALossyClassMayAndALosslessMustNot) {
  with("on: h2, mark: true");
  for (const DropReason r : {DropReason::kEgressFull, DropReason::kIngressFull, DropReason::kWred}) {
    EXPECT_TRUE(excuses_->drop(r, port("leaf1", 2), kLossy)) << name(r);
    EXPECT_FALSE(excuses_->drop(r, port("leaf1", 2), kLossless)) << name(r);
  }
  EXPECT_FALSE(excuses_->drop(DropReason::kTtlExpired, port("leaf1", 2), kLossy));
  EXPECT_FALSE(excuses_->drop(DropReason::kNoRoute, port("leaf1", 2), kLossy));
}

TEST_F(ExcusesTest, HeadroomThatWasMeantToBeTooSmall) {
  with("on: h2, mark: true", "switches: { default: { headroom-pool: 1MiB } }\n");
  EXPECT_TRUE(excuses_->drop(DropReason::kHeadroomFull, port("leaf1", 1), kLossless));
}

}  // namespace
}  // namespace railyard::swarm
