// Built-in RoCEv2 NICs over whole paths: messages of flows, from what a fabric file says to what the report does.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

//  h1 --- leaf1 --- spine1 --- leaf2 --- h2, 100 Gb/s everywhere.
std::string pair(const std::string& keys, const std::string& more = "") {
  return "name: pair\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 1 }\n" + more +
         "traffic:\n  - { name: t, from: h1, to: h2, transport: roce, " + keys + " }\n";
}

report::FlowReport flow_report(Scenario& s, const std::string& name = "t/h1->h2") {
  for (const report::FlowReport& f : s.report().flows)
    if (f.name == name) return f;
  throw std::out_of_range("no flow is called " + name);
}

// Octets that a frame takes beside its payload: Ethernet 14, IP, UDP 8, BTH 12, ICRC 4, FCS 4, preamble and gap 20.
double overhead(int ip) { return 14 + (ip == 4 ? 20 : 40) + 8 + 12 + 4 + 4 + 20; }

struct Clean {
  const char* operation;
  int ip;
  int path_mtu;
};
class RoceClean : public testing::TestWithParam<Clean> {};

TEST_P(RoceClean, APairReachesTheFramingLimit) {
  const Clean& p = GetParam();
  Scenario s(pair(std::string("operation: ") + p.operation + ", ip: " + std::to_string(p.ip) +
                  ", path-mtu: " + std::to_string(p.path_mtu) + ", message: 1MB, bytes: 40MB"));
  s.run_to_the_end();
  const double packets = std::ceil(1e6 / p.path_mtu);
  const double extra = p.operation[0] == 'w' ? 16 : p.operation[0] == 'r' ? 8 : 0;  // RETH; AETH first and last
  const double limit = 100e9 * 1e6 / (1e6 + packets * overhead(p.ip) + extra);
  const report::FlowReport f = flow_report(s);
  EXPECT_NEAR(*f.goodput_bps(), limit, limit / 100);
  ASSERT_TRUE(f.fct_ns.has_value());
  EXPECT_EQ(f.delivered_bytes, 40'000'000u);
  EXPECT_EQ(f.lost, 0u);
  ASSERT_TRUE(f.roce.has_value());
  EXPECT_EQ(f.roce->messages, 40u);
  EXPECT_EQ(f.roce->verified, 40u);
  EXPECT_EQ(f.roce->retransmitted_packets, 0u);
  EXPECT_EQ(f.roce->completion_errors, 0u);
  EXPECT_EQ(f.corrupted, 0u);
  s.expect_books_balance();
}

INSTANTIATE_TEST_SUITE_P(Operations, RoceClean,
                         testing::Values(Clean{"write", 4, 4096}, Clean{"write", 6, 1024}, Clean{"send", 4, 2048},
                                         Clean{"send", 6, 512}, Clean{"read", 4, 4096}, Clean{"read", 6, 256}),
                         [](const auto& c) {
                           return std::string(c.param.operation) + "V" + std::to_string(c.param.ip) + "Mtu" +
                                  std::to_string(c.param.path_mtu);
                         });

// Go-back-N: every gap costs what was on its way, and in the end all of it is there. Messages are of odd sizes, so that
// there is padding; real octets are compared in the receiver's memory.
class RoceLossy : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(RoceLossy, AllDataArriveVerifiedThroughALossyLink) {
  const auto [operation, payload] = GetParam();
  Scenario s(pair(std::string("operation: ") + operation +
                      ", message: 50001B, bytes: 5000003B, path-mtu: 1024, outstanding: 8",
                  "hosts: { default: { roce: { ack-timeout: 6 } } }\nfaults:\n"
                  "  - { name: lossy, on: spine1:1, loss: 0.3% }\n"),
             {std::string("run.payload=") + payload});
  s.run_to_the_end();
  const report::FlowReport f = flow_report(s);
  ASSERT_TRUE(f.roce.has_value());
  EXPECT_GT(s.fault("lossy").frames, 5u);
  EXPECT_EQ(f.delivered_bytes, 5'000'003u);
  EXPECT_EQ(f.roce->messages, 100u);
  EXPECT_EQ(f.roce->verified, 100u);
  EXPECT_EQ(f.corrupted, 0u);
  EXPECT_TRUE(f.fct_ns.has_value());
  EXPECT_GT(f.roce->retransmitted_packets, 0u);
  EXPECT_GT(f.roce->packet_seq_err + f.roce->implied_nak_seq_err + f.roce->local_ack_timeout_err, 0u);
  EXPECT_EQ(f.roce->completion_errors, 0u);
  s.expect_books_balance();
}

