// HPCC over whole paths: what switches add to packets, and what senders make of it.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

// Ethernet, IPv4, UDP, BTH, ICRC and FCS.
constexpr std::uint64_t kHeaders = 14 + 20 + 8 + 12 + 4 + 4;
constexpr std::uint64_t kData = kHeaders + 16 + 4096;  // WRITE Only: RETH
constexpr std::uint64_t kAck = kHeaders + 4;           // AETH

//  h1 --- leaf1 --- spine1 --- leaf2 --- h2, 100 Gb/s everywhere.
std::string pair(const std::string& keys, const std::string& more = "") {
  return "name: pair\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 1 }\n" + more +
         "hosts: { default: { roce: { congestion: hpcc } } }\n"
         "traffic:\n  - { name: t, from: h1, to: h2, transport: roce, " + keys + " }\n";
}

std::uint64_t octets_sent(Scenario& s, const std::string& port) { return s.at(port, 3).tx_octets; }

// One message of one packet: two octets from the NIC, and eight from each switch. The ACK returns all of it, and has
// the same length everywhere.
TEST(HpccTelemetry, FramesGrowHopByHopAndAcksReturnThat) {
  for (const char* payload : {"run.payload=elided", "run.payload=real"}) {
    Scenario s(pair("message: 4096B, bytes: 4096B"), {payload});
    s.run_to_the_end();
    EXPECT_EQ(octets_sent(s, "h1:1"), kData + 2);
    EXPECT_EQ(octets_sent(s, "leaf1:2"), kData + 2 + 8);
    EXPECT_EQ(octets_sent(s, "spine1:2"), kData + 2 + 16);
    EXPECT_EQ(octets_sent(s, "leaf2:1"), kData + 2 + 24);
    for (const char* port : {"h2:1", "leaf2:2", "spine1:1", "leaf1:1"})
      EXPECT_EQ(octets_sent(s, port), kAck + 2 + 24) << port;
    EXPECT_EQ(s.at("leaf2:1", 3).depth_octets, 0u);
    s.expect_books_balance();
  }
}

TEST(HpccTelemetry, OthersCarryNone) {
  Scenario s(pair("message: 4096B, bytes: 4096B"), {"hosts.default.roce.congestion=swift"});
  s.run_to_the_end();
  EXPECT_EQ(octets_sent(s, "leaf2:1"), kData);
  EXPECT_EQ(octets_sent(s, "leaf1:1"), kAck);
}

// An IP packet of the link's MTU stays one, and PFC's headroom has room for what is added.
TEST(HpccTelemetry, MtusDoNotCountIt) {
  Scenario s(pair("message: 4096B, bytes: 40960000B, outstanding: 8",
                  "defaults: { link: { mtu: " + std::to_string(kData - 14 - 4) + " } }\n"));
  s.run_to_the_end();
  EXPECT_EQ(s.flow("t/h1->h2").received().payload_octets, 40'960'000u);
  EXPECT_EQ(s.dropped(), 0u);
}

TEST(HpccTelemetry, SurvivesLinksThatRetryLoseDoubleAndTrim) {
  for (const char* fault :
       {"bit-errors: 1e-6", "loss: 0.5%", "duplicate: true, probability: 1%",
        "truncate: 100B, probability: 0.5%", "trim: { keep: 128B, dscp: 10 }, probability: 0.5%"})
    for (const char* llr : {"off", "on"})
      for (const char* payload : {"elided", "real"}) {
        Scenario s(pair("message: 50001B, bytes: 5000100B, path-mtu: 1024, outstanding: 4",
                        std::string("defaults: { link: { llr: ") + llr +
                            " } }\nfaults:\n  - { name: f, on: spine1:2, " + fault + " }\n"),
                   {std::string("run.payload=") + payload, "hosts.default.roce.ack-timeout=6"});
        s.run_to_the_end();
        EXPECT_EQ(s.flow("t/h1->h2").received().payload_octets >= 5'000'100u, true) << fault << llr << payload;
        for (const report::FlowReport& f : s.report().flows) {
          EXPECT_EQ(f.corrupted, 0u) << fault << llr << payload;
          EXPECT_EQ(f.roce->verified, f.roce->messages) << fault << llr << payload;
          EXPECT_EQ(f.delivered_bytes, 5'000'100u) << fault << llr << payload;
        }
        s.expect_books_balance();
      }
}

struct Load {
  double used = 0;               // of the line of leaf1:1
  double mean_queue = 0;         // bytes, of samples each 10 us
  double most_queue = 0;
  std::vector<double> goodputs;  // bit/s
  double sum = 0;
};

// From `from` to `to` of modelled time.
Load measure(Scenario& s, Duration from, Duration to) {
  s.run_until(from);
  std::vector<std::uint64_t> before;
  for (const build::Flow& f : s.lab().flows()) before.push_back(f.received().payload_octets);
  const auto line = [&] {
    const ClassCounters c = s.at("leaf1:1", 3);
    return static_cast<double>(c.tx_octets + 20 * c.tx_packets) * 8;
  };
  const double line_before = line();
  Load out;
  int samples = 0;
  for (Duration t = from; t < to; ++samples) {
    s.run_until(t = t + 10_us);
    const auto depth = static_cast<double>(s.at("leaf1:1", 3).depth_octets);
    out.mean_queue += depth;
    out.most_queue = std::max(out.most_queue, depth);
  }
  out.mean_queue /= samples;
  const double seconds = static_cast<double>((to - from).ps) / 1e12;
  out.used = (line() - line_before) / seconds / 100e9;
  for (const build::Flow& f : s.lab().flows()) {
    const std::uint64_t octets = f.received().payload_octets - before[out.goodputs.size()];
    out.goodputs.push_back(static_cast<double>(octets) * 8 / seconds);
    out.sum += out.goodputs.back();
  }
  return out;
}

