// Collective operations of whole labs over UET: what holds over RoCE holds over PDCs, whatever order messages come in.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

// Nothing is left over at UET NICs; returns what they sent again.
std::uint64_t expect_clean(const report::Report& r) {
  std::uint64_t again = 0;
  for (const report::UetNicReport& n : r.uet_nics) {
    EXPECT_EQ(n.pdcs_left, 0u) << n.nic;
    EXPECT_EQ(n.pdcs_failed, 0u) << n.nic;
    EXPECT_EQ(n.pdcs_opened, n.pdcs_closed) << n.nic;
    EXPECT_EQ(n.open_messages, 0u) << n.nic;
    again += n.retransmitted_packets;
  }
  return again;
}

report::Report run_right(Scenario& s) {
  s.run_to_the_end();
  s.expect_books_balance();
  report::Report r = s.report();
  for (const report::CollectiveReport& c : r.collectives) {
    EXPECT_TRUE(c.completed) << c.name << ": " << c.stalled;
    EXPECT_TRUE(c.verified) << c.name << ": " << c.wrong;
  }
  expect_clean(r);
  return r;
}
report::Report run_right(const std::string& lab, const std::vector<std::string>& sets = {}) {
  Scenario s(lab, sets);
  return run_right(s);
}

constexpr const char* kLab = "name: all\ntopology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 4 }\n";

// All that a collective of RoCE needs to become one of UET is its transport.
TEST(UetCollectives, EveryOperationOverAWholeFabric) {
  for (const char* payload : {"run.payload=elided", "run.payload=real"})
    for (const char* service : {"rud", "rod"})
      for (const char* keys :
           {"collective: all-reduce, algorithm: tree, channels: 2", "collective: all-reduce",
            "collective: all-reduce, algorithm: hierarchical-ring", "collective: all-gather, algorithm: doubling",
            "collective: broadcast, root: 3", "collective: all-to-all", "channels: 3, ip: 6, path-mtu: 1024"}) {
        SCOPED_TRACE(std::string(payload) + " " + service + " " + keys);
        const report::Report r = run_right(std::string(kLab) + "collectives: [ { name: c, size: 192KiB, chunk: 8KiB, " +
                                               "repeats: 3, " + keys + " } ]\n",
                                           {payload, "collectives.c.transport=uet",
                                            std::string("collectives.c.service=") + service});
        const report::CollectiveReport& c = r.collectives.at(0);
        EXPECT_EQ(c.iterations.size(), 3u);
        EXPECT_EQ(c.transport, std::string("uet/") + service);
        EXPECT_GT(c.packets, 0u);
        EXPECT_EQ(c.retransmitted_packets, 0u);
      }
}

// Across one switch 1.5 BDPs, the window that NSCC has by default, are so few packets that it waits for acknowledgements,
// which come after 16 KiB.
TEST(UetCollectives, ARingReachesTheFramingLimit) {
  const report::Report r = run_right(
      "name: one\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 8 }\n"
      "hosts: { default: { uet: { nscc: { max-window: 2 } } } }\n"
      "collectives: [ { name: c, size: 64MiB, transport: uet } ]\n");
  const report::CollectiveReport& c = r.collectives.at(0);
  // Ethernet 14, IP 20, UDP 8, PDS 12, SES 44, CRC 4, FCS 4, preamble and gap 20 around 4096 octets.
  const double limit = 100e9 * 4096 / (4096 + 126);
  EXPECT_NEAR(c.limit_bps, limit, limit / 1e6);
  EXPECT_GT(c.busbw_bps, 0.95 * limit);
  EXPECT_LT(c.busbw_bps, limit);
  EXPECT_EQ(c.fabric_bytes, 8 * 2 * 7 * (std::uint64_t{64} << 20) / 8);
  EXPECT_EQ(c.packets, c.fabric_bytes / 4096);
}

// Headers are what the NICs say that they are.
TEST(UetCollectives, NoneIsBeyondTheFramingLimit) {
  for (const char* how : {"encapsulation: ip", "crc: false", "profile: ref-prov"}) {
    const report::Report r = run_right(
        "name: one\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 4 }\n"
        "hosts: { default: { uet: { " +
        std::string(how) +
        ", nscc: { max-window: 2 } } } }\n"
        "collectives: [ { name: c, size: 32MiB, transport: uet } ]\n");
    const report::CollectiveReport& c = r.collectives.at(0);
    EXPECT_GT(c.busbw_bps, 0.95 * c.limit_bps) << how;
    EXPECT_LE(c.busbw_bps, c.limit_bps) << how;
  }
}