INSTANTIATE_TEST_SUITE_P(Operations, RoceLossy,
                         testing::Combine(testing::Values("write", "send", "read"), testing::Values("elided", "real")),
                         [](const auto& c) { return std::string(std::get<0>(c.param)) + "_" + std::get<1>(c.param); });

// Selective repeat: what was lost goes again, and nothing else.
constexpr const char* kSelective = "hosts.default.roce.loss-recovery=selective-repeat";

TEST(RoceSelective, OnlyWhatWasLostGoesAgain) {
  const auto lossy = [](const std::vector<std::string>& sets) {
    auto s = std::make_unique<Scenario>(pair("message: 50001B, bytes: 20000400B, path-mtu: 1024, outstanding: 8",
                                             "hosts: { default: { roce: { ack-every: 8 } } }\nfaults:\n"
                                             "  - { name: lossy, on: spine1:1, loss: 1% }\n"),
                                        sets);
    s->run_to_the_end();
    const report::FlowReport f = flow_report(*s);
    EXPECT_EQ(f.roce->verified, 400u);
    EXPECT_EQ(f.corrupted, 0u);
    EXPECT_EQ(f.roce->completion_errors, 0u);
    s->expect_books_balance();
    return s;
  };
  for (const char* payload : {"run.payload=elided", "run.payload=real"}) {
    const auto back = lossy({payload});
    const auto selective = lossy({kSelective, payload});
    const std::uint64_t lost = selective->fault("lossy").frames;
    EXPECT_GT(lost, 100u);
    // Some acknowledgements are lost too, and some packets more than once.
    EXPECT_LE(flow_report(*selective).roce->retransmitted_packets, lost + lost / 2);
    EXPECT_GT(flow_report(*back).roce->retransmitted_packets, 3 * flow_report(*selective).roce->retransmitted_packets);
    EXPECT_GT(*flow_report(*selective).goodput_bps(), 1.2 * *flow_report(*back).goodput_bps());
  }
}

TEST(RoceSelective, EveryOperationArrivesVerifiedThroughAllThatGoesWrong) {
  for (const char* operation : {"write", "send", "read"})
    for (const char* payload : {"run.payload=elided", "run.payload=real"}) {
      Scenario s(pair(std::string("operation: ") + operation +
                          ", message: 50001B, bytes: 5000003B, path-mtu: 1024, outstanding: 8, qps: 3",
                      "faults:\n  - { name: lossy, on: spine1:1, loss: 1% }\n"
                      "  - { name: double, on: leaf1:2, duplicate: true, probability: 1% }\n"
                      "  - { name: mixed, on: leaf2:2, reorder: { behind: 3, within: 5us }, probability: 2% }\n"),
                 {kSelective, payload});
      s.run_to_the_end();
      const report::FlowReport f = flow_report(s);
      EXPECT_EQ(f.delivered_bytes, 5'000'003u) << operation << payload;
      EXPECT_EQ(f.roce->messages, 100u);
      EXPECT_EQ(f.roce->verified, 100u) << operation << payload;
      EXPECT_EQ(f.corrupted, 0u) << operation << payload;
      EXPECT_EQ(f.roce->completion_errors, 0u);
      s.expect_books_balance();
    }
}

