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

}  // namespace
}  // namespace railyard::test