TEST(UetCollectives, TheShippedAllReduceSurvivesItsFlap) {
  for (const bool real : {false, true}) {
    Scenario s = Scenario::ready("uet-allreduce", real ? std::vector<std::string>{"run.payload=real"}
                                                       : std::vector<std::string>{});
    const report::Report r = run_right(s);
    const report::CollectiveReport& c = r.collectives.at(0);
    EXPECT_GT(c.retransmitted_packets, 0u);
    EXPECT_EQ(c.retransmitted_packets, expect_clean(r)) << "nobody else sent anything";
    EXPECT_GT(*c.max_ns, *c.min_ns);
    std::uint64_t out_of_order = 0;
    for (const report::UetNicReport& n : r.uet_nics) out_of_order += n.out_of_order;
    EXPECT_GT(out_of_order, 0u) << "sprayed";
    EXPECT_GT(c.out_of_order, 0u);
    EXPECT_LE(c.out_of_order, out_of_order) << "credits may come early, too";
    for (const report::PortReport& p : r.ports) EXPECT_EQ(p.counters.tx_control, 0u) << "no PFC";
  }
}

TEST(UetCollectives, WorkersChangeNothing) {
  std::vector<std::uint64_t> digests;
  for (const std::size_t workers : {1uz, 2uz, 3uz, 4uz}) {
    EngineConfig config;
    config.workers = workers;
    Scenario s = Scenario::ready(
        "uet-allreduce", {"run.workers=" + std::to_string(workers), "collectives.sum.repeats=3"}, config);
    s.run_to_the_end();
    EXPECT_TRUE(s.report().collectives.at(0).verified);
    digests.push_back(s.digest());
  }
  for (const std::uint64_t d : digests) EXPECT_EQ(d, digests[0]);
}

// Whole messages of other traffic meet those of a rank at its leaf, in a class without PFC.
TEST(UetCollectives, WhatIsTrimmedGoesAgainAndNothingIsLost) {
  const std::string cross = "{ name: t, pattern: incast, from: [h5, h9, h13], to: h1, transport: uet, bytes: 2MB }";
  Scenario s = Scenario::ready("uet-allreduce",
                               {"faults=[]", "switches.default.buffer=1MiB", "traffic=[" + cross + "]"});
  const report::Report r = run_right(s);
  std::uint64_t trimmed = 0;
  for (const report::UetNicReport& n : r.uet_nics) trimmed += n.trimmed();
  EXPECT_GT(trimmed, 0u);
  EXPECT_GT(r.collectives.at(0).retransmitted_packets, 0u);
  EXPECT_EQ(s.dropped(), 0u);
  for (const report::FlowReport& f : r.flows) EXPECT_EQ(f.uet->messages, f.uet->verified) << f.name;
}

TEST(UetCollectives, LossCostsTimeAndNoData) {
  for (const char* payload : {"run.payload=elided", "run.payload=real"})
    for (const char* service : {"rud", "rod"}) {
      const report::Report r = run_right(
          std::string(kLab) + "hosts: { default: { uet: { rto: 100us, retries: 10 } } }\n"
                              "faults: [ { name: lossy, on: leaf1, loss: 0.5% } ]\n"
                              "collectives: [ { name: c, size: 2MiB, chunk: 64KiB, repeats: 3, transport: uet } ]\n",
          {payload, std::string("collectives.c.service=") + service});
      EXPECT_GT(r.collectives.at(0).retransmitted_packets, 10u) << service;
    }
}

