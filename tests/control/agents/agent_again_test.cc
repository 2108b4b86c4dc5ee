// Collectives and flows of agents that have ended, and are run again.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/control/agents/agent_lab.h"

namespace railyard::agents {
namespace {

using testing::Contains;
using testing::HasSubstr;

const std::string kRingOfThree = "{ name: c, size: 120000B, chunk: 1000B, ranks: [a1, a2, a3], repeats: 2 }";
const std::string kFlowOfTwo =
    "traffic: [ { name: t, from: a1, to: a2, transport: roce, path-mtu: 1024, bytes: 500000B, message: 1000B } ]\n";

std::string why_not_again(AgentLab& lab, const std::string& name) {
  try {
    lab.hosts->again(lab.now, name);
  } catch (const NotAgain& error) {
    return error.what();
  }
  return "(it is)";
}

TEST(AgentsAgain, ACollectiveThatFailedIsVerifiedTheSecondTime) {
  AgentLab lab(kRingOfThree);
  for (int i = 1; i <= 3; ++i) lab.join(i);
  while (lab.state() != "running") lab.turn();
  for (int i = 0; i < 3; ++i) lab.turn();
  lab.kill(lab.clients[1]);
  lab.run();
  ASSERT_EQ(lab.state(), "failed");
  EXPECT_EQ(lab.hosts->again(lab.now, "c"), "collective");
  EXPECT_EQ(lab.collective().stalled, "waiting for the agent of rank 1 (a2:1): it closed its connection");
  lab.join(2);
  lab.run();
  EXPECT_EQ(lab.state(), "done") << lab.hosts->report().dump(2);
  EXPECT_TRUE(lab.collective().verified);
  EXPECT_EQ(lab.hosts->report()["collectives"][0]["attempt"], 2);
  EXPECT_THAT(lab.log, Contains("collective c: restarted"));
}

TEST(AgentsAgain, AFlowThatFailedIsVerifiedTheSecondTime) {
  AgentLab lab(kFlowOfTwo, 2);
  for (int i = 1; i <= 2; ++i) lab.join(i);
  while (lab.flow_state() != "running") lab.turn();
  lab.turn();
  lab.kill(lab.clients[1]);
  lab.run();
  ASSERT_EQ(lab.flow_state(), "failed");
  lab.join(2);
  EXPECT_EQ(lab.flow_state(), "failed") << "nobody has asked";
  EXPECT_EQ(lab.hosts->again(lab.now, lab.flow().name), "flow");
  EXPECT_EQ(lab.flow_state(), "preparing");
  lab.run();
  EXPECT_EQ(lab.flow_state(), "done");
  EXPECT_EQ(lab.flow().roce->verified, 500u);
  EXPECT_EQ(lab.flow().delivered_bytes, 500'000u);
  EXPECT_FALSE(lab.flow().failed());
}

TEST(AgentsAgain, WhatIsDoneMayBeRunAgainAnyNumberOfTimes) {
  AgentLab lab(kRingOfThree);
  for (int i = 1; i <= 3; ++i) lab.join(i);
  lab.run();
  for (int attempt = 2; attempt < 5; ++attempt) {
    ASSERT_EQ(lab.state(), "done");
    lab.hosts->again(lab.now, "c");
    EXPECT_EQ(lab.state(), "preparing");
    lab.run();
    EXPECT_TRUE(lab.collective().verified);
    EXPECT_EQ(lab.hosts->report()["collectives"][0]["attempt"], attempt);
  }
}

TEST(AgentsAgain, WhatWasSaidOfTheAttemptBeforeIsNotTakenForThisOne) {
  AgentLab lab(kFlowOfTwo + "collectives: [ " + kRingOfThree + " ]\n");
  for (int i = 1; i <= 3; ++i) lab.join(i);
  lab.run();
  lab.hosts->again(lab.now, "c");
  lab.hosts->again(lab.now, lab.flow().name);
  lab.hosts->on_message(1,
                        to_json(RankResult{.id = {0, 0}, .failure = "late", .repeats = {}, .counters = {}}, "failed"));
  lab.hosts->on_message(1, to_json(FlowResult{.id = {0, false}, .failure = "late", .counters = {}}, "failed"));
  EXPECT_EQ(lab.state(), "preparing");
  EXPECT_EQ(lab.flow_state(), "preparing");
  // Of one that there has not been yet.
  EXPECT_THROW(lab.hosts->on_message(1, message("connected", RankId{2, 0})), ProtocolError);
}

// Built-in ends have other QPs, and what came of them begins at nothing.
TEST(AgentsAgain, ABuiltInPeerIsMadeAnew) {
  AgentLab lab(
      "traffic: [ { name: t, from: a1, to: b, transport: roce, bytes: 5000B, message: 1000B, qps: 2 } ]\n"
      "collectives: [ { name: c, size: 12000B, ranks: [a1, b] } ]\n",
      1);
  lab.join(1);
  const auto& flow = lab.built.agent_flows()[0];
  const auto& collective = lab.built.agent_collectives()[0];
  const std::size_t place = flow.sink.place;
  const std::uint64_t chance = flow.chance;
  const roce::RoceRank* const rank = collective.ranks[1];
  lab.kill(lab.clients[0]);
  lab.hosts->again(lab.now, "c");
  lab.hosts->again(lab.now, lab.flow().name);
  EXPECT_NE(flow.sink.place, place);
  EXPECT_NE(flow.chance, chance);
  EXPECT_NE(collective.ranks[1], rank);
  EXPECT_EQ(collective.ranks[1]->program().connections.size(), rank->program().connections.size());
}

TEST(AgentsAgain, WhatHasNotEndedOrIsUnknownIsRefused) {
  AgentLab lab(kRingOfThree);
  EXPECT_EQ(why_not_again(lab, "d"), "there is no collective or flow with agents 'd'");
  EXPECT_EQ(why_not_again(lab, "c"),
            "collective c: waiting for the agent of rank 0 (a1:1): it has not joined yet; expected one that completed "
            "or failed");
  for (int i = 1; i <= 3; ++i) lab.join(i);
  while (lab.state() != "running") lab.turn();
  EXPECT_THAT(why_not_again(lab, "c"), HasSubstr("collective c: running"));
  lab.run();
  EXPECT_TRUE(lab.collective().verified) << "it was left alone";
}

TEST(AgentsAgain, AFlowWhoseTimeIsOverIsRefused) {
  AgentLab lab("traffic: [ { name: t, from: a1, to: a2, transport: roce, message: 1000B, bytes: 3000B, stop: 5s } ]\n",
               2);
  for (int i = 1; i <= 2; ++i) lab.join(i);
  lab.run();
  ASSERT_EQ(lab.flow_state(), "done");
  lab.now = lab.now + Duration{6'000'000'000'000};
  EXPECT_EQ(why_not_again(lab, lab.flow().name), "flow " + lab.flow().name + ": stopped sending at 5s");
}

}  // namespace
}  // namespace railyard::agents