TEST(RoceSelective, SprayedPacketsThatOvertakeAreNotTakenForLost) {
  // Two ways, one of which takes longer by some packets.
  const std::string lab =
      "name: sprayed\nqos: { default: { classes: { 3: { lossless: true, path: { policy: spray } } } } }\n"
      "topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 1 }\n"
      "faults:\n  - { name: longer, on: leaf1:2, delay: 1us }\n"
      "traffic:\n  - { name: t, from: h1, to: h2, transport: roce, message: 100KB, bytes: 20MB }\n";
  Scenario back(lab);
  back.run_to_the_end();
  Scenario selective(lab, {kSelective, "hosts.default.roce.selective-repeat.reorder-packets=32"});
  selective.run_to_the_end();
  for (Scenario* s : {&back, &selective}) EXPECT_EQ(flow_report(*s).roce->verified, 200u);
  EXPECT_GT(flow_report(back).roce->retransmitted_packets, 1000u);
  EXPECT_EQ(flow_report(selective).roce->retransmitted_packets, 0u);
  EXPECT_LT(*flow_report(back).goodput_bps(), 0.8 * *flow_report(selective).goodput_bps());
}

// NICs as they ship: the senders start at line rate, are cut to almost nothing, and share the link well before 10 ms. (With
// the paper's settings, for 40 Gb/s, four of them take 18 Gb/s of 100 in that time.)
TEST(RoceDcqcn, FourNicsAsTheyShipShareAPortSoon) {
  for (const char* stagger : {"0us", "10us", "50us"})
    for (const char* seed : {"1", "2"}) {
      Scenario s(
          "name: four\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 5 }\n"
          "traffic:\n  - { name: t, pattern: incast, from: h*, to: h1, transport: roce, message: 1MB }\n"
          "run: { duration: 10ms }\n",
          {std::string("traffic.t.stagger=") + stagger, std::string("run.seed=") + seed});
      s.run_until(10_ms);
      double sum = 0;
      for (const report::FlowReport& f : s.report().flows) {
        EXPECT_GT(f.roce->cnp_handled, 0u);
        EXPECT_GT(*f.goodput_bps(), 12.5e9) << f.name << ": half of its share, " << stagger << ", " << seed;
        sum += *f.goodput_bps();
      }
      EXPECT_GT(sum, 75e9) << stagger << ", " << seed;
      EXPECT_EQ(s.dropped(), 0u);
    }
}

TEST(RoceSwift, AnIncastKeepsItsRoundTripsShortAndNobodyIsPaused) {
  const std::vector<std::string> swift{"hosts.default.roce.congestion=swift",
                                       "qos.default.classes.3.ecn={ kmin: 10MB, kmax: 20MB }",
                                       "switches.default.buffer=16MiB", "hosts.default.roce.ack-every=4"};
  Scenario s = Scenario::ready("roce-incast", swift);
  s.run_until(20_ms);
  std::uint64_t xoff = 0;
  for (const report::PortReport& p : s.report().ports)
    for (const ClassCounters& c : p.counters.classes) xoff += c.xoff_sent;
  EXPECT_EQ(xoff, 0u);
  double sum = 0;
  for (const report::FlowReport& f : s.report().flows) {
    sum += *f.goodput_bps();
    EXPECT_EQ(f.roce->retransmitted_packets, 0u);
  }
  EXPECT_GT(sum, 80e9);
  EXPECT_EQ(s.dropped(), 0u);
}

TEST(Roce, PaddingPassesANicWithRealAndWithElidedPayload) {
  for (const char* payload : {"elided", "real"})
    for (int octets = 1; octets <= 5; ++octets) {
      Scenario s(pair("message: " + std::to_string(octets) + "B, bytes: " + std::to_string(3 * octets) + "B"),
                 {std::string("run.payload=") + payload});
      s.run_to_the_end();
      const report::FlowReport f = flow_report(s);
      EXPECT_EQ(f.delivered_bytes, static_cast<std::uint64_t>(3 * octets)) << payload;
      EXPECT_EQ(f.roce->verified, 3u) << payload << " " << octets;
      EXPECT_EQ(f.corrupted, 0u);
    }
}

