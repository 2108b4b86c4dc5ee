// Whatever runs over RoCE runs over UET when its transport is the only thing that changes: lists of flows, drawn sizes,
// steps of training beside other traffic, both transports in one queue, the wall clock.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/run/wall_clock.h"
#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

constexpr const char* kTransports[] = {"roce", "uet"};

// Eight hosts under two leaves, and what else the lab has.
std::string eight_hosts(const std::string& more) {
  return R"(
name: eight
topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 4, fabric-link: { rate: 200Gbps } }
qos:
  default:
    classes:
      3: { lossless: true, alpha: 1/8, ecn: { kmin: 100KB, kmax: 400KB, pmax: 20% } }
      6: { strict: true }
hosts: { default: { roce: { congestion: none, ack-timeout: 10 }, uet: { rto: 1ms } } }
)" + more;
}

// Every message came whole and was right, over that transport.
void expect_all_right(const report::Report& r, const std::string& transport) {
  for (const report::FlowReport& f : r.flows) {
    if (f.transport() == std::string("generator")) continue;
    EXPECT_EQ(f.transport(), transport) << f.name;
    EXPECT_TRUE(f.fct_ns.has_value()) << f.name;
    EXPECT_EQ(f.corrupted, 0u) << f.name;
    EXPECT_FALSE(f.failed()) << f.name;
    EXPECT_GT(f.uet ? f.uet->verified : f.roce->verified, 0u) << f.name;
    EXPECT_EQ(f.uet ? f.uet->verified : f.roce->verified, f.uet ? f.uet->messages : f.roce->messages) << f.name;
  }
  for (const report::UetNicReport& n : r.uet_nics) {
    EXPECT_EQ(n.pdcs_left, 0u) << n.nic;
    EXPECT_EQ(n.pdcs_failed, 0u) << n.nic;
    EXPECT_EQ(n.open_messages, 0u) << n.nic;
  }
}

report::Report run_right(const std::string& yaml, const std::string& transport) {
  Scenario s(yaml);
  s.run_to_the_end();
  s.expect_books_balance();
  report::Report r = s.report();
  expect_all_right(r, transport);
  return r;
}

// What the workload asks for is the same over both.
void expect_same_work(const report::Report& a, const report::Report& b) {
  ASSERT_EQ(a.flows.size(), b.flows.size());
  for (std::size_t i = 0; i < a.flows.size(); ++i) {
    EXPECT_EQ(a.flows[i].name, b.flows[i].name);
    EXPECT_EQ(a.flows[i].source, b.flows[i].source);
    EXPECT_EQ(a.flows[i].destination, b.flows[i].destination);
    EXPECT_EQ(a.flows[i].start_ns, b.flows[i].start_ns);
    EXPECT_EQ(a.flows[i].delivered_bytes, b.flows[i].delivered_bytes);
  }
}

class UetFlowFiles : public testing::Test {
 protected:
  UetFlowFiles() { std::filesystem::create_directories(folder_); }
  ~UetFlowFiles() override { std::filesystem::remove_all(folder_); }
  std::vector<report::Report> run(const std::string& name, const std::string& text, const std::string& more) {
    std::ofstream(folder_ / name) << text;
    std::vector<report::Report> all;
    for (const char* transport : kTransports)
      all.push_back(run_right(eight_hosts("traffic: [ { name: t, pattern: file, file: " + (folder_ / name).string() +
                                          ", transport: " + transport + more + " } ]\n"),
                              transport));
    return all;
  }

 private:
  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / "railyard-uet-flow-files";
};

