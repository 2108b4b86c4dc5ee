// Global load balancing at one switch: the reports that it sends, and what it does about those that it gets.
#include <memory>
#include <string>
#include <vector>

#include "dataplane/device/control_frame.h"
#include "dataplane/wire/quality_report.h"
#include "tests/dataplane/switch/switch_rig.h"

namespace railyard {
namespace {

using wire::QualityReport;

constexpr Duration kEvery = 5_us;

// ---- Reporting -----------------------------------------------------------------------------------------------------

// What has been reported by a port, and when.
struct Said {
  Instant start;
  QualityReport report;
};
std::vector<Said> reports_of(SwitchRig& rig, PortIndex by) {
  std::vector<Said> said;
  for (const Sent& s : rig.wire.sent_control(by)) {
    const auto report = wire::parse_quality_report(s.octets);
    EXPECT_TRUE(report.has_value());
    if (report) said.push_back({s.start, *report});
  }
  return said;
}

// The peer of port 0 listens.
SwitchConfig reporting() {
  SwitchConfig c = switch_config(3);
  c.reports = QualityReportConfig{.every = kEvery, .band = 1_us};
  c.ports[0].quality.is_told = true;
  return c;
}

class SwitchReports : public ::testing::Test {
 protected:
  // So many frames at line rate from each of the ports 0 and 2 to port 1, whose queue grows by one in each slot.
  void fill(Duration start, int frames) {
    for (int i = 0; i < frames; ++i)
      for (const PortIndex in : {kIn, kOther})
        rig.send(in, start + kSlot * i, {.destination = host(kOut), .frame_octets = 1000});
  }
  SwitchRig rig{reporting()};
};

// Four cells a frame, 20.48 ns each: the thirteenth frame that waits, of 12 slots, makes it more than 1 us.
TEST_F(SwitchReports, AQueueThatGrowsIsReportedWhenItsBandChanges) {
  fill(1_us, 100);
  rig.run(5_us);
  const auto said = reports_of(rig, kIn);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_GT(said[0].start, at(1_us + kEffect + kSlot * 10));
  EXPECT_LT(said[0].start, at(1_us + kEffect + kSlot * 15));
  EXPECT_EQ(said[0].report.ports, 3);
  EXPECT_EQ(said[0].report.bands[0], 0);
  EXPECT_EQ(said[0].report.bands[1], 1);
  EXPECT_EQ(said[0].report.bands[2], 0);
  EXPECT_TRUE(reports_of(rig, kOther).empty()) << "who does not listen is not told";
}

TEST_F(SwitchReports, ReportsKeepTheirDistanceAndEndWithAllWell) {
  fill(1_us, 200);
  rig.run(1_ms);
  const auto said = reports_of(rig, kIn);
  ASSERT_GE(said.size(), 4u);
  std::uint8_t worst = 0;
  for (std::size_t i = 0; i < said.size(); ++i) {
    if (i > 0) {
      EXPECT_GE(said[i].start - said[i - 1].start, kEvery);
    }
    worst = std::max(worst, said[i].report.bands[1]);
  }
  EXPECT_EQ(worst, 5) << "200 frames wait for 16.3 us";
  EXPECT_EQ(said.back().report.bands[1], 0);
  EXPECT_LT(said.back().start, at(1_us + kSlot * 400 + kEffect + kEvery)) << "then there is silence";
  const DeviceCounters c = rig.sw.counters();
  EXPECT_EQ(c.ports[0].quality_reports_sent, said.size());
  EXPECT_EQ(c.ports[0].tx_control, said.size());
  EXPECT_EQ(c.ports[0].tx_packets(), 0u) << "not among the frames of a class";
  EXPECT_EQ(c.generated, said.size());
}

TEST_F(SwitchReports, TheWireIsTakenForSixtyFourOctets) {
  fill(1_us, 100);
  // The other way there is something to send all the time.
  for (int i = 0; i < 60; ++i) rig.send(kOut, 1_us + kSlot * i, {.destination = host(kIn), .frame_octets = 1000});
  rig.run(1_ms);
  const auto sent = rig.wire.sent(kIn);
  bool seen = false;
  for (std::size_t i = 1; i + 1 < sent.size(); ++i) {
    if (!sent[i].control()) continue;
    seen = true;
    EXPECT_EQ(sent[i].packet.frame_octets, 64u);
    EXPECT_EQ(sent[i].effect, sent[i].start + 5'760_ps) << "from its tail";
    EXPECT_GE(sent[i + 1].start, sent[i].start + 6'720_ps);
  }
  EXPECT_TRUE(seen);
}

TEST_F(SwitchReports, ALinkThatGoesDownIsReported) {
  rig.sw.link_down_at(at(3_us), kOut);
  rig.run(1_ms);
  const auto said = reports_of(rig, kIn);
  ASSERT_EQ(said.size(), 4u) << "once, and three times more";
  EXPECT_EQ(said[0].start, at(3_us));
  for (const Said& s : said) EXPECT_EQ(s.report.bands[1], QualityReport::kNoLink);
  EXPECT_EQ(rig.sw.next(), Instant::never()) << "and then the switch rests";
}

TEST_F(SwitchReports, AListenerThatComesBackIsToldAnew) {
  rig.sw.link_down_at(at(2_us), kIn);
  rig.sw.link_down_at(at(3_us), kOut);
  rig.run(50_us);
  EXPECT_TRUE(reports_of(rig, kIn).empty());
  rig.sw.link_up_at(at(60_us), kIn);
  rig.run(61_us);
  const auto said = reports_of(rig, kIn);
  ASSERT_GE(said.size(), 1u);
  EXPECT_EQ(said[0].start, at(60_us));
  EXPECT_EQ(said.back().report.bands[1], QualityReport::kNoLink);
}

TEST_F(SwitchReports, TheyCanBeTurnedOnAndOffWhileTheQueueStands) {
  const auto reports = [&](Duration when, bool on) {
    rig.sw.change_at(at(when), [&, on](Instant now) {
      SwitchSettings s;
      for (const SwitchPortConfig& p : rig.sw.config().ports)
        s.ports.push_back({p.classes, {}, {on && &p == &rig.sw.config().ports[0], nullptr}});
      s.paths = rig.sw.config().paths;
      if (on) s.reports = QualityReportConfig{.every = kEvery, .band = 1_us};
      rig.sw.apply(now, s);
    });
  };
  reports(1_us, false);
  reports(8_us, true);
  reports(12_us, false);
  fill(1_us, 100);
  rig.run(1_ms);
  const auto said = reports_of(rig, kIn);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].start, at(8_us));
  EXPECT_EQ(said[0].report.bands[1], 3) << "some 80 frames: 4 to 8 us";
}

// ---- Hearing -------------------------------------------------------------------------------------------------------

// 10.9.0.0/24 is behind ports 1 and 2 alike; the switch at each goes on to it by its port 5.
SwitchConfig listening() {
  SwitchConfig c = switch_config(3);
  std::vector<wire::IpPrefix> prefixes;
  c.routes.push_back({test::prefix("10.9.0.0/24"), {kOut, kOther}});
  for (const Route& r : c.routes) prefixes.push_back(r.prefix);
  c.fecs = std::make_shared<const FecTable>(prefixes);
  const std::vector<Route> there{{test::prefix("10.9.0.0/24"), {port(5)}}};
  const auto beyond = std::make_shared<const ForwardingTable>(*c.fecs, there);
  for (const PortIndex p : {kOut, kOther}) c.ports[p.index()].quality.beyond = beyond;
  for (PathConfig& path : c.paths.by_class) path = {.policy = PathPolicy::kAdaptive, .global = true};
  return c;
}

class SwitchListens : public ::testing::Test {
 protected:
  // The peer of `in` reports its port 5 in `band`.
  Instant report(PortIndex in, Duration start, std::uint8_t band) {
    QualityReport r{.first_port = 5, .ports = 1, .lifetime_us = 100, .band_end_ns = 1000, .bands = {band}};
    return send(in, start, r);
  }
  Instant send(PortIndex in, Duration start, const QualityReport& r, std::uint8_t flags = 0) {
    Packet* const frame = make_control_frame(rig.wire.pool());
    wire::write_quality_report(control_octets(*frame), peer_of(in), r);
    frame->flags |= flags;
    return rig.wire.send_control(in, at(start), frame);
  }
  void data(Duration start, int frames) {
    for (int i = 0; i < frames; ++i)
      rig.send(kIn, start + 2 * kSlot * i, {.destination = test::ip("10.9.0.1"), .frame_octets = 1000});
  }
  std::size_t sent(PortIndex by) { return rig.wire.sent_data(by).size(); }
  std::uint64_t dropped(PortIndex at_port, DropReason reason) const {
    return rig.sw.counters().ports[at_port.index()].drops[static_cast<std::size_t>(reason)];
  }
  SwitchRig rig{listening()};
};

TEST_F(SwitchListens, APathThatIsWorseBehindTheNextSwitchIsAvoided) {
  const Instant effect = report(kOut, 1_us, 6);
  EXPECT_EQ(effect, at(1_us + kPfcEffect)) << "as any MAC control frame";
  data(10_us, 100);
  rig.run(50_us);
  EXPECT_EQ(sent(kOut), 0u);
  EXPECT_EQ(sent(kOther), 100u);
  const DeviceCounters c = rig.sw.counters();
  EXPECT_EQ(c.ports[1].quality_reports_received, 1u);
  EXPECT_EQ(c.ports[1].rx_control, 1u);
  EXPECT_EQ(c.consumed, 1u);
}

// 16 to 32 us, that is 24, from when it was said; its last 4 us are in the best band again.
TEST_F(SwitchListens, WhatIsHeardIsTakenToDrain) {
  report(kOut, 1_us, 5);
  data(10_us, 150);
  rig.run(21_us);
  EXPECT_EQ(sent(kOut), 0u);
  rig.run(50_us);
  EXPECT_GT(sent(kOut), 25u) << "of 80";
}

TEST_F(SwitchListens, WhatIsHeardIsForgottenWithTheLink) {
  report(kOut, 1_us, 7);
  rig.sw.link_down_at(at(10_us), kOut);
  rig.sw.link_up_at(at(11_us), kOut);
  data(12_us, 100);
  rig.run(50_us);
  EXPECT_GT(sent(kOut), 30u);
}

// It had arrived before the link went down, and takes effect after that.
TEST_F(SwitchListens, WhatIsHeardOfANeighbourThatIsGoneCountsForNothing) {
  const Instant effect = report(kOut, 1_us, 7);
  rig.sw.link_down_at(effect - 100_ns, kOut);
  rig.run(effect - Instant{} + 1_us);
  EXPECT_EQ(rig.sw.counters().ports[1].quality_reports_received, 1u);
  EXPECT_TRUE(rig.sw.audit().empty());
  rig.sw.link_up_at(at(11_us), kOut);
  data(12_us, 100);
  rig.run(50_us);
  EXPECT_GT(sent(kOut), 30u);
}

TEST_F(SwitchListens, AnotherReportTakesThePlaceOfTheFirst) {
  report(kOut, 1_us, 7);
  report(kOther, 1_us, 6);
  report(kOut, 2_us, 0);
  data(10_us, 100);
  rig.run(50_us);
  EXPECT_EQ(sent(kOut), 100u);
}

TEST_F(SwitchListens, WhatIsNoReportIsDroppedWithItsReason) {
  const QualityReport good{.first_port = 5, .ports = 1, .lifetime_us = 100, .band_end_ns = 1000, .bands = {9}};
  send(kOut, 1_us, good, Packet::kFcsBad);
  {
    Packet* const frame = make_control_frame(rig.wire.pool());
    wire::write_quality_report(control_octets(*frame), peer_of(kOut), good);
    wire::write<wire::QualityReportHeader::Ports>(frame->header() + wire::Ethernet::kOctets, 69);
    rig.wire.send_control(kOut, at(2_us), frame);
  }
  {
    Packet* const frame = make_control_frame(rig.wire.pool());
    wire::write_quality_report(control_octets(*frame), peer_of(kOut), good);
    wire::write<wire::QualityReportHeader::Version>(frame->header() + wire::Ethernet::kOctets, 9);
    rig.wire.send_control(kOut, at(3_us), frame);
  }
  data(10_us, 100);
  rig.run(50_us);
  EXPECT_GT(sent(kOut), 30u) << "nobody believed them";
  EXPECT_EQ(dropped(kOut, DropReason::kFcsError), 1u);
  EXPECT_EQ(dropped(kOut, DropReason::kBadLength), 1u);
  EXPECT_EQ(dropped(kOut, DropReason::kBadVersion), 1u);
  EXPECT_EQ(rig.sw.counters().ports[1].quality_reports_received, 0u);
}

TEST_F(SwitchListens, AReportThatNobodyAskedForChangesNothing) {
  report(kIn, 1_us, 9);
  data(10_us, 100);
  rig.run(50_us);
  EXPECT_GT(sent(kOut), 30u);
  EXPECT_GT(rig.sw.counters().ports[0].quality_reports_received, 0u);
}

}  // namespace
}  // namespace railyard
