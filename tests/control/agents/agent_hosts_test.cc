// Agents of a lab: who may join, and collectives that they carry out from end to end, over verbs of the test's own.
#include "control/agents/agent_hosts.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/control/agents/agent_lab.h"

namespace railyard::agents {
namespace {

using testing::HasSubstr;

const std::string kRing = "{ name: c, size: 12000B, chunk: 1000B, ranks: [a1, a2, a3], repeats: 4, channels: 2 }";

std::string refusal(AgentLab& lab, const Hello& hello) {
  try {
    lab.hosts->on_message(99, to_json(hello));
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "taken";
}
Hello hello(const std::string& host, const std::string& token) {
  return {.version = "1", .host = host, .token = token, .devices = {{.device = "rxe1"}}};
}

TEST(AgentHosts, AllReduceIsVerifiedOnEveryRankInEveryRepeat) {
  AgentLab lab(kRing);
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(lab.state(), "waiting");
    lab.join(i);
  }
  lab.run();
  EXPECT_EQ(lab.state(), "done");
  const report::CollectiveReport r = lab.collective();
  EXPECT_TRUE(r.verified) << r.stalled << r.wrong;
  EXPECT_EQ(r.iterations.size(), 4u);
  EXPECT_TRUE(r.median_ns && *r.median_ns > 0);
  // Ring: each of three ranks sends and receives 2 (n - 1) / n of the data.
  EXPECT_EQ(r.fabric_bytes, 4u * 3u * 12'000u * 2u * 2u / 3u);
  const nlohmann::json agents = lab.hosts->report()["collectives"][0]["agents"];
  ASSERT_EQ(agents.size(), 3u);
  EXPECT_EQ(agents[1]["host"], "a2");
  EXPECT_EQ(agents[1]["device"], "rxe1");
  EXPECT_EQ(agents[1]["hw_counters"]["sent_pkts"], 7u);
  EXPECT_EQ(agents[1]["repeats_ns"].size(), 4u);
}

TEST(AgentHosts, EveryCollectiveIsVerified) {
  for (const char* what : {"all-reduce", "reduce-scatter", "all-gather", "broadcast", "all-to-all"}) {
    SCOPED_TRACE(what);
    AgentLab lab("{ name: c, collective: " + std::string(what) + ", size: 12000B, chunk: 800B, ranks: [a1, a2, a3], "
                 "repeats: 5, datatype: uint32 }");
    for (int i = 1; i <= 3; ++i) lab.join(i);
    lab.run();
    EXPECT_TRUE(lab.collective().verified) << lab.collective().stalled << lab.collective().wrong;
  }
}

TEST(AgentHosts, StepsOfTrainingTakeTheirTime) {
  AgentLab lab("{ name: c, size: 12000B, ranks: [a1, a2, a3], repeats: 2, forward: 5us, backward: 10us, buckets: 2 }");
  for (int i = 1; i <= 3; ++i) lab.join(i);
  for (int i = 0; i < 200; ++i) lab.turn();
  EXPECT_TRUE(lab.collective().verified) << lab.collective().stalled;
  EXPECT_GE(*lab.collective().min_ns, 15'000);
  EXPECT_EQ(lab.collective().job->compute_ns, 15'000);
  EXPECT_GT(lab.collective().job->utilisation, 0.3);
  EXPECT_LT(lab.collective().job->utilisation, 1.0);
}

// A wrong octet on the way is found by who checks its result.
TEST(AgentHosts, DataThatAreWrongAreReported) {
  AgentLab lab(kRing);
  for (int i = 1; i <= 3; ++i) lab.join(i);
  lab.network.spoil = true;
  lab.run();
  const report::CollectiveReport r = lab.collective();
  EXPECT_TRUE(r.completed);
  EXPECT_FALSE(r.verified);
  EXPECT_GT(r.wrong_bytes, 0u);
  EXPECT_THAT(r.wrong, HasSubstr("iteration 1"));
}

TEST(AgentHosts, AnAgentThatVanishesEndsItForAllByName) {
  AgentLab lab(kRing);
  for (int i = 1; i <= 3; ++i) lab.join(i);
  while (lab.state() != "running") lab.turn();
  for (int i = 0; i < 3; ++i) lab.turn();
  lab.kill(lab.clients[1]);
  lab.run();
  EXPECT_EQ(lab.state(), "failed");
  const report::CollectiveReport r = lab.collective();
  EXPECT_FALSE(r.completed);
  EXPECT_EQ(r.stalled, "the agent of rank 1 (a2:1) is lost: it closed its connection");
  // The others have given up their ranks, and could be told of others.
  EXPECT_EQ(lab.clients[0].agent->next_due(), Instant::never());
  EXPECT_FALSE(lab.hosts->report()["agents"][1]["joined"].get<bool>());
  EXPECT_TRUE(lab.hosts->report()["agents"][0]["joined"].get<bool>());
}

// Its own QPs find out, too, if the lab does not: retries come to their end.
TEST(AgentHosts, AQpThatFailsEndsItForAll) {
  AgentLab lab(kRing);
  for (int i = 1; i <= 3; ++i) lab.join(i);
  while (lab.state() != "running") lab.turn();
  lab.clients[1].agent.reset();
  lab.run();
  EXPECT_EQ(lab.state(), "failed");
  EXPECT_THAT(lab.collective().stalled, HasSubstr("the QP to rank 1 failed: transport retry counter exceeded"));
}

TEST(AgentHosts, AnAgentWhoseDeviceIsElsewhereSaysSo) {
  AgentLab lab(kRing);
  lab.join(1);
  lab.join(2);
  AgentLab::Client& c = lab.clients.emplace_back();
  c.verbs = std::make_unique<agent::FakeVerbs>(lab.network, "10.9.0.77");
  c.agent = std::make_unique<agent::Agent>(*c.verbs, agent::AgentConfig{"a3", "secret-3", "1"});
  c.id = 3;
  lab.hosts->on_message(3, c.agent->hello());
  lab.run();
  EXPECT_EQ(lab.collective().stalled, "rank 2 (a3:1): no RDMA device of this host has the RoCE v2 GID 10.9.0.3");
}

TEST(AgentHosts, WhoMayNotJoinIsToldWhy) {
  AgentLab lab(kRing);
  EXPECT_EQ(refusal(lab, hello("a1", "secret-2")), "wrong token for host 'a1' of lab 'x'");
  EXPECT_EQ(refusal(lab, hello("a1", "")), "wrong token for host 'a1' of lab 'x'");
  EXPECT_EQ(refusal(lab, hello("a1", "secret-11")), "wrong token for host 'a1' of lab 'x'");
  EXPECT_EQ(refusal(lab, hello("b", "secret-1")),
            "lab 'x' has no host 'b' with an agent; expected --name of a host with `agent: { token: ... }` in its "
            "fabric file");
  Hello other = hello("a1", "secret-1");
  other.protocol = 9;
  EXPECT_EQ(
      refusal(lab, other),
      "the agent has protocol version 9, lab 'x' (railyard 1) has version 2; expected an agent of the same release");
  Hello without = hello("a1", "secret-1");
  without.devices.clear();
  EXPECT_EQ(refusal(lab, without), "host 'a1' has no RDMA device for the agent");
  lab.join(1);
  EXPECT_EQ(refusal(lab, hello("a1", "secret-1")), "another agent has already joined as host 'a1' of lab 'x'");
  // Nobody is harmed by them.
  lab.join(2);
  lab.join(3);
  lab.run();
  EXPECT_TRUE(lab.collective().verified);
}

TEST(AgentHosts, WhatMakesNoSenseCostsWhoSaysIt) {
  AgentLab lab(kRing);
  for (int i = 1; i <= 3; ++i) lab.join(i);
  EXPECT_THROW(lab.hosts->on_message(7, {{"type", "go"}}), ProtocolError);
  while (lab.state() != "running") lab.turn();
  // A rank of another's.
  EXPECT_THROW(lab.hosts->on_message(1, message("connected", RankId{0, 2})), ProtocolError);
  lab.clients[0].agent.reset();  // its connection is closed
  lab.run();
  EXPECT_EQ(lab.state(), "failed");
  EXPECT_THAT(lab.collective().stalled, HasSubstr("the agent of rank 0 (a1:1) is lost: it sent an invalid message"));
}

TEST(AgentHosts, TokensAreTheSameOrNot) {
  EXPECT_TRUE(same_token("12345678", "12345678"));
  EXPECT_FALSE(same_token("12345679", "12345678"));
  EXPECT_FALSE(same_token("1234567812345678", "12345678"));
  EXPECT_FALSE(same_token("", ""));
}

TEST(Agent, NeedsADevice) {
  agent::FakeNetwork network;
  agent::FakeVerbs none(network, "10.9.0.1");
  none.has_device = false;
  EXPECT_THROW(agent::Agent(none, {"a1", "secret-1", "1"}), agent::VerbsError);
}

TEST(Agent, DoesNotDoWhatMakesNoSense) {
  agent::FakeNetwork network;
  agent::FakeVerbs verbs(network, "10.9.0.1");
  agent::Agent a(verbs, {"a1", "secret-1", "1"});
  nlohmann::json error = message("error");
  error["why"] = "wrong token";
  EXPECT_THROW(a.on_message({}, message("go", RankId{0, 0})), ProtocolError);  // before welcome
  EXPECT_THROW(a.on_message({}, error), agent::Agent::Refused);
  a.on_message({}, message("welcome"));
  EXPECT_THROW(a.on_message({}, message("go", RankId{0, 0})), ProtocolError);  // not prepared
  EXPECT_THROW(a.on_message({}, message("dance", RankId{0, 0})), ProtocolError);
  EXPECT_THROW(a.on_message({}, message("prepare", RankId{0, 0})), ProtocolError);
}

}  // namespace
}  // namespace railyard::agents