TEST(Roce, AMessageTakesWhatItsPathTakes) {
  // One packet of 1000 octets there and an acknowledgement back: the NIC's and the switches' latencies, twice.
  Scenario s(pair("message: 1000B, bytes: 1000B"));
  s.run_to_the_end();
  const report::FlowReport f = flow_report(s);
  ASSERT_TRUE(f.fct_ns.has_value());
  EXPECT_EQ(*f.fct_ns, static_cast<std::int64_t>(f.roce->message_ns.max));
  EXPECT_GT(*f.fct_ns, 2 * static_cast<std::int64_t>(f.latency_ns.max) * 9 / 10);
  EXPECT_LT(*f.fct_ns, 2 * static_cast<std::int64_t>(f.latency_ns.max));
}

TEST(Roce, SeveralQpsShareAFlowAndItsPaths) {
  Scenario s(pair("message: 10000B, bytes: 1230000B, qps: 7"), {"topology.spines=4"});
  s.run_to_the_end();
  const report::FlowReport f = flow_report(s);
  EXPECT_EQ(f.delivered_bytes, 1'230'000u);
  EXPECT_EQ(f.roce->messages, 123u);
  EXPECT_EQ(f.roce->verified, 123u);
  int used = 0;
  for (int spine = 1; spine <= 4; ++spine) used += s.port("spine" + std::to_string(spine) + ":1").rx_packets() > 100;
  EXPECT_GT(used, 1);
}

TEST(Roce, ARateIsKeptTo) {
  for (const char* operation : {"write", "read"}) {
    Scenario s(pair(std::string("operation: ") + operation + ", rate: 10Gbps, qps: 2, bytes: 4MB, path-mtu: 1024"));
    s.run_to_the_end();
    const double limit = 10e9 * 1024 / (1024 + overhead(4));
    EXPECT_NEAR(*flow_report(s).goodput_bps(), limit, limit / 100) << operation;
  }
}

TEST(Roce, ARateChangesWhileTheLabIsUp) {
  Scenario s(pair("rate: 10Gbps, path-mtu: 1024, message: 100KB"), {"run.duration=2ms"});
  s.set_at(1_ms, {"traffic.t.rate=40Gbps"});
  s.run_until(1_ms);
  const std::uint64_t before = s.flow("t/h1->h2").received().payload_octets;
  s.run_until(2_ms);
  const std::uint64_t after = s.flow("t/h1->h2").received().payload_octets - before;
  EXPECT_NEAR(static_cast<double>(after) / static_cast<double>(before), 4, 0.1);
}

TEST(Roce, StartStaggerAndStop) {
  Scenario s(R"(
name: times
topology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 4 }
traffic:
  - { name: t, pattern: incast, to: h1, transport: roce, message: 10KB, start: 10us, stagger: 20us, stop: 100us }
)");
  s.run_until(30_us - 1_ps);
  EXPECT_GT(s.flow("t/h2->h1").sent().packets, 0u);
  EXPECT_EQ(s.flow("t/h2->h1").sent().first, Instant{} + 10_us);
  EXPECT_EQ(s.flow("t/h3->h1").sent().packets, 0u);
  s.run_to_the_end();
  EXPECT_EQ(s.flow("t/h3->h1").sent().first, Instant{} + 30_us);
  const report::FlowReport f = flow_report(s, "t/h4->h1");
  // What was posted before the stop is completed; nothing is posted behind it.
  EXPECT_EQ(f.bytes, f.delivered_bytes);
  EXPECT_EQ(f.roce->messages * 10'000, f.delivered_bytes);
  EXPECT_LT(s.flow("t/h4->h1").received().last, Instant{} + 150_us);
  EXPECT_FALSE(f.fct_ns.has_value());
}

