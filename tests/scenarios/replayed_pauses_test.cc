// PFC frames of a capture act at the port at the other end of the NIC's link, at their times.
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/port/pcap_file.h"
#include "dataplane/wire/pfc.h"
#include "tests/scenarios/scenario.h"
#include "tests/support/temporary_file.h"

namespace railyard::test {
namespace {

using namespace literals;

constexpr Duration kQuantum = 5120_ps;  // 512 bit times at 100 Gb/s
constexpr Duration kLongest = kQuantum * 65535;

using ControlFrame = std::array<std::byte, wire::kMinFrameOctets>;

ControlFrame pfc(PriorityMask enable, std::array<std::uint16_t, kPriorities> quanta) {
  ControlFrame octets{};
  wire::write_pfc(octets, wire::MacAddress{{2, 0, 0, 0, 0, 2}}, {enable, quanta});
  return octets;
}
ControlFrame pause_3(std::uint16_t quanta) { return pfc(1 << 3, {0, 0, 0, quanta}); }

// h1 sends 10 Gb/s of class 3 to h2, which is a capture.
class ReplayedPauses : public testing::Test {
 protected:
  // The first frame of a capture is at 0: one that says nothing.
  ReplayedPauses() { add(0_us, pfc(0, {})); }

  void add(Duration at, const ControlFrame& octets) { frames_.push_back({at, {octets.begin(), octets.end()}}); }
  Scenario run(const std::vector<std::string>& sets = {}) {
    auto out = PcapWriter::open(file_.path());
    for (const auto& [at, octets] : frames_) {
      const std::span<const std::byte> piece(octets);
      out->write(Instant{} + at, {&piece, 1});
    }
    EXPECT_TRUE(out->close().has_value());
    Scenario s{R"(
name: replayed-pauses
qos: { default: { classes: { 3: { lossless: true, ecn: off } } } }
nodes:
  leaf1: { kind: switch }
  h1: { kind: host }
  h2: { kind: host, nics: [ { attach: { pcap: { in: ")" + file_.name() + R"(", times: file } } } ] }
defaults: { link: { rate: 100Gbps, cable: 3m } }
links: [ [h1:1, leaf1:1], [h2:1, leaf1:2] ]
traffic: [ { name: t, from: h1, to: h2, rate: 10Gbps, payload: 1024B } ]
run: { duration: 2ms, drain: 1ms }
)",
               sets};
    return s;
  }

