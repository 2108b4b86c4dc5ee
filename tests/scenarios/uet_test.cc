// Built-in UET NICs over whole paths: messages of flows, from what a fabric file says to what the report does.
#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "tests/scenarios/scenario.h"
#include "tests/scenarios/uet_lab.h"

namespace railyard::test {
namespace {

using namespace literals;

// Octets that a frame takes beside its payload: Ethernet 14, IP, UDP 8, PDS, SES, CRC 4, FCS 4, preamble and gap 20.
double overhead(int ip, const std::string& service, bool read) {
  const int pds = service == "uud" ? 4 : service == "rudi" ? 8 : 12;
  return 14 + (ip == 4 ? 20 : 40) + 8 + pds + (read ? 20 : 44) + 4 + 4 + 20;
}

struct Clean {
  const char* service;
  const char* operation;
  int ip;
  int path_mtu;
  const char* payload;
};
class UetClean : public testing::TestWithParam<Clean> {};

TEST_P(UetClean, APairReachesTheFramingLimit) {
  const Clean& p = GetParam();
  const bool uud = std::string(p.service) == "uud";
  const double message = uud ? p.path_mtu : 1'000'000;
  const std::uint64_t messages = uud ? 10'000 : 20;
  const auto total = static_cast<std::uint64_t>(message) * messages;
  Scenario s(pair(std::string("service: ") + p.service + ", operation: " + p.operation +
                  ", ip: " + std::to_string(p.ip) + ", path-mtu: " + std::to_string(p.path_mtu) +
                  (uud ? ", receives: 64" : ", message: 1MB") + ", bytes: " + std::to_string(total) + "B"),
             {std::string("run.payload=") + p.payload});
  s.run_to_the_end();
  const report::Report r = s.report();
  const double packets = std::ceil(message / p.path_mtu);
  const double limit = 100e9 * message / (message + packets * overhead(p.ip, p.service, p.operation[0] == 'r'));
  const report::FlowReport f = flow_report(r);
  EXPECT_NEAR(*f.goodput_bps(), limit, limit / 100);
  ASSERT_TRUE(f.fct_ns.has_value());
  EXPECT_EQ(f.delivered_bytes, total);
  EXPECT_EQ(f.lost, 0u);
  EXPECT_EQ(f.uet->service, p.service);
  EXPECT_EQ(f.uet->messages, messages);
  EXPECT_EQ(sums(r).retransmitted, 0u);
  expect_all_verified(r, messages);
  s.expect_books_balance();
}

INSTANTIATE_TEST_SUITE_P(
    Services, UetClean,
    testing::Values(Clean{"rud", "write", 4, 4096, "elided"}, Clean{"rud", "send", 6, 1024, "elided"},
                    Clean{"rud", "read", 4, 4096, "elided"}, Clean{"rod", "write", 6, 2048, "elided"},
                    Clean{"rod", "send", 4, 8192, "elided"}, Clean{"rod", "read", 4, 2048, "real"},
                    Clean{"rudi", "write", 4, 4096, "real"}, Clean{"rudi", "read", 4, 4096, "elided"},
                    Clean{"rud", "write", 4, 4096, "real"}, Clean{"rud", "send", 4, 4096, "real"},
                    Clean{"uud", "send", 4, 4096, "elided"}, Clean{"uud", "send", 6, 1024, "real"}),
    [](const auto& c) {
      return std::string(c.param.service) + "_" + c.param.operation + "V" + std::to_string(c.param.ip) + "Mtu" +
             std::to_string(c.param.path_mtu) + "_" + c.param.payload;
    });

// Packets are lost and damaged on the way; messages are of odd sizes.
class UetLossy : public testing::TestWithParam<std::tuple<const char*, const char*, const char*>> {};

TEST_P(UetLossy, AllDataArriveVerifiedThroughALossyLink) {
  const auto [service, operation, payload] = GetParam();
  if (std::string(service) == "rudi" && std::string(operation) == "send") GTEST_SKIP() << "RUDI has no SEND";
  Scenario s(pair(std::string("service: ") + service + ", operation: " + operation +
                      ", message: 50001B, bytes: 5000003B, path-mtu: 1024, outstanding: 8",
                  "hosts: { default: { uet: { rto: 200us, retries: 10 } } }\nfaults:\n"
                  "  - { name: lossy, on: spine1:1, loss: 0.3% }\n"
                  "  - { name: bits, on: spine1:2, corrupt: true, probability: 0.1% }\n"),
             {std::string("run.payload=") + payload});
  s.run_to_the_end();
  const report::Report r = s.report();
  EXPECT_EQ(flow_report(r).delivered_bytes, 5'000'003u);
  EXPECT_GT(sums(r).retransmitted, 0u);
  expect_all_verified(r, 100);
  s.expect_books_balance();
}

INSTANTIATE_TEST_SUITE_P(Operations, UetLossy,
                         testing::Combine(testing::Values("rud", "rod", "rudi"),
                                          testing::Values("write", "send", "read"),
                                          testing::Values("elided", "real")),
                         [](const auto& c) {
                           return std::string(std::get<0>(c.param)) + "_" + std::get<1>(c.param) + "_" +
                                  std::get<2>(c.param);
                         });

TEST(Uet, DatagramsThatAreLostStayLostAndNobodyWaitsForThem) {
  Scenario s(pair("service: uud, message: 1000B, bytes: 1MB, receives: 64",
                  "faults:\n  - { name: lossy, on: spine1:1, loss: 2% }\n"));
  s.run_to_the_end();
  const report::FlowReport f = flow_report(s.report());
  EXPECT_EQ(f.uet->messages, 1000u) << "sent";
  EXPECT_LT(f.uet->verified, 1000u);
  EXPECT_GT(f.uet->verified, 900u);
  EXPECT_EQ(f.uet->verified + f.lost, 1000u);
  EXPECT_EQ(f.uet->retransmitted_packets, 0u);
}

TEST(Uet, DatagramsThatTheNetworkDoublesAreNoWrongData) {
  Scenario s(pair("service: uud, message: 1000B, bytes: 1MB, receives: 64",
                  "faults:\n  - { name: twice, on: spine1:1, duplicate: true, probability: 10% }\n"));
  s.run_to_the_end();
  const report::FlowReport f = flow_report(s.report());
  EXPECT_EQ(f.uet->verified, 1000u);
  EXPECT_EQ(f.corrupted, 0u);
  EXPECT_GT(f.uet->discarded, 50u);
}

TEST(Uet, APermutationIsSprayedTrimmedAndNothingGoesTwiceForNothing) {
  Scenario s = Scenario::ready("uet-spray-trim");
  s.run_to_the_end();
  const report::Report r = s.report();
  expect_all_verified(r, 32);
  const Sums u = sums(r);
  EXPECT_GT(u.out_of_order, 0u) << "many paths";
  EXPECT_EQ(u.timeouts, 0u);
  EXPECT_EQ(u.duplicates, 0u);
  EXPECT_EQ(u.retransmitted, u.trimmed);
  EXPECT_EQ(s.dropped(), 0u);
  for (const report::PortReport& p : r.ports) EXPECT_EQ(p.counters.tx_control, 0u) << "no PFC";
  double last = 0;
  for (const report::FlowReport& f : r.flows) last = std::max(last, static_cast<double>(*f.fct_ns));
  EXPECT_LT(last, 1.2 * static_cast<double>(*r.flows[0].ideal_ns));
  s.expect_books_balance();
}

TEST(Uet, AnIncastIsTrimmedAndLosesNothingWithoutPfc) {
  Scenario s = Scenario::ready("uet-incast");
  s.run_to_the_end();
  const report::Report r = s.report();
  expect_all_verified(r, 16);
  const Sums u = sums(r);
  EXPECT_GT(u.trimmed, 0u);
  EXPECT_EQ(u.nacks, u.trimmed);
  EXPECT_EQ(u.timeouts, 0u);
  EXPECT_EQ(s.dropped(), 0u);
  std::uint64_t trimmed = 0;
  double last = 0;
  for (const report::FlowReport& f : r.flows) {
    EXPECT_EQ(f.lost, 0u) << f.name;
    trimmed += f.trimmed;
    last = std::max(last, static_cast<double>(*f.fct_ns));
  }
  EXPECT_EQ(trimmed, u.trimmed) << "flows know whose packets were cut";
  // 16 MB through one link.
  const double bound = 16e6 * 8 / 100e9 * 1e9 * (4096 + overhead(4, "rud", false)) / 4096;
  EXPECT_GT(last, bound);
  EXPECT_LT(last, 1.05 * bound);
  s.expect_books_balance();
}

// Two hosts of one leaf send to two of the other by the only spine: its port to the second leaf is short, the leaf's to
// its hosts is not. Then one host sends as much as two to one.
TEST(Uet, SwitchesSayWhatTheyHaveCutAtTheLastHop) {
  const auto nacks = [](const std::string& to) {
    Scenario s(
        "name: x\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 2, host-link: { rate: "
        "100Gbps }, fabric-link: { rate: " +
        std::string(to == "h3" ? "400Gbps" : "100Gbps") +
        " } }\nswitches: { default: { buffer: 8MiB } }\nhosts: { default: { uet: { rto: 1ms } } }\n"
        "qos: { default: { classes: { 3: { lossless: false, queue-alpha: 1/64, trim: { dscp: 40, class: 5, "
        "last-hop-dscp: 41 } }, 5: { strict: true } } } }\n"
        "traffic: [{ name: t, from: [h1, h2], to: " +
        to + ", transport: uet, bytes: 4MB }]\n");
    s.run_to_the_end();
    const report::Report r = s.report();
    expect_all_verified(r, 8);
    std::map<std::string, std::uint64_t> codes;
    for (const report::UetNicReport& n : r.uet_nics)
      for (const auto& [code, count] : n.nacks_received) codes[code] += count;
    return codes;
  };
  const auto last = nacks("h3");
  EXPECT_GT(last.at("trimmed_lasthop"), 0u);
  EXPECT_FALSE(last.contains("trimmed"));
  const auto first = nacks("[h3, h4]");
  EXPECT_GT(first.at("trimmed"), 0u);
  EXPECT_FALSE(first.contains("trimmed_lasthop"));
}

TEST(Uet, RodKeepsItsOrderOverEcmp) {
  Scenario s = Scenario::ready("uet-spray-trim",
                               {"traffic.permutation.service=rod", "traffic.permutation.message=100KB"});
  s.run_to_the_end();
  const report::Report r = s.report();
  // Each message was there in its place (the sink asks that of ROD).
  expect_all_verified(r, 32 * 20);
  EXPECT_EQ(sums(r).out_of_order, 0u);
}

TEST(Uet, ALinkThatFlapsInTheMiddleCostsTimeOnly) {
  Scenario s = Scenario::ready("uet-spray-trim", {"hosts.default.uet.rto=200us"});
  s.add_fault_at(50_us, "{ name: flap, on: 'leaf1:9', down: true }");
  s.run_until(350_us);
  s.remove_fault_at(350_us, "flap");
  s.run_to_the_end();
  const report::Report r = s.report();
  expect_all_verified(r, 32);
  EXPECT_GT(sums(r).retransmitted, 0u);
}

// Requests that are too short to be cut have the DSCP of those that were all the same. What answers them is of their
// ECN.
TEST(Uet, ARequestInTheClassOfTrimmedPacketsIsAnsweredAsItWasAsked) {
  Scenario s(
      "name: requests\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 4 }\n"
      "qos: { default: { classes: { 7: { queue-limit: 256B, trim: { keep: 512B, dscp: 43, class: 5 } } } } }\n"
      "faults: [ { name: marks, on: h1 out, mark: true } ]\n"
      "traffic:\n  - { name: t, from: h1, to: h2, transport: uet, message: 10KB, bytes: 100KB, dscp: 18 }\n"
      "  - { name: r, from: h1, to: [h2, h3, h4], transport: uet, operation: read, dscp: 60, ecn: false, message: "
      "100B, "
      "bytes: 10KB, outstanding: 1 }\n");
  s.run_to_the_end();
  const report::Report r = s.report();
  expect_all_verified(r, 310);
  EXPECT_GT(s.at("leaf1:1", 7).trimmed, 0u);
  EXPECT_GT(flow_report(r).marked, 0u);
  for (const char* asks : {"h2", "h3", "h4"}) EXPECT_EQ(flow_report(r, std::string("r/h1->") + asks).marked, 0u);
}

// One packet has a bit that is wrong and an FCS that is right. With UET's CRC it is dropped and comes again; without,
// nobody notices before the data are compared.
TEST(Uet, SilentCorruptionIsFoundByTheCrcOrInTheDataOnly) {
  for (const char* payload : {"elided", "real"})
    for (const bool crc : {true, false}) {
      SCOPED_TRACE(std::string(payload) + (crc ? " with CRC" : " without"));
      Scenario s(pair("message: 40960B, bytes: 409600B",
                      std::string("hosts: { default: { uet: { rto: 100us, crc: ") + (crc ? "true" : "false") +
                          " } } }\nfaults:\n  - { name: silent, on: spine1:2 out, match: { uet.type: 2 }, count: 1, "
                          "at: 5us, corrupt: true }\n"),
                 {std::string("run.payload=") + payload});
      s.run_to_the_end();
      const report::FlowReport f = flow_report(s.report());
      EXPECT_EQ(s.fault("silent").frames, 1u);
      EXPECT_EQ(s.drops(DropReason::kIcrcError), crc ? 1u : 0u);
      EXPECT_EQ(s.dropped(), crc ? 1u : 0u);
      EXPECT_EQ(f.uet->retransmitted_packets, crc ? 1u : 0u);
      EXPECT_EQ(f.uet->verified, crc ? 10u : 9u);
      EXPECT_EQ(f.corrupted, crc ? 0u : 1u);
    }
}

TEST(Uet, AReadOfAFewOctetsIsAnsweredByAnAcknowledgementAndCounted) {
  for (const char* payload : {"elided", "real"}) {
    // The second message is of 8 octets.
    Scenario s("name: few\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 2 }\n"
               "traffic: [ { name: r, from: h1, to: h2, transport: uet, dscp: 10, operation: read, message: 8KiB, "
               "bytes: 8200B } ]\n",
               {std::string("run.payload=") + payload});
    s.run_to_the_end();
    const report::Report r = s.report();
    expect_all_verified(r, 2);
    EXPECT_EQ(r.flows[0].packets, 3u);
    EXPECT_EQ(r.flows[0].delivered_packets, 3u);
    EXPECT_EQ(r.flows[0].delivered_bytes, 8200);
  }
}

TEST(Uet, BothTransportsShareANicAndTheGeneratorTheirs) {
  Scenario s("name: mixed\ntopology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 2 }\n"
             "traffic:\n"
             "  - { name: r, from: [h1, h2], to: [h3, h4], transport: roce, dscp: 26, bytes: 2MB }\n"
             "  - { name: u, from: [h1, h2], to: [h3, h4], transport: uet, dscp: 10, bytes: 2MB }\n"
             "  - { name: b, from: h3, to: h1, transport: uet, dscp: 10, operation: read, bytes: 2MB }\n"
             "  - { name: g, from: h1, to: h4, dscp: 0, bytes: 1MiB }\n");
  s.run_to_the_end();
  const report::Report r = s.report();
  EXPECT_EQ(r.lab.roce_flows, 2);
  EXPECT_EQ(r.lab.uet_flows, 3);
  EXPECT_EQ(r.lab.generator_flows, 1);
  expect_all_verified(r, 6);
  for (const report::FlowReport& f : r.flows) {
    EXPECT_TRUE(f.fct_ns.has_value()) << f.name;
    EXPECT_EQ(f.lost, 0u) << f.name;
    if (f.roce) {
      EXPECT_EQ(f.roce->verified, 2u);
    }
  }
  s.expect_books_balance();
}

TEST(Uet, WithoutUdpAndWithoutCrcItWorksAsWell) {
  for (const char* how : {"{ encapsulation: ip, ip-protocol: 253 }", "{ encapsulation: ip, ip-protocol: 200 }",
                          "{ udp-port: 4000 }", "{ crc: false }", "{ encapsulation: ip, crc: false }",
                          "{ profile: ref-prov }"})
    for (const char* payload : {"elided", "real"}) {
      SCOPED_TRACE(std::string(how) + " " + payload);
      Scenario s(pair("message: 100KB, bytes: 2MB, path-mtu: 1024",
                      std::string("hosts: { default: { uet: ") + how + " } }\n"),
                 {std::string("run.payload=") + payload});
      s.run_to_the_end();
      const report::Report r = s.report();
      expect_all_verified(r, 20);
      const report::FlowReport f = flow_report(r);
      EXPECT_EQ(f.delivered_bytes, 2'000'000u);
      EXPECT_GT(f.share().value(), 0.9);
      EXPECT_LE(f.share().value(), 1);
      EXPECT_GE(f.slowdown().value(), 1);
      s.expect_books_balance();
    }
}

TEST(Uet, DamagedPacketsAreFoundInEitherEncapsulation) {
  for (const char* how : {"udp", "ip", "ip, ip-protocol: 200"}) {
    Scenario s(pair("message: 100KB, bytes: 2MB, path-mtu: 1024",
                    std::string("hosts: { default: { uet: { rto: 200us, encapsulation: ") + how +
                        " } } }\nfaults:\n  - { name: bits, on: spine1:2, corrupt: true, probability: 2% }\n"),
               {"run.payload=real"});
    s.run_to_the_end();
    expect_all_verified(s.report(), 20);
    EXPECT_EQ(flow_report(s.report()).corrupted, 0u) << how;
    EXPECT_GT(s.drops(DropReason::kIcrcError), 10u) << how;
  }
}

TEST(Uet, ARateIsKeptByEveryService) {
  struct Case {
    const char* service;
    const char* operation;
    int qps;
  };
  for (const Case& c : {Case{"rud", "write", 1}, Case{"rud", "read", 2}, Case{"rod", "send", 1},
                        Case{"rudi", "write", 1}, Case{"uud", "send", 1}}) {
    SCOPED_TRACE(std::string(c.service) + " " + c.operation);
    Scenario s(pair(std::string("service: ") + c.service + ", operation: " + c.operation +
                    ", qps: " + std::to_string(c.qps) + ", rate: 10Gbps, bytes: 4096000B" +
                    (std::string(c.service) == "uud" ? "" : ", message: 40960B")));
    s.run_to_the_end();
    const report::FlowReport f = flow_report(s.report());
    const double limit = 10e9 * 4096 / (4096 + overhead(4, c.service, c.operation[0] == 'r'));
    EXPECT_NEAR(*f.goodput_bps(), limit, limit / 40);
    EXPECT_LT(*f.goodput_bps(), limit * 1.02);
  }
}

TEST(Uet, WorkersChangeNothing) {
  std::vector<std::uint64_t> digests;
  for (const std::size_t workers : {1uz, 2uz, 3uz, 4uz}) {
    EngineConfig config;
    config.workers = workers;
    Scenario s = Scenario::ready("uet-incast", {"run.workers=" + std::to_string(workers)}, config);
    s.run_to_the_end();
    digests.push_back(s.digest());
  }
  for (const std::uint64_t d : digests) EXPECT_EQ(d, digests[0]);
}

TEST(Uet, PdcsComeAndGoWithLoad) {
  Scenario s("name: load\ntopology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 4 }\n"
             "hosts: { default: { uet: { idle-close: 5us } } }\n"
             "traffic:\n  - { name: t, pattern: all-to-all, from: 'h*', to: 'h*', transport: uet, sizes: web-search, "
             "load: 20%, stop: 2ms, class: 0, dscp: 0 }\n");
  s.run_to_the_end();
  const report::Report r = s.report();
  EXPECT_GT(r.flows.size(), 20u);
  std::uint64_t messages = 0;
  for (const report::FlowReport& f : r.flows) messages += f.uet->messages;
  expect_all_verified(r, messages);
  EXPECT_GT(sums(r).opened, 20u);
}

}  // namespace
}  // namespace railyard::test