TEST(Roce, AReceiverThatIsNotReadyIsWaitedFor) {
  Scenario s(pair("operation: send, message: 10KB, bytes: 500KB, outstanding: 8, receives: 1, repost-after: 20us",
                  "hosts: { default: { roce: { min-rnr-timer: 1 } } }\n"));
  s.run_to_the_end();
  const report::FlowReport f = flow_report(s);
  EXPECT_GT(f.roce->out_of_buffer, 0u);
  EXPECT_EQ(f.roce->rnr_nak_received, f.roce->out_of_buffer);
  EXPECT_EQ(f.roce->verified, 50u);
  EXPECT_GE(*f.fct_ns, 49 * 20'000);
  EXPECT_NE(s.report().text().find("RNR NAK"), std::string::npos);
}

TEST(Roce, OneThatIsNeverReadyEndsTheFlow) {
  Scenario s(pair("operation: send, message: 10KB, bytes: 500KB, receives: 1, repost-after: 10ms",
                  "hosts: { default: { roce: { min-rnr-timer: 1, rnr-retry: 2 } } }\n"));
  s.run_to_the_end();
  const report::FlowReport f = flow_report(s);
  EXPECT_EQ(f.roce->status, "RNR_RETRY_EXC_ERR");
  EXPECT_EQ(f.roce->messages, 1u);
  EXPECT_EQ(f.roce->completion_errors, 4u);
  EXPECT_FALSE(f.fct_ns.has_value());
}

// Only its own flow is lost with a peer that cannot be reached.
TEST(Roce, APeerThatCannotBeReachedIsGivenUpAfterItsRetries) {
  Scenario s(R"(
name: unreachable
topology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 3 }
hosts: { default: { roce: { ack-timeout: 4, retry-count: 3 } } }
traffic:
  - { name: t, from: h1, to: [h2, h3], transport: roce, message: 100KB, bytes: 20MB }
faults:
  - { name: cut, on: h3:1, at: 100us, down: true }
)");
  s.run_to_the_end();
  const report::FlowReport lost = flow_report(s, "t/h1->h3");
  EXPECT_EQ(lost.roce->status, "RETRY_EXC_ERR");
  EXPECT_EQ(lost.roce->local_ack_timeout_err, 4u);
  EXPECT_EQ(lost.roce->completion_errors, 4u);
  EXPECT_FALSE(lost.fct_ns.has_value());
  EXPECT_LT(lost.roce->messages, 200u);
  // 100 us and four times 65.5 us, each from the last of a message's 25 packets on, which asks for an answer: between those
  // to h2, of 4178 octets with preamble and gap, it leaves after 50.
  EXPECT_NEAR(static_cast<double>(*lost.roce->failed_ns), 100e3 + 4 * (65.5e3 + 50 * 4178 * 0.08), 10e3);
  const report::FlowReport other = flow_report(s, "t/h1->h2");
  EXPECT_EQ(other.roce->messages, 200u);
  EXPECT_EQ(other.roce->status, "");
  const std::string text = s.report().text();
  EXPECT_NE(text.find("QP IN ERROR: t/h1->h3: RETRY_EXC_ERR"), std::string::npos) << text;
  s.expect_books_balance();
}

// The generator's frames and QPs at one NIC, both ways.
TEST(Roce, TheGeneratorAndQpsShareANic) {
  for (const char* payload : {"elided", "real"}) {
    Scenario s(R"(
name: both
topology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 3 }
traffic:
  - { name: frames, from: [h1, h2], to: [h2, h3], bytes: 4MiB }
  - { name: messages, from: [h1, h2], to: [h2, h3], transport: roce, bytes: 4MB }
  - { name: back, from: h2, to: h1, transport: roce, operation: read, bytes: 1MB, dscp: 10 }
)",
               {std::string("run.payload=") + payload});
    s.run_to_the_end();
    for (const report::FlowReport& f : s.report().flows) {
      EXPECT_EQ(f.delivered_bytes, f.roce ? (f.name.starts_with("back") ? 1'000'000u : 4'000'000u) : 4u << 20)
          << f.name;
      EXPECT_EQ(f.corrupted, 0u) << f.name;
      EXPECT_EQ(f.lost, 0u) << f.name;
      EXPECT_TRUE(f.fct_ns.has_value()) << f.name;
      // Both have the same class: neither is kept waiting.
      if (!f.name.starts_with("back")) {
        EXPECT_NEAR(*f.goodput_bps(), 49e9, 3e9) << f.name;
      }
    }
    s.expect_books_balance();
  }
}