  TemporaryFile file_{"pfc.pcap"};
  struct Recorded {
    Duration at;
    std::vector<std::byte> octets;
  };
  std::vector<Recorded> frames_;
};

TEST_F(ReplayedPauses, AFramePausesItsClassForItsTime) {
  add(500_us, pause_3(65535));
  Scenario s = run();
  // Sent at 500 us: 72 octets, 3 m of cable, and the switch's response, 394 quanta at 100 Gb/s (2.02 us).
  s.run_until(500_us);
  EXPECT_EQ(s.at("leaf1:2", 3).xoff_received, 0u);
  s.run_until(503_us);
  EXPECT_EQ(s.at("leaf1:2", 3).xoff_received, 1u);
  const std::uint64_t sent = s.at("leaf1:2", 3).tx_packets;
  s.run_until(837_us);
  EXPECT_EQ(s.at("leaf1:2", 3).tx_packets, sent) << "nothing while it is paused";
  s.run_to_the_end();
  EXPECT_EQ(s.at("leaf1:2", 3).paused, kLongest) << "335.5 us";
  EXPECT_EQ(s.dropped(), 0u);
  const report::AttachmentReport a = s.report().attachments.at(0);
  EXPECT_EQ(a.node, "h2");
  EXPECT_EQ(a.received, 2u);
  EXPECT_EQ(a.pfc_sent, 2u);
  EXPECT_TRUE(a.left_out.empty());
  EXPECT_EQ(a.sent, s.flow("t/h1->h2").sent().packets) << "what arrived at the capture";
}

// XOFF with several times, and XON: each replaces what stands.
TEST_F(ReplayedPauses, SequencesAndQuanta) {
  add(100_us, pause_3(100));      // 0.512 us
  add(200_us, pause_3(20'000));   // 102.4 us, ended by ...
  add(250_us, pause_3(0));        // ... XON after 50
  add(300_us, pause_3(10'000));   // 51.2 us, replaced by ...
  add(320_us, pause_3(10'000));   // ... the same from then: 71.2 us in all
  Scenario s = run();
  s.run_to_the_end();
  EXPECT_EQ(s.at("leaf1:2", 3).paused, kQuantum * 100 + 50_us + 20_us + kQuantum * 10'000);
  EXPECT_EQ(s.at("leaf1:2", 3).xoff_received, 4u);
  EXPECT_EQ(s.at("leaf1:2", 3).xon_received, 1u);
}

TEST_F(ReplayedPauses, TheEnableVectorSaysWhichTimesCount) {
  add(100_us, pfc(1 << 3, {9, 9, 9, 1000, 9, 9, 9, 9}));
  add(400_us, pfc(1 << 4 | 1 << 3, {9, 9, 9, 2000, 500, 9, 9, 9}));
  Scenario s = run({"qos.default.classes={ 3: { lossless: true }, 4: { lossless: true } }"});
  s.run_to_the_end();
  EXPECT_EQ(s.at("leaf1:2", 3).paused, kQuantum * 3000);
  EXPECT_EQ(s.at("leaf1:2", 4).paused, kQuantum * 500);
  for (const int k : {0, 1, 2, 5, 6, 7}) {
    EXPECT_EQ(s.at("leaf1:2", k).pfc_not_enabled, 0u) << k;
    EXPECT_EQ(s.at("leaf1:2", k).paused, Duration{}) << k;
  }
}

TEST_F(ReplayedPauses, OfAClassWithoutPfcTheyAreCountedAndIgnored) {
  add(100_us, pfc(1 << 0 | 1 << 3, {1000, 0, 0, 1000}));
  Scenario s = run();
  s.run_to_the_end();
  EXPECT_EQ(s.at("leaf1:2", 0).pfc_not_enabled, 1u);
  EXPECT_EQ(s.at("leaf1:2", 0).paused, Duration{});
  EXPECT_EQ(s.at("leaf1:2", 3).paused, kQuantum * 1000);
}

// What no port obeys, what is no frame, and what has not left when the run ends: by why.
TEST_F(ReplayedPauses, WhatIsLeftOutIsReported) {
  ControlFrame global = pause_3(0);
  wire::write<wire::MacControl::Opcode>(global.data() + wire::Ethernet::kOctets, wire::mac_control_opcode::kPause);
  add(100_us, global);
  frames_.push_back({200_us, std::vector<std::byte>(10)});
  add(300_us, pause_3(1000));
  add(9_s, pause_3(1000));
  Scenario s = run();
  s.run_until(3_ms);
  EXPECT_EQ(s.at("leaf1:2", 3).paused, kQuantum * 1000);
  EXPECT_EQ(s.port("leaf1:2").rx_control, 2u);
  report::Report r = s.report();
  const std::map<std::string, std::uint64_t> expected{{"malformed", 1}, {"not_pfc", 1}, {"run_ended", 1}};
  EXPECT_EQ(r.attachments.at(0).left_out, expected);
  EXPECT_NE(r.text().find("2 PFC frames replayed; left out: malformed 1, not_pfc 1, run_ended 1"), std::string::npos);
  EXPECT_NE(r.json().find("\"not_pfc\": 1"), std::string::npos);
}

// The link is down: they are lost like everything else, and the books balance.
TEST_F(ReplayedPauses, WhileTheLinkIsDownNothingArrives) {
  add(500_us, pause_3(65535));
  Scenario s = run({"faults=[{ name: cut, on: h2, at: 400us, for: 200us, down: true }]"});
  s.run_to_the_end();
  EXPECT_EQ(s.at("leaf1:2", 3).paused, Duration{});
  s.expect_books_balance();
}

}  // namespace
}  // namespace railyard::test
