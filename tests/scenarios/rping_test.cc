// Built-in NICs that connect to each other by rdma_cm's datagrams and talk rping, over whole paths.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

//  h1 --- leaf1 --- spine1, spine2 --- leaf2 --- h2
std::string lab(const std::string& keys, const std::string& more = "") {
  return "name: rping\ntopology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 1 }\n"
         "hosts: { default: { roce: { services: [rping-server], ack-timeout: 8, cm-response-timeout: 10 } } }\n"
         "traffic:\n  - { name: ping, from: h1, to: h2, transport: roce, operation: rping, " +
         keys + " }\n" + more;
}

void expect_done(Scenario& s, std::uint64_t pings, std::uint64_t octets) {
  const report::Report r = s.report();
  for (const report::RpingReport& c : r.rpings) {
    EXPECT_EQ(c.state, "done") << c.failure << " " << c.reason;
    EXPECT_EQ(c.rounds, pings);
    EXPECT_EQ(c.verified_bytes, pings * octets);
    EXPECT_EQ(c.corrupted, 0u);
    EXPECT_GT(c.latency_ns.p50, 4000u) << "both ways across two leaves and a spine, three times";
  }
  std::uint64_t served = 0;
  for (const report::ServiceNicReport& n : r.service_nics)
    for (const report::ServiceReport& service : n.services) {
      served += service.rounds;
      EXPECT_EQ(service.open + service.corrupted + service.violations + service.failed, 0u);
    }
  EXPECT_EQ(served, pings * r.rpings.size());
  s.expect_books_balance();
}

TEST(RpingScenario, APairPings) {
  for (const char* sets : {"run.payload=elided", "run.payload=real"}) {
    Scenario s(lab("rping: { size: 65535B, count: 10 }"), {sets});
    s.run_to_the_end();
    expect_done(s, 10, 65535);
    const report::Report r = s.report();
    ASSERT_EQ(r.rpings.size(), 1u);
    EXPECT_EQ(r.rpings[0].name, "ping/h1->h2");
    EXPECT_TRUE(r.service_nics[0].dropped.empty());
    EXPECT_NE(r.text().find("h2 serves rping: 1 connections (0 open), 10 pings"), std::string::npos);
    EXPECT_NE(r.json().find("\"verified_bytes\": 655350"), std::string::npos);
  }
}

TEST(RpingScenario, BesideGeneratorsAndFlowsAtTheSameNics) {
  Scenario s(lab("ip: 6, rping: { size: 5000B, count: 10, path-mtu: 4096 }",
                 "  - { name: frames, from: h1, to: h2, bytes: 1MiB }\n"
                 "  - { name: messages, from: h1, to: h2, transport: roce, bytes: 1MB }\n"
                 "  - { name: back, from: h2, to: h1, transport: roce, operation: rping, flows: 3,"
                 " rping: { size: 5000B, count: 10 } }\n"));
  s.run_to_the_end();
  expect_done(s, 10, 5000);
  EXPECT_EQ(s.report().rpings.size(), 4u);
  for (const build::Flow& f : s.lab().flows()) EXPECT_EQ(f.received().payload_octets, f.sent().payload_octets);
}

TEST(RpingScenario, EverythingThatGoesWrongIsMadeGood) {
  const std::string faults =
      "faults:\n  - { name: lossy, on: spine1, loss: 1% }\n  - { name: lossy2, on: spine2, loss: 1% }\n"
      "  - { name: twice, on: leaf1:1, duplicate: true, probability: 1% }\n"
      "  - { name: mixed, on: leaf2:1, reorder: { behind: 3, within: 5us }, probability: 1% }\n"
      "  - { name: damaged, on: h2, corrupt: true, probability: 1% }\n";
  std::vector<std::uint64_t> digests;
  for (const std::size_t workers : {1u, 2u, 3u, 4u}) {
    EngineConfig config;
    config.workers = workers;
    Scenario s(lab("flows: 4, rping: { size: 65535B, count: 20 }", faults), {}, config);
    s.run_to_the_end();
    expect_done(s, 20, 65535);
    digests.push_back(s.digest());
    for (const char* fault : {"lossy", "twice", "mixed", "damaged"}) EXPECT_GT(s.fault(fault).frames, 0u) << fault;
    std::uint64_t again = 0;
    for (const report::ServiceNicReport& n : s.report().service_nics) again += n.retransmitted_packets;
    EXPECT_GT(again, 10u);
  }
  for (const std::uint64_t digest : digests) EXPECT_EQ(digest, digests[0]);
}

}  // namespace
}  // namespace railyard::test