TEST_F(UetFlowFiles, FlowsOfACsvAreThoseThatItSays) {
  const std::vector<report::Report> r = run("f.csv",
                                            "from,to,bytes,start\n"
                                            "h1,h5,1MB,0\n"
                                            "h2,h5,300KB,10us\n"
                                            "h3,h6,1,20us\n"
                                            "h5,h1,64KiB,1ms\n",
                                            ", start: 5us");
  expect_same_work(r[0], r[1]);
  const std::vector<std::uint64_t> bytes{1'000'000, 300'000, 1, 65'536};
  const std::vector<std::int64_t> starts{5'000, 15'000, 25'000, 1'005'000};
  ASSERT_EQ(r[1].flows.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(r[1].flows[i].delivered_bytes, bytes[i]);
    EXPECT_EQ(r[1].flows[i].start_ns, starts[i]);
  }
}

TEST_F(UetFlowFiles, AConnectionMatrixOfHtsimRuns) {
  std::string text = "Nodes 4\nConnections 12\n";
  int id = 1;
  for (int from = 0; from < 4; ++from)
    for (int to = 0; to < 4; ++to)
      if (from != to)
        text += std::to_string(from) + "->" + std::to_string(to) + " id " + std::to_string(id++) + " start " +
                std::to_string(from * 1'000'000) + " size 200000\n";
  const std::vector<report::Report> r = run("a.cm", text, ", from: [h1, h2, h5, h6]");
  expect_same_work(r[0], r[1]);
  ASSERT_EQ(r[1].flows.size(), 12u);
  EXPECT_EQ(r[1].flows[11].source, "h6");
  EXPECT_EQ(r[1].flows[11].destination, "h5");
  EXPECT_EQ(r[1].flows[11].start_ns, 3'000);
}

TEST(UetWorkloads, DrawnSizesAtALoadAreTheSameFlowsByEveryOperation) {
  for (const char* operation : {"write", "send", "read"}) {
    SCOPED_TRACE(operation);
    std::vector<report::Report> r;
    for (const char* transport : kTransports)
      r.push_back(run_right(
          eight_hosts(std::string("traffic: [ { name: t, pattern: random, from: h*, to: h*, sizes: web-search, load: "
                                  "30%, stop: 1ms, operation: ") +
                      operation + ", transport: " + transport + " } ]\n"),
          transport));
    EXPECT_GT(r[0].flows.size(), 5u);
    expect_same_work(r[0], r[1]);
    EXPECT_EQ(r[1].traffic.at(0).complete, r[1].flows.size());
    EXPECT_GE(r[1].traffic.at(0).slowdown.min, 0.999) << "nobody is faster than an empty fabric";
    std::uint64_t of_flows = 0, of_nics = 0;
    for (const report::FlowReport& f : r[1].flows) of_flows += f.reordered;
    for (const report::UetNicReport& n : r[1].uet_nics) of_nics += n.out_of_order;
    EXPECT_GT(of_flows, 0u) << "sprayed";
    EXPECT_LE(of_flows, of_nics) << "requests of READs may come early, too";
  }
}

// The longest message: a quarter of a million packets, whose offsets have 31 bits.
TEST(UetWorkloads, AMessageOfTwoGigabytesIsWhole) {
  for (const char* operation : {"write", "read"}) {
    const report::Report r = run_right(
        eight_hosts(std::string("traffic: [ { name: t, from: h1, to: h5, transport: uet, path-mtu: 8192, message: "
                                "2GiB, bytes: 2GiB, operation: ") +
                    operation + " } ]\n"),
        "uet");
    EXPECT_EQ(r.flows.at(0).delivered_bytes, 2'147'483'648u);
    EXPECT_EQ(r.flows[0].packets, 262'144u);
    EXPECT_EQ(r.flows[0].uet->messages, 1u);
    EXPECT_EQ(r.flows[0].uet->retransmitted_packets, 0u);
  }
}

// Gradients of four hosts, summed in buckets while the backward pass goes on; beside them a load of the other four and
// small frames of the generator between all of them.
TEST(UetWorkloads, StepsOfTrainingBesideBackgroundTraffic) {
  for (const char* transport : kTransports) {
    SCOPED_TRACE(transport);
    const report::Report r = run_right(
        eight_hosts(std::string("collectives: [ { name: c, size: 4MiB, chunk: 64KiB, repeats: 3, forward: 300us, "
                                "backward: 600us, buckets: 4, ranks: [h1, h2, h5, h6], transport: ") +
                    transport +
                    " } ]\ntraffic:\n  - { name: load, pattern: permutation, from: [h3, h4, h7, h8], sizes: storage, "
                    "load: 20%, stop: 2ms, transport: " +
                    transport +
                    " }\n  - { name: management, pattern: all-to-all, from: h*, to: h*, dscp: 0, ecn: false, rate: "
                    "20Mbps, payload: 512B, stop: 2ms }\n"),
        transport);
    ASSERT_EQ(r.collectives.size(), 1u);
    const report::CollectiveReport& c = r.collectives[0];
    EXPECT_TRUE(c.completed) << c.stalled;
    EXPECT_TRUE(c.verified) << c.wrong;
    EXPECT_EQ(c.iterations.size(), 3u);
    EXPECT_TRUE(c.transport.starts_with(transport)) << c.transport;
    ASSERT_TRUE(c.job.has_value());
    EXPECT_EQ(c.job->compute_ns, 900'000);
    // 4 MiB x 6/4 of link time are 530 us, three of four buckets behind 450 us of computing.
    EXPECT_GT(*c.median_ns, 900'000);
    EXPECT_LT(*c.median_ns, 900'000 + 530'000);
    EXPECT_GT(c.job->utilisation, 900.0 / (900 + 530));
    EXPECT_GT(c.job->overlap.value_or(0), 0.2);
    EXPECT_GT(r.flows.size(), 60u);
    std::uint64_t management = 0;
    for (const report::FlowReport& f : r.flows)
      if (f.transport() == std::string("generator")) management += f.delivered_packets;
    EXPECT_GT(management, 56u) << "everybody to everybody";
  }
}

// Datagrams, and messages over unreliable connections, are complete when they are sent, and the next are posted: also
// where a NIC has taken just as many as it asked for.
TEST(UetWorkloads, WhatNobodyAnswersGoesOnHoweverMuchIsOutstanding) {
  for (const char* how :
       {"transport: uet, service: uud, message: 4096B", "transport: roce, qp-type: uc, message: 4096B",
        "transport: roce, qp-type: uc, operation: send, message: 32KiB"})
    for (const int outstanding : {1, 4, 8, 16, 64}) {
      SCOPED_TRACE(std::string(how) + ", outstanding: " + std::to_string(outstanding));
      Scenario s("name: x\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 2 }\n"
                 "traffic: [ { name: t, from: h1, to: h2, bytes: 1MB, " +
                 std::string(how) + ", outstanding: " + std::to_string(outstanding) + " } ]\n");
      s.run_to_the_end();
      s.expect_books_balance();
      const report::FlowReport f = s.report().flows.at(0);
      EXPECT_EQ(f.delivered_bytes, 1'000'000u);
      ASSERT_TRUE(f.fct_ns.has_value());
      EXPECT_LT(*f.fct_ns, 86'000) << "at the rate of the link";
      EXPECT_EQ(f.uet ? f.uet->verified : f.roce->verified, f.uet ? f.uet->messages : f.roce->messages);
    }
}

// Training and storage on the same NICs, each in a class of its own; of storage's nothing is marked, and what does not
// fit is dropped, while that of training is trimmed. Storage is read and written.
TEST(UetWorkloads, StorageHasAClassOfItsOwnBesideTraining) {
  const report::Report r = [] {
    Scenario s(
        "name: classes\ntopology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 4 }\n"
        "switches: { default: { buffer: 2MiB } }\n"
        "qos: { default: { classes: { 1: { lossless: false, queue-alpha: 1/16, ecn: { kmin: 10KB, kmax: 20KB } }, "
        "3: { lossless: false, queue-alpha: 1/16, ecn: { kmin: 50KB, kmax: 200KB }, trim: { dscp: 40, class: 5 } }, "
        "5: { strict: true }, 6: { strict: true } } } }\n"
        "hosts: { default: { uet: { rto: 1ms } } }\n"
        "collectives: [ { name: c, collective: all-to-all, size: 4MiB, repeats: 2, transport: uet, dscp: 26 } ]\n"
        "traffic:\n"
        "  - { name: in, pattern: incast, from: h*, to: [h1, h5], transport: uet, dscp: 10, ecn: false, bytes: 1MB }\n"
        "  - { name: out, pattern: incast, from: h*, to: h2, transport: uet, dscp: 10, ecn: false, operation: read, "
        "bytes: 1MB }\n");
    s.run_to_the_end();
    s.expect_books_balance();
    return s.report();
  }();
  expect_all_right(r, "uet");
  ASSERT_EQ(r.collectives.size(), 1u);
  EXPECT_TRUE(r.collectives[0].completed && r.collectives[0].verified);
  std::uint64_t storage = 0;
  for (const report::FlowReport& f : r.flows) {
    EXPECT_EQ(f.priority, 1) << f.name;
    EXPECT_EQ(f.marked, 0u) << f.name << ": it is not ECN-capable";
    storage += f.packets;
  }
  ClassCounters of[kPriorities];
  for (const report::PortReport& p : r.ports) {
    if (!p.is_switch) continue;
    for (std::size_t c = 0; c < kPriorities; ++c) {
      of[c].tx_packets += p.counters.classes[c].tx_packets;
      of[c].ecn_marked += p.counters.classes[c].ecn_marked;
      of[c].trimmed += p.counters.classes[c].trimmed;
    }
  }
  EXPECT_GT(of[1].tx_packets, storage) << "by way of one or two switches each";
  EXPECT_GT(of[3].tx_packets, 0u);
  EXPECT_EQ(of[1].ecn_marked, 0u);
  EXPECT_GT(of[3].ecn_marked, 0u);
  EXPECT_EQ(of[1].trimmed, 0u);
  for (const std::size_t c : {0u, 2u, 4u, 7u}) EXPECT_EQ(of[c].tx_packets, 0u) << c;
}

// h1 and h2 send to h3 over one link, one over each transport, in one class that loses what does not fit.
TEST(UetWorkloads, BothTransportsCompeteInOneQueue) {
  Scenario s(
      "name: both\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 3 }\n"
      "switches: { default: { buffer: 4MiB } }\n"
      "qos: { default: { classes: { 3: { lossless: false, queue-alpha: 1/4, ecn: { kmin: 40KB, kmax: 160KB, pmax: "
      "100% } }, 6: { strict: true } } } }\n"
      "hosts: { default: { roce: { congestion: dcqcn, loss-recovery: selective-repeat, dcqcn: { profile: vendor } }, "
      "uet: { rto: 1ms } } }\n"
      "traffic:\n"
      "  - { name: r, from: h1, to: h3, transport: roce, dscp: 26, message: 1MB, outstanding: 4, stop: 4ms }\n"
      "  - { name: u, from: h2, to: h3, transport: uet, dscp: 26, message: 1MB, outstanding: 4, stop: 4ms }\n");
  s.run_until(4_ms);
  const report::Report half = s.report();
  s.run_to_the_end();
  const report::Report r = s.report();
  EXPECT_EQ(r.lab.roce_flows, 1);
  EXPECT_EQ(r.lab.uet_flows, 1);
  double together = 0;
  for (const report::FlowReport& f : half.flows) together += static_cast<double>(f.delivered_bytes);
  // 100 Gb/s, of which headers and ACKs take their part.
  EXPECT_GT(together, 0.85 * 100e9 / 8 * 4e-3);
  for (const report::FlowReport& f : half.flows) {
    EXPECT_GT(static_cast<double>(f.delivered_bytes), 0.05 * together) << f.name << " does not starve";
    EXPECT_GT(f.marked, 0u) << f.name << ": the queue's marks meet both";
  }
  for (const report::FlowReport& f : r.flows) {
    EXPECT_FALSE(f.failed()) << f.name;
    EXPECT_EQ(f.corrupted, 0u) << f.name;
    EXPECT_EQ(f.uet ? f.uet->verified : f.roce->verified, f.uet ? f.uet->messages : f.roce->messages) << f.name;
  }
  EXPECT_GE(s.at("leaf1:3", 3).tx_packets, r.flows[0].delivered_packets + r.flows[1].delivered_packets)
      << "one queue";
  s.expect_books_balance();
}

// Sprayed, trimmed, marked and now and then lost.
std::uint64_t digest_of(const std::vector<std::string>& sets, const WallClockConfig* clock) {
  EngineConfig config;
  config.digest = true;
  Scenario s = Scenario::ready("uet-incast", sets, config);
  if (clock == nullptr) {
    s.run_to_the_end();
  } else {
    const std::atomic<bool> stop{false};
    run_wall(s.engine(), Instant{} + 10_s, *clock, stop);
    EXPECT_EQ(s.engine().next(), Instant::never());
  }
  EXPECT_GT(s.report().uet_nics.at(0).received_packets, 500u);
  return s.digest();
}

TEST(UetWallClock, GivesTheVeryDigestOfTheVirtualOne) {
  const std::vector<std::string> sets{"faults=[{ on: leaf1, loss: 0.5% }]", "traffic.incast.bytes=200KB",
                                      "traffic.incast.message=50KB"};
  const std::uint64_t reference = digest_of(sets, nullptr);
  std::vector<std::string> wall = sets;
  wall.push_back("run.clock=wall");
  WallClockConfig clock;
  clock.scale_denominator = 10;  // within what a debug build can do
  EXPECT_EQ(digest_of(wall, &clock), reference);
  clock.scale_denominator = 1;
  clock.scale_numerator = 1000;  // hopeless: it slips
  clock.lag_limit = 10_us;
  EXPECT_EQ(digest_of(wall, &clock), reference);
}

}  // namespace
}  // namespace railyard::test
