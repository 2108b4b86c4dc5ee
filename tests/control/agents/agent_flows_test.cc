// Flows of which agents have both ends, from end to end, over verbs of the test's own; and what the lab says to an
// agent whose peer is built in.
#include "control/agents/agent_flows.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/control/agents/agent_lab.h"

namespace railyard::agents {
namespace {

using testing::HasSubstr;

std::string traffic(const std::string& more) {
  return "traffic: [ { name: t, from: a1, to: a2, transport: roce, path-mtu: 1024, " + more + " } ]\n";
}

void join_all(AgentLab& lab, int n = 2) {
  for (int i = 1; i <= n; ++i) lab.join(i);
}

TEST(AgentFlows, EveryOperationIsVerified) {
  for (const std::string operation : {"write", "send", "read"}) {
    SCOPED_TRACE(operation);
    AgentLab lab(traffic("operation: " + operation + ", bytes: 100000B, message: 3000B, qps: 3, outstanding: 2"), 2);
    EXPECT_EQ(lab.flow_state(), "waiting");
    join_all(lab);
    lab.run();
    EXPECT_EQ(lab.flow_state(), "done") << lab.hosts->report().dump(2);
    const report::FlowReport f = lab.flow();
    EXPECT_EQ(f.source, "a1 (agent)");
    EXPECT_EQ(f.delivered_bytes, 100'000u);
    EXPECT_EQ(f.roce->operation, operation);
    EXPECT_EQ(f.roce->qps, 3);
    EXPECT_EQ(f.roce->messages, 34u);
    EXPECT_EQ(f.roce->verified, 34u);
    EXPECT_EQ(f.corrupted, 0u);
    EXPECT_FALSE(f.failed());
    ASSERT_TRUE(f.fct_ns.has_value());
    EXPECT_GT(*f.fct_ns, 0);
    EXPECT_GT(f.goodput_bps().value_or(0), 0);
    EXPECT_GT(f.roce->message_ns.p50, 0u);
    // The counters of both devices.
    ASSERT_EQ(f.roce->agents.size(), 2u);
    EXPECT_EQ(f.roce->agents[0].host, "a1");
    EXPECT_EQ(f.roce->agents[1].host, "a2");
    EXPECT_EQ(f.roce->agents[0].device, "rxe1");
    EXPECT_GT(f.roce->agents[0].hw_counters.at("sent_pkts"), 0u);
  }
}

// A message is shorter than a packet, one is the last and shorter, one is all there is.
TEST(AgentFlows, MessagesOfAnySizeArrive) {
  for (const std::string sizes : {"bytes: 1B, message: 1MB", "bytes: 4097B, message: 64B, outstanding: 1",
                                  "bytes: 70000B, message: 70000B", "bytes: 9999B, message: 5000B, outstanding: 16"})
    for (const std::string operation : {"write", "send", "read"}) {
      SCOPED_TRACE(operation + ", " + sizes);
      AgentLab lab(traffic("operation: " + operation + ", " + sizes), 2);
      join_all(lab);
      lab.run();
      EXPECT_EQ(lab.flow_state(), "done");
      EXPECT_EQ(lab.flow().roce->verified, lab.flow().roce->messages);
      EXPECT_GT(lab.flow().roce->verified, 0u);
    }
}

TEST(AgentFlows, AnOctetThatIsWrongIsFound) {
  for (const std::string operation : {"write", "send", "read"}) {
    SCOPED_TRACE(operation);
    AgentLab lab(traffic("operation: " + operation + ", bytes: 20000B, message: 1000B"), 2);
    join_all(lab);
    lab.network.spoil = true;
    lab.run();
    EXPECT_EQ(lab.flow_state(), "done");
    EXPECT_EQ(lab.flow().corrupted, 1u);
    EXPECT_EQ(lab.flow().roce->verified, 19u);
  }
}

// The places of announced WRITEs are not written to again before the sink has looked at them, however late it does.
TEST(AgentFlows, ASinkThatIsSlowHoldsItsSourceBack) {
  AgentLab lab(traffic("operation: write, bytes: 200000B, message: 1000B, outstanding: 2"), 2);
  join_all(lab);
  while (lab.flow_state() != "running") lab.turn();
  lab.turn();
  agent::Agent* const sink = lab.clients[1].agent.get();
  agent::Agent* const source = lab.clients[0].agent.get();
  // The sink does nothing: no more than it has receive requests, and one that waits for the next.
  for (int i = 0; i < 100; ++i) {
    lab.network.deliver();
    source->work(lab.now);
  }
  EXPECT_FALSE(lab.network.deliver());
  while (sink->work(lab.now)) continue;
  lab.run();
  EXPECT_EQ(lab.flow_state(), "done");
  EXPECT_EQ(lab.flow().roce->verified, 200u);
}

// What goes on says how far it is once a second; when it is to stop, it ends with what was asked for.
TEST(AgentFlows, OneWithoutAnEndTellsHowFarItIsAndStops) {
  AgentLab lab(traffic("operation: send, message: 1000B, stop: 5s"), 2);
  join_all(lab);
  while (lab.flow_state() != "running") lab.turn();
  EXPECT_EQ(lab.flow().delivered_bytes, 0u);
  for (int second = 1; second < 4; ++second) {
    lab.now = lab.now + Duration{1'000'000'000'000};
    for (int i = 0; i < 4; ++i) lab.turn();
    EXPECT_EQ(lab.flow_state(), "running");
    EXPECT_GT(lab.flow().delivered_bytes, 0u);
    EXPECT_GT(lab.flow().goodput_bps().value_or(0), 0);
  }
  lab.now = lab.now + Duration{3'000'000'000'000};
  lab.run();
  EXPECT_EQ(lab.flow_state(), "done");
  EXPECT_EQ(lab.flow().roce->verified, lab.flow().roce->messages);
}

TEST(AgentFlows, SeveralAtOnceAndACollectiveBesideThem) {
  AgentLab lab(
      "collectives: [ { name: c, size: 12000B, chunk: 1000B, ranks: [a1, a2, a3], repeats: 2 } ]\n"
      "traffic: [ { name: t, pattern: all-to-all, from: a*, to: a*, transport: roce, bytes: 30000B, message: 1000B } "
      "]\n");
  join_all(lab, 3);
  lab.run();
  EXPECT_TRUE(lab.collective().verified) << lab.collective().stalled;
  ASSERT_EQ(lab.hosts->flows().size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(lab.flow_state(i), "done");
    EXPECT_EQ(lab.flow(i).roce->verified, 30u);
  }
}

TEST(AgentFlows, AnAgentThatVanishesEndsItsFlowsByName) {
  AgentLab lab(
      "traffic: [ { name: t, from: a1, to: [a2, a3], transport: roce, message: 1000B, stop: 1000s },\n"
      "           { name: u, from: a3, to: a1, transport: roce, message: 1000B, bytes: 50000B } ]\n");
  join_all(lab, 3);
  for (int i = 0; i < 10; ++i) lab.turn();
  lab.kill(lab.clients[1]);
  for (int i = 0; i < 200; ++i) lab.turn();
  EXPECT_EQ(lab.flow_state(0), "failed");
  EXPECT_TRUE(lab.flow(0).failed());
  EXPECT_EQ(lab.flow(0).roce->status, "the agent of its sink (a2:1) is lost: it closed its connection");
  // The others go on.
  EXPECT_EQ(lab.flow_state(1), "running");
  EXPECT_EQ(lab.flow_state(2), "done");
  EXPECT_TRUE(lab.hosts->report()["agents"][0]["joined"].get<bool>());
}

TEST(AgentFlows, AQpThatFailsEndsItAtBothEnds) {
  AgentLab lab(traffic("operation: write, message: 1000B, stop: 1000s"), 2);
  join_all(lab);
  while (lab.flow_state() != "running") lab.turn();
  lab.clients[1].agent.reset();  // its connection to the lab has not been closed
  for (int i = 0; i < 50; ++i) lab.turn();
  EXPECT_EQ(lab.flow_state(), "failed");
  EXPECT_EQ(lab.flow().roce->status, "transport retry counter exceeded");
  EXPECT_EQ(lab.hosts->report()["flows"][0]["why"], "its source (a1:1): a QP failed: transport retry counter exceeded");
}

TEST(AgentFlows, WhatMakesNoSenseCostsWhoSaysIt) {
  AgentLab lab(traffic("bytes: 1000B"), 2);
  join_all(lab);
  EXPECT_THROW(lab.hosts->on_message(1, message("connected", FlowEndId{0, true})), ProtocolError);  // the other's
  EXPECT_THROW(lab.hosts->on_message(2, message("connected", FlowEndId{7, true})), ProtocolError);  // of no flow
  EXPECT_EQ(lab.flow_state(), "failed");
}

TEST(AgentFlows, ADeviceThatIsElsewhereIsSaid) {
  AgentLab lab(traffic("bytes: 1000B"), 2);
  lab.join(1);
  AgentLab::Client& c = lab.clients.emplace_back();
  c.verbs = std::make_unique<agent::FakeVerbs>(lab.network, "10.9.0.77");
  c.agent = std::make_unique<agent::Agent>(*c.verbs, agent::AgentConfig{"a2", "secret-2", "1"});
  c.id = 2;
  lab.hosts->on_message(2, c.agent->hello());
  lab.run();
  EXPECT_EQ(lab.flow().roce->status, "its sink (a2:1): no RDMA device of this host has the RoCE v2 GID 10.9.0.2");
}

// To a built-in host: both ends get what they need of each other, before anything is sent.
TEST(AgentFlows, TheAgentOfABuiltInPeerIsToldAllOfItsQps) {
  AgentLab lab(
      "traffic: [ { name: t, from: a1, to: b, transport: roce, operation: read, bytes: 5000B, message: 1000B, "
      "qps: 2 } ]\n",
      1);
  lab.join(1);
  EXPECT_EQ(lab.flow_state(), "preparing");
  nlohmann::json connect;
  for (int i = 0; i < 5; ++i) {
    lab.hosts->tick();
    for (AgentHosts::Outgoing& o : lab.hosts->take_outgoing()) {
      if (type_of(o.message) == "connect") connect = o.message;
      lab.clients[0].agent->on_message(lab.now, o.message);
    }
    for (const nlohmann::json& m : lab.clients[0].agent->take_outgoing()) lab.hosts->on_message(1, m);
  }
  const Connect all = connect_from_json(connect);
  EXPECT_EQ(all.id, TaskId(FlowEndId{0, false}));
  EXPECT_EQ(all.reads, 2u);  // of the agent's device; the built-in NIC's profile says 16
  ASSERT_EQ(all.peers.size(), 2u);
  EXPECT_EQ(wire::to_string(all.peers[0].address), wire::to_string(lab.built.agent_flows()[0].sink.address));
  EXPECT_NE(all.peers[0].qpn, all.peers[1].qpn);
  EXPECT_GE(all.peers[0].udp_source_port, 0xC000);
  EXPECT_EQ(lab.flow_state(), "connecting");
}

}  // namespace
}  // namespace railyard::agents