TEST(UetCollectives, OneThatStandsStillSaysWhereAndWhoIsWaitedFor) {
  Scenario s(std::string(kLab) +
             "hosts: { default: { uet: { rto: 100us, retries: 3 } } }\n"
             "faults: [ { name: cut, on: 'h3:1', at: 300us, down: true } ]\n"
             "collectives: [ { name: c, size: 2MiB, chunk: 64KiB, repeats: 50, transport: uet } ]\n");
  s.run_to_the_end();
  const report::CollectiveReport c = s.report().collectives.at(0);
  EXPECT_FALSE(c.completed);
  EXPECT_FALSE(c.verified);
  EXPECT_EQ(c.wrong_bytes, 0u);
  EXPECT_NE(c.stalled.find("(h3)"), std::string::npos) << c.stalled;
  EXPECT_NE(c.stalled.find("the PDC of rank "), std::string::npos) << c.stalled;
  EXPECT_NE(c.stalled.find("retry_exceeded"), std::string::npos) << c.stalled;
}

// A step of training, a straggler among its ranks: the rank does that, whatever carries its messages.
TEST(UetCollectives, JobsComputeAndWaitForTheSlowest) {
  const report::Report r = run_right(
      "name: one\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 8 }\n"
      "collectives: [ { name: c, size: 8MiB, chunk: 64KiB, repeats: 4, forward: 400us, backward: 600us, buckets: 4, "
      "transport: uet, stragglers: [ { ranks: 5, factor: 2 } ] } ]\n");
  const report::CollectiveReport& c = r.collectives.at(0);
  ASSERT_TRUE(c.job.has_value());
  EXPECT_GT(*c.median_ns, 2'000'000);
  ASSERT_TRUE(c.job->straggler.has_value());
  EXPECT_EQ(c.job->straggler->rank, "rank 5 (h6)");
  EXPECT_NEAR(c.job->straggler->factor, 2, 0.01);
}

// Four hosts of four NICs on four rails: what stays in a host takes its scale-up network, and with PXN what goes to
// another rail begins there.
TEST(UetCollectives, RanksOfOneHostUseItsScaleUpNetwork) {
  for (const char* payload : {"run.payload=elided", "run.payload=real"})
    for (const char* pxn : {"false", "true"}) {
      SCOPED_TRACE(std::string(payload) + " pxn " + pxn);
      const std::string lab = std::string("name: rails\ntopology: { preset: rail-optimized, hosts: 4, rails: 4, "
                                          "spines: 2 }\nhosts: { default: { scale-up: { rate: 3600Gbps } } }\n"
                                          "collectives: [ { name: c, collective: all-to-all, size: 1MiB, chunk: 16KiB, "
                                          "repeats: 3, pxn: ") +
                              pxn + " } ]\n";
      const report::CollectiveReport roce = run_right(lab, {payload}).collectives.at(0);
      const report::CollectiveReport uet =
          run_right(lab, {payload, "collectives.c.transport=uet"}).collectives.at(0);
      ASSERT_TRUE(uet.scale_up.has_value());
      EXPECT_EQ(uet.scale_up->bytes, roce.scale_up->bytes);
      EXPECT_EQ(uet.fabric_bytes, roce.fabric_bytes);
    }
}

TEST(UetCollectives, BothTransportsAndFlowsShareNics) {
  for (const char* payload : {"run.payload=elided", "run.payload=real"}) {
    const report::Report r = run_right(std::string(kLab) + R"(
collectives:
  - { name: sum, size: 1MiB, repeats: 2, transport: uet, dscp: 10 }
  - { name: swap, collective: all-to-all, size: 640KB, start: 20us, channels: 2, transport: uet, dscp: 10 }
  - { name: old, size: 1MiB, repeats: 2 }
traffic:
  - { name: roce, from: h1, to: h2, transport: roce, bytes: 4MB }
  - { name: uet, from: h1, to: h2, transport: uet, dscp: 10, message: 100KB, bytes: 4MB }
  - { name: frames, from: h1, to: h2, dscp: 0, bytes: 1MiB }
)",
                                       {payload});
    ASSERT_EQ(r.collectives.size(), 3u);
    EXPECT_EQ(r.collectives[1].name, "swap");
    EXPECT_EQ(r.collectives[2].transport, "roce");
    for (const report::FlowReport& f : r.flows) {
      EXPECT_TRUE(f.fct_ns.has_value()) << f.name;
      EXPECT_EQ(f.corrupted, 0u) << f.name;
      if (f.uet) {
        EXPECT_EQ(f.uet->verified, 40u);
      }
    }
  }
}

}  // namespace
}  // namespace railyard::test
