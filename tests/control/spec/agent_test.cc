// Hosts whose RDMA devices an agent drives: ends of flows over RoCE as built-in hosts are; what they cannot do is said.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "control/spec/select.h"
#include "control/spec/to_yaml.h"
#include "tests/control/spec/lab_builder.h"

namespace railyard::spec {
namespace {

// Agents at h3 and h4, built-in hosts at h1 and h2, two NICs each; `keys` of the only traffic begin in column 16 of
// line 13.
std::string agents_with(const std::string& keys, const std::string& run = "payload: real",
                        const std::string& profile = "latency: 1us", const std::string& section = "traffic") {
  return "name: x\n"
         "run: { clock: wall, " +
         run +
         " }\n"
         "hosts: { default: { " +
         profile +
         " }, gpus: { scale-up: { rate: 900Gbps } } }\n"
         "nodes:\n"
         "  s: { kind: switch }\n"
         "  h1: { kind: host }\n"
         "  h2: { kind: host, profile: gpus, nics: 2 }\n"
         "  h3: { kind: host, attach: { netdev: e3 }, address: 10.9.0.3, agent: {} }\n"
         "  h4: { kind: host, attach: { netdev: e4 }, address: 10.9.0.4, agent: {} }\n"
         "links: [ [h1:1, s:1], [h2:1, s:2], [h2:2, s:3], [h3:1, s:4], [h4:1, s:5] ]\n"
         "\n" +
         section +
         ":\n"
         "  - { name: t, " +
         keys + " }\n";
}
std::string agent_error(const std::string& keys, const std::string& run = "payload: real",
                        const std::string& profile = "latency: 1us", const std::string& section = "traffic") {
  return error_of(agents_with(keys, run, profile, section));
}

TEST(AgentTraffic, AgentsSendAndReceive) {
  const Lab l = parse(agents_with("from: [h3, h1], to: [h2:1, h4], transport: roce, bytes: 1MB"), "x.yaml");
  EXPECT_EQ(senders(l, l.traffic[0]), (std::vector<PortName>{{"h3", 1}, {"h1", 1}}));
  EXPECT_EQ(receivers(l, l.traffic[0]), (std::vector<PortName>{{"h2", 1}, {"h4", 1}}));
  EXPECT_EQ(parse(to_yaml(l), "y.yaml"), l);
  // Patterns find them, too; of generators, which agents have none of, they do not.
  const Lab all = parse(agents_with("pattern: all-to-all, from: h*, to: h*, transport: roce, bytes: 1MB"), "x.yaml");
  EXPECT_EQ(senders(all, all.traffic[0]).size(), 5u);
  EXPECT_EQ(receivers(all, all.traffic[0]).size(), 5u);
  const Lab generated = parse(agents_with("pattern: all-to-all, from: h*, to: h*, bytes: 1MB"), "x.yaml");
  EXPECT_EQ(senders(generated, generated.traffic[0]).size(), 3u);
  EXPECT_EQ(receivers(generated, generated.traffic[0]).size(), 3u);
}

TEST(AgentTraffic, WhatAnAgentCannotDoIsSaid) {
  EXPECT_EQ(agent_error("from: h3, to: h1, bytes: 1MB"),
            "x.yaml:13:22: traffic.0.from: h3 is attached and sends its own frames; expected hosts with built-in "
            "traffic or, with transport: roce, with an agent");
  EXPECT_EQ(agent_error("from: h3, to: h1, transport: roce, bytes: 1MB", "payload: elided"),
            "x.yaml:13:45: traffic.0.transport: h3:1 is an agent's and sends real data; expected run.payload: real");
  EXPECT_EQ(agent_error("from: h3, to: h1, transport: roce, bytes: 1MB, rate: 1Gbps"),
            "x.yaml:13:69: traffic.0.rate: h3:1 is an agent's, whose device sends at link rate; expected greedy, or "
            "built-in senders");
  EXPECT_EQ(agent_error("from: h1, to: h3, transport: roce, bytes: 1MB, rate: 1Gbps"), "(no error)");
  EXPECT_EQ(agent_error("from: h1, to: h3, transport: roce, bytes: 1MB, load: 10%, stop: 1s"),
            "x.yaml:13:69: traffic.0.load: h3:1 is an agent's, whose flows are prepared in advance; expected a fixed "
            "list of flows");
  EXPECT_EQ(
      agent_error("from: h1, to: h3, transport: roce, operation: send, bytes: 1MB, repost-after: 1ms"),
      "x.yaml:13:94: traffic.0.repost-after: h3:1 is an agent's, which reposts at once; expected built-in receivers");
  EXPECT_EQ(agent_error("from: h3, to: h1, transport: roce, operation: read"),
            "x.yaml:13:5: traffic.0: h3:1 is an agent's, which buffers all READ data; expected at most 4GiB per flow");
  EXPECT_EQ(agent_error("from: h3, to: h1, transport: roce, bytes: 1MB", "payload: real",
                        "roce: { loss-recovery: selective-repeat }"),
            "x.yaml:13:45: traffic.0.transport: h3:1 is an agent's device, which uses go-back-N, but h3:1 has "
            "selective-repeat in its profile; expected loss-recovery: go-back-n");
  EXPECT_EQ(agent_error("from: h1, to: h3, transport: uet, bytes: 1MB"),
            "x.yaml:13:30: traffic.0.to: h3:1 is attached and has its own PDCs; expected built-in hosts");
}

// PXN passes through other ranks of a host, and an agent's pass nothing on.
TEST(AgentCollectives, RelayNothing) {
  EXPECT_EQ(agent_error("size: 1200B, collective: all-to-all, ranks: [h2, h3], pxn: true", "payload: real",
                        "latency: 1us", "collectives"),
            "x.yaml:13:75: collectives.0.pxn: rank h3:1 is an agent's, and agents do not relay; expected pxn: false");
  EXPECT_EQ(agent_error("size: 1200B, collective: all-to-all, ranks: [h2, h3]", "payload: real", "latency: 1us",
                        "collectives"),
            "(no error)");
}

}  // namespace
}  // namespace railyard::spec
