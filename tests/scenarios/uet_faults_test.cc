// Faults that find packets of UET by what their headers say.
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/wire/uet_pds.h"
#include "tests/scenarios/uet_lab.h"

namespace railyard::test {
namespace {

// Packets of the third message, and their retransmissions, until the fault has had enough of them.
TEST(Uet, FaultsFindPacketsByTypeAndMessage) {
  for (const char* encapsulation : {"udp", "ip", "udp, udp-port: 4000", "ip, ip-protocol: 200"}) {
    SCOPED_TRACE(encapsulation);
    Scenario s(pair("message: 40960B, bytes: 409600B, outstanding: 10",
                    std::string("hosts: { default: { uet: { rto: 100us, encapsulation: ") + encapsulation +
                        " } } }\nfaults:\n  - { name: f, on: spine1:2, match: { uet.type: 2, uet.message_id: 3 }, "
                        "count: 5, drop: true }\n"));
    s.run_to_the_end();
    const report::Report r = s.report();
    expect_all_verified(r, 10);
    EXPECT_EQ(s.fault("f").frames, 5u);
    EXPECT_EQ(flow_report(r).lost, 5u);
    EXPECT_GE(flow_report(r).uet->retransmitted_packets, 5u);
  }
}

// What the RUD requests that come to a host say, in the order in which they come.
class Requests final : public Tap {
 public:
  explicit Requests(bool udp) : pds_(14 + 20 + (udp ? 8u : 4u)) {}
  void see(Instant, const Packet& p, const TapNote&) override {
    const std::span<const std::byte> octets = p.header_span();
    if (octets.size() < pds_ + wire::UetPds::kOctets) return;
    const std::byte* const pds = octets.data() + pds_;
    if (wire::read<wire::UetPds::Type>(pds) != 2) return;
    psns.push_back(wire::read<wire::UetPds::PSN>(pds));
    spdcids.push_back(wire::read<wire::UetPds::SPDCID>(pds));
    dpdcids.push_back(wire::read<wire::UetPds::DPDCID>(pds));
  }
  std::vector<std::uint32_t> psns;
  std::vector<std::uint16_t> spdcids;
  std::vector<std::uint16_t> dpdcids;  // of a SYN: PDC_INFO and PSN_OFFSET, UE-Spec 1.0 §3.5.10.4