TEST(Roce, EveryPatternWorks) {
  for (const char* pattern : {"incast, to: h1", "permutation", "all-to-all", "random, flows: 3"}) {
    Scenario s(std::string("name: patterns\ntopology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 4 }\n"
                           "traffic: [ { name: t, pattern: ") +
               pattern + ", transport: roce, message: 30KB, bytes: 200KB } ]\n");
    s.run_to_the_end();
    for (const report::FlowReport& f : s.report().flows) {
      EXPECT_EQ(f.roce->messages, 7u) << f.name;
      EXPECT_EQ(f.roce->verified, 7u) << f.name;
      EXPECT_TRUE(f.fct_ns.has_value()) << f.name;
    }
    s.expect_books_balance();
  }
}

std::uint64_t xoffs(Scenario& s) {
  std::uint64_t n = 0;
  for (const report::PortReport& p : s.report().ports)
    for (const ClassCounters& c : p.counters.classes) n += c.xoff_sent;
  return n;
}

class RoceDcqcn : public testing::TestWithParam<int> {};

TEST_P(RoceDcqcn, SendersConvergeToEqualSharesAndNobodyIsPaused) {
  const int n = GetParam();
  Scenario s = Scenario::ready("roce-incast", {"traffic.incast.fan-in=" + std::to_string(n), "run.duration=40ms"});
  s.run_until(20_ms);
  std::vector<std::uint64_t> before;
  for (const build::Flow& f : s.lab().flows()) before.push_back(f.received().payload_octets);
  ASSERT_EQ(before.size(), static_cast<std::size_t>(n));
  s.run_until(40_ms);
  std::vector<double> goodput;
  double sum = 0;
  for (const build::Flow& f : s.lab().flows()) {
    goodput.push_back(static_cast<double>(f.received().payload_octets - before[goodput.size()]) * 8 / 20e-3);
    sum += goodput.back();
  }
  for (const double g : goodput) EXPECT_NEAR(g, sum / n, 0.1 * sum / n);
  // What they leave of the link.
  EXPECT_GT(sum, 90e9);
  EXPECT_EQ(xoffs(s), 0u);
  std::uint64_t cnps = 0;
  std::uint64_t sent = 0;
  for (const report::FlowReport& f : s.report().flows) {
    cnps += f.roce->cnp_handled;
    sent += f.roce->cnp_sent;
    EXPECT_EQ(f.roce->retransmitted_packets, 0u);
    EXPECT_EQ(f.marked, f.roce->ecn_marked);
  }
  EXPECT_GT(cnps, 100u);
  EXPECT_LE(sent - cnps, 8u);  // on their way
  EXPECT_EQ(s.dropped(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Senders, RoceDcqcn, testing::Values(2, 4, 8), testing::PrintToStringParamName());

TEST(Roce, WithoutDcqcnTheSameIncastIsHeldBackByPfc) {
  Scenario s = Scenario::ready("roce-incast", {"hosts.default.roce.congestion=none"});
  s.run_until(20_ms);
  EXPECT_GT(xoffs(s), 10u);
  for (const report::FlowReport& f : s.report().flows) EXPECT_EQ(f.roce->cnp_sent, 0u);
  EXPECT_EQ(s.dropped(), 0u);
}

TEST(Roce, WithThresholdsAboveWhatTheBufferHoldsPfcComesAndMarksDoNot) {
  Scenario s = Scenario::ready(
      "roce-incast", {"qos.default.classes.3.ecn={ kmin: 10MB, kmax: 20MB }", "switches.default.buffer=16MiB"});
  s.run_until(20_ms);
  EXPECT_GT(xoffs(s), 10u);
  EXPECT_EQ(s.at("leaf1:1", 3).ecn_marked, 0u);
}

// READ responses are the responder's data, and it is told to slow down.
TEST(Roce, DcqcnSlowsDownReadResponses) {
  Scenario s = Scenario::ready("roce-incast", {"traffic.incast.operation=read"});
  s.run_until(20_ms);
  for (const report::FlowReport& f : s.report().flows) {
    EXPECT_GT(f.roce->cnp_handled, 10u) << f.name;
    EXPECT_LT(*f.goodput_bps(), 15e9) << f.name;
  }
  EXPECT_EQ(xoffs(s), 0u);
}

TEST(Roce, CnpsGoInTheClassAndWithTheCodePointThatAreSaid) {
  Scenario s = Scenario::ready("roce-incast",
                               {"hosts.default.roce.cnp={ dscp: 40, class: 5, interval: 20us }", "run.duration=1ms"});
  s.run_until(1_ms);
  std::uint64_t cnps = 0;
  for (const report::FlowReport& f : s.report().flows) cnps += f.roce->cnp_sent;
  // At the receiver's NIC in class 5, and at the switch by DSCP 40 in class 5, too.
  EXPECT_GE(s.at("h1:1", 5).tx_packets, cnps - 8);
  EXPECT_EQ(s.at("h1:1", 6).tx_packets, 0u);
  EXPECT_GE(s.at("leaf1:1", 5).rx_packets, cnps - 8);
  EXPECT_LE(cnps, 8 * 51u);
  EXPECT_GT(cnps, 8 * 10u);
}

TEST(Roce, TheShippedLossyLinkRecoversVerified) {
  Scenario s = Scenario::ready("roce-loss");
  s.run_to_the_end();
  const report::FlowReport f = flow_report(s);
  EXPECT_EQ(f.roce->verified, 500u);
  EXPECT_GT(f.roce->retransmitted_packets, 0u);
  EXPECT_EQ(f.delivered_bytes, 50'000'000u);
  EXPECT_TRUE(f.fct_ns.has_value());
  EXPECT_LT(*f.goodput_bps(), 98e9);
  Scenario dead = Scenario::ready("roce-loss", {"faults.bad.loss=100%"});
  dead.run_to_the_end();
  EXPECT_EQ(flow_report(dead).roce->status, "RETRY_EXC_ERR");
}

// Everything that could disagree: marks and CNPs, loss, retransmission, all operations, several QPs, both transports.
constexpr const char* kEverything = R"(
name: everything
qos: { default: { classes: { 3: { lossless: true, alpha: 1/8, ecn: { kmin: 20KB, kmax: 200KB, pmax: 10% } } } } }
topology: { preset: leaf-spine, leaves: 3, spines: 2, hosts-per-leaf: 4 }
hosts: { default: { roce: { congestion: dcqcn, dcqcn: { profile: vendor }, ack-timeout: 5, ack-every: 16 } } }
traffic:
  - { name: incast, pattern: incast, fan-in: 6, to: h1, transport: roce, message: 64KB, outstanding: 2 }
  - { name: reads, pattern: permutation, transport: roce, operation: read, message: 30001B, qps: 2, path-mtu: 1024 }
  - { name: sends, pattern: random, transport: roce, operation: send, message: 5003B, receives: 2, repost-after: 3us }
  - { name: frames, pattern: random, rate: 5Gbps, payload: 1000B }
faults:
  - { name: lossy, on: spine1:2, loss: 0.1% }
run: { duration: 300us }
)";

std::uint64_t digest(std::size_t workers, const std::vector<std::string>& sets = {}) {
  EngineConfig config;
  config.workers = workers;
  config.digest = true;
  Scenario s(kEverything, sets, config);
  s.run_until(2_ms);
  s.expect_books_balance();
  std::uint64_t cnps = 0;
  std::uint64_t again = 0;
  std::uint64_t corrupted = 0;
  for (const report::FlowReport& f : s.report().flows) {
    corrupted += f.corrupted;
    if (!f.roce) continue;
    cnps += f.roce->cnp_handled;
    again += f.roce->retransmitted_packets;
  }
  EXPECT_GT(cnps, 10u);
  EXPECT_GT(again, 10u);
  EXPECT_EQ(corrupted, 0u);
  return s.digest();
}

TEST(Roce, OneResultOnAnyNumberOfWorkers) {
  const std::uint64_t one = digest(1);
  for (std::size_t workers = 2; workers <= 4; ++workers) EXPECT_EQ(digest(workers), one) << workers;
  EXPECT_NE(digest(1, {"run.seed=2"}), one);
  const std::uint64_t selective = digest(1, {kSelective});
  EXPECT_EQ(digest(3, {kSelective}), selective);
  EXPECT_NE(selective, one);
}

}  // namespace
}  // namespace railyard::test