// Jain's index: 1 if all are equal, 1 / n if one has all.
double fairness(const std::vector<double>& shares) {
  double sum = 0, squares = 0;
  for (const double x : shares) sum += x, squares += x * x;
  return sum * sum / (static_cast<double>(shares.size()) * squares);
}

class HpccIncast : public testing::TestWithParam<int> {};

TEST_P(HpccIncast, KeepsTheLinkAtEtaWithHardlyAnyQueue) {
  const int n = GetParam();
  Scenario s = Scenario::ready("hpcc-incast", {"traffic.incast.fan-in=" + std::to_string(n)});
  const Load hpcc = measure(s, 4_ms, 12_ms);
  EXPECT_NEAR(hpcc.used, 0.95, 0.02) << "eta";
  EXPECT_NEAR(hpcc.sum, hpcc.used * 100e9 * 4096 / (kData - 16 + 10 + 20), 0.005 * hpcc.sum);
  EXPECT_LT(hpcc.mean_queue, 3 * 4200);
  EXPECT_LT(hpcc.most_queue, (n + 1) * 4200);
  EXPECT_GT(fairness(hpcc.goodputs), 0.98);
  EXPECT_EQ(s.dropped(), 0u);
  EXPECT_EQ(s.at("leaf1:2", 3).xoff_sent, 0u);
  for (const report::FlowReport& f : s.report().flows) EXPECT_EQ(f.roce->cnp_sent, 0u) << "receivers do not answer CE";
  s.leave_the_books();
}

INSTANTIATE_TEST_SUITE_P(Senders, HpccIncast, testing::Values(2, 4, 8), testing::PrintToStringParamName());

TEST(HpccIncast, TheQueueIsShorterThanWithDcqcnAtTheStartAndAfterIt) {
  Scenario hpcc = Scenario::ready("hpcc-incast");
  Scenario dcqcn = Scenario::ready("roce-incast");
  const Load ours = measure(hpcc, 4_ms, 8_ms);
  const Load theirs = measure(dcqcn, 4_ms, 8_ms);
  EXPECT_LT(5 * ours.mean_queue, theirs.mean_queue);
  // All begin with a bandwidth-delay product; one after the other they hear of it.
  EXPECT_LT(5 * hpcc.at("leaf1:1", 3).max_depth_octets, dcqcn.at("leaf1:1", 3).max_depth_octets);
  hpcc.leave_the_books();
  dcqcn.leave_the_books();
}

//  h2, h3 --- leaf1 --- h1: h3 begins when h2 has had all for 3 ms.
TEST(HpccStart, ANewFlowGetsItsShareAndTheQueueGoesAway) {
  Scenario s(
      "name: start\ntopology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 3 }\n"
      "hosts: { default: { roce: { congestion: hpcc, hpcc: { flows: 16 } } } }\n"
      "traffic:\n"
      "  - { name: old, from: h2, to: h1, transport: roce, outstanding: 2 }\n"
      "  - { name: new, from: h3, to: h1, transport: roce, outstanding: 2, start: 3ms }\n"
      "run: { duration: 10ms }\n");
  const Load alone = measure(s, 1_ms, 3_ms);
  EXPECT_NEAR(alone.used, 0.95, 0.02);
  EXPECT_EQ(alone.goodputs[1], 0);
  EXPECT_LT(alone.most_queue, 2 * 4200);
  // What the new one sends at line rate in its first round trips, and no more: one bandwidth-delay product.
  const Load meeting = measure(s, 3_ms, 3_ms + 100_us);
  EXPECT_LT(static_cast<double>(s.at("leaf1:1", 3).max_depth_octets), 1.5 * 100e9 / 8 * 4e-6);
  EXPECT_GT(meeting.used, 0.85);
  const Load together = measure(s, 4_ms, 10_ms);
  EXPECT_NEAR(together.used, 0.95, 0.02);
  EXPECT_NEAR(together.goodputs[0], together.goodputs[1], 0.1 * together.sum / 2);
  EXPECT_LT(together.mean_queue, 2 * 4200);
  s.leave_the_books();
}

TEST(HpccDeterminism, AnyNumberOfWorkersHasOneDigest) {
  const auto digest = [](std::size_t workers) {
    EngineConfig config;
    config.workers = workers;
    config.digest = true;
    Scenario s = Scenario::with_clocks(
        "name: both\ntopology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 4 }\n"
        "hosts: { default: { roce: { congestion: hpcc } } }\n"
        "traffic:\n  - { name: p, pattern: permutation, transport: roce, message: 100KB, bytes: 1MB }\n"
        "  - { name: i, pattern: incast, to: h1, fan-in: 5, transport: roce, message: 100KB, bytes: 1MB }\n",
        {}, config);
    s.run_to_the_end();
    return s.digest();
  };
  const std::uint64_t one = digest(1);
  EXPECT_NE(one, 0u);
  EXPECT_EQ(digest(2), one);
}

}  // namespace
}  // namespace railyard::test