 private:
  std::size_t pds_;
};

// The packet of one PSN is dropped once, and comes later; no other goes twice.
TEST(Uet, AFaultFindsOnePacketByItsPsn) {
  for (const bool udp : {true, false}) {
    const auto lab = [&](const std::string& faults) {
      return pair("message: 40960B, bytes: 409600B, outstanding: 10",
                  std::string("hosts: { default: { uet: { rto: 100us, encapsulation: ") + (udp ? "udp" : "ip") +
                      " } } }\n" + faults);
    };
    Scenario clean(lab(""));
    Requests meant(udp);
    clean.lab().host("h2").tap(PortIndex{0}, &meant);
    clean.run_to_the_end();
    ASSERT_EQ(meant.psns.size(), 100u);
    const std::uint32_t psn = meant.psns[55];

    Scenario s(lab("faults:\n  - { name: f, on: spine1:2, match: { uet.type: 2, uet.psn: " + std::to_string(psn) +
                   ", nth: 1 }, drop: true }\n"));
    Requests came(udp);
    s.lab().host("h2").tap(PortIndex{0}, &came);
    s.run_to_the_end();
    const report::Report r = s.report();
    expect_all_verified(r, 10);
    EXPECT_EQ(s.fault("f").frames, 1u);
    EXPECT_EQ(flow_report(r).lost, 1u);
    EXPECT_EQ(flow_report(r).uet->retransmitted_packets, 1u);
    EXPECT_EQ(std::ranges::count(came.psns, psn), 1);
    EXPECT_GT(std::ranges::find(came.psns, psn) - came.psns.begin(), 55) << "later than it would have";
    EXPECT_EQ(came.psns.size(), 100u);
    s.expect_books_balance();
  }
}

TEST(Uet, FaultsFindThePacketsOfAPdc) {
  for (const bool udp : {true, false}) {
    Scenario s(pair("message: 40960B, bytes: 819200B, outstanding: 4, qps: 2",
                    std::string("hosts: { default: { uet: { encapsulation: ") + (udp ? "udp" : "ip") +
                        " } } }\nfaults:\n"
                        "  - { name: one, on: h2 in, match: { uet.type: 2, uet.spdcid: 1 }, delay: 1ps }\n"
                        "  - { name: two, on: h2 in, match: { uet.type: 2, uet.spdcid: 2 }, delay: 1ps }\n"
                        "  - { name: peer, on: h2 in, match: { uet.type: 2, uet.dpdcid: 2 }, delay: 1ps }\n"
                        "  - { name: nobody, on: h2 in, match: { uet.type: 2, uet.spdcid: 77 }, delay: 1ps }\n"));
    Requests came(udp);
    s.lab().host("h2").tap(PortIndex{0}, &came);
    s.run_to_the_end();
    expect_all_verified(s.report(), 20);
    EXPECT_EQ(came.psns.size(), 200u);
    EXPECT_EQ(s.fault("one").frames, 100u);
    EXPECT_EQ(s.fault("two").frames, 100u);
    EXPECT_EQ(s.fault("peer").frames, static_cast<std::uint64_t>(std::ranges::count(came.dpdcids, 2)));
    EXPECT_GT(s.fault("peer").frames, 10u);
    EXPECT_EQ(s.fault("nobody").frames, 0u);
  }
}

// 0.1 % of 20 MB at 400 Gb/s is lost on the last link of four paths. In a lossless class losses are found as quickly as in
// a lossy one: by the next packet on the path, not by timeouts of 5 ms.
TEST(Uet, ALosslessClassWithLossNeedsNoTimeout) {
  const auto lab = [](const char* lossless) {
    return std::string(
               "name: loss\ndefaults: { link: { rate: 400Gbps, delay: 500ns } }\n"
               "topology: { preset: leaf-spine, leaves: 2, spines: 4, hosts-per-leaf: 2 }\n"
               "qos: { default: { classes: { 3: { lossless: ") +
           lossless +
           " } } } }\ntraffic:\n  - { name: t, from: h1, to: h3, transport: uet, message: 1MB, outstanding: 8, bytes: "
           "20MB }\nfaults:\n  - { name: loss, on: \"leaf2:1\", loss: 0.1% }\n";
  };
  const auto fct = [&](const char* lossless) {
    Scenario s(lab(lossless));
    s.run_to_the_end();
    const report::Report r = s.report();
    expect_all_verified(r, 20);
    EXPECT_GT(flow_report(r, "t/h1->h3").lost, 0u);
    EXPECT_EQ(sums(r).timeouts, 0u) << lossless;
    EXPECT_EQ(sums(r).duplicates, 0u) << lossless;
    return static_cast<double>(*flow_report(r, "t/h1->h3").fct_ns);
  };
  // The last packets of the flow may have nothing behind them on their path: each then takes an eighth of the timeout.
  EXPECT_LT(fct("true"), fct("false") + 5e6 / 2);
}

// 1 % is lost on every link of the spines, ACKs and PROBEs among it: retransmissions are lost again, and windows are full
// of what is missing. RUD delivers as much as where switches drop.
TEST(Uet, ALosslessClassWithMuchLossDeliversAsMuchAsALossyOne) {
  const auto delivered = [](const char* lossless, const char* on, const char* loss, int seed) {
    Scenario s(std::string("name: loss\ndefaults: { link: { rate: 400Gbps, cable: 3m } }\n"
                           "topology: { preset: leaf-spine, leaves: 2, spines: 4, hosts-per-leaf: 2 }\n"
                           "qos: { default: { classes: { 3: { lossless: ") +
               lossless + " } } } }\ntraffic: [ { name: t, from: h1, to: h3, transport: uet } ]\nfaults: [ { name: l, on: \"" +
               on + "\", loss: " + loss + " } ]\nrun: { duration: 2ms, drain: 5ms, seed: " + std::to_string(seed) + " }\n");
    s.run_to_the_end();
    const report::Report r = s.report();
    EXPECT_GT(flow_report(r, "t/h1->h3").lost, 0u);
    EXPECT_EQ(sums(r).timeouts, 0u);
    return static_cast<double>(flow_report(r, "t/h1->h3").delivered_bytes);
  };
  for (const auto& [on, loss] : {std::pair{"spine*", "1%"}, std::pair{"h3:1 in", "1%"}, std::pair{"spine*", "0.1%"}})
    for (const int seed : {1, 2, 3})
      EXPECT_GT(delivered("true", on, loss, seed), 0.95 * delivered("false", on, loss, seed)) << on << loss << seed;
}

// 31 senders fill a lossless class, and are paused for most of the time: nothing is taken for lost.
TEST(Uet, PausesAreNoLosses) {
  Scenario s(
      "name: paused\ndefaults: { link: { rate: 400Gbps, delay: 500ns } }\n"
      "topology: { preset: leaf-spine, leaves: 2, spines: 4, hosts-per-leaf: 16 }\n"
      "qos: { default: { classes: { 3: { lossless: true } } } }\nhosts: { default: { uet: { congestion: none } } }\n"
      "traffic:\n  - { name: t, pattern: incast, fan-in: 31, to: h1, transport: uet, message: 1MB, outstanding: 4, "
      "bytes: 2MB }\n");
  s.run_to_the_end();
  const report::Report r = s.report();
  expect_all_verified(r, 31 * 2);
  const Sums all = sums(r);
  EXPECT_EQ(all.retransmitted + all.duplicates + all.timeouts, 0u);
}

}  // namespace
}  // namespace railyard::test
