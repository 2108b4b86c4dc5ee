#include "dataplane/switch/path/remote_quality.h"

#include <map>
#include <set>

#include <gtest/gtest.h>

#include "dataplane/switch/path/port_load.h"
#include "dataplane/switch/path/selector.h"
#include "tests/support/frames.h"

namespace railyard {
namespace {

using namespace literals;
using wire::QualityReport;

// A leaf with uplinks 1, 2 and 3. Hosts behind 10.0.<n>.0/24, n = 1..4, are reached
//   by the switch at 1 through its port n,
//   by the one at 2 through its ports 10 + n and 20 + n, or for n = 4 not at all,
//   by the one at 3, which is none of ours.
class RemoteQualityTest : public ::testing::Test {
 protected:
  RemoteQualityTest() {
    std::vector<wire::IpPrefix> prefixes;
    std::vector<Route> own, one, two;
    for (std::uint16_t n = 1; n <= 4; ++n) {
      const auto prefix = test::prefix(fmt_prefix(n).c_str());
      prefixes.push_back(prefix);
      own.push_back({prefix, {PortIndex{1}, PortIndex{2}, PortIndex{3}}});
      one.push_back({prefix, {PortIndex{n}}});
      if (n < 4)
        two.push_back({prefix,
                       {PortIndex{static_cast<std::uint16_t>(10 + n)}, PortIndex{static_cast<std::uint16_t>(20 + n)}}});
    }
    fecs = FecTable(prefixes);
    table = ForwardingTable(fecs, own);
    beyond.resize(4);
    beyond[1] = std::make_shared<const ForwardingTable>(fecs, one);
    beyond[2] = std::make_shared<const ForwardingTable>(fecs, two);
    remote.set_tables(table, fecs.size(), beyond);
  }
  static std::string fmt_prefix(int n) { return "10.0." + std::to_string(n) + ".0/24"; }
  Fec fec(int n) const { return fecs.lookup(test::ip(("10.0." + std::to_string(n) + ".1").c_str())); }

  static QualityReport report(std::uint16_t first, std::vector<std::uint8_t> bands) {
    QualityReport r{.first_port = first, .ports = static_cast<std::uint8_t>(bands.size()), .lifetime_us = 65535,
                    .band_end_ns = 1000, .bands = {}};
    std::ranges::copy(bands, r.bands.begin());
    return r;
  }
  // Of member `i` of the group that leads to destination `n`, in bands of 1 us.
  std::uint32_t band(int n, std::size_t i, Duration now = {}) const {
    return QualityBands(1_us, 15).grade(RemoteQuality::drain(remote.to(fec(n))[i], Instant{} + now));
  }
  void hear(std::uint16_t port, const QualityReport& r) { remote.hear(Instant{}, Instant{}, PortIndex{port}, r); }

  FecTable fecs;
  ForwardingTable table;
  std::vector<std::shared_ptr<const ForwardingTable>> beyond;
  RemoteQuality remote;
};

TEST_F(RemoteQualityTest, NothingHeardIsNothingWrong) {
  for (int n = 1; n <= 4; ++n)
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(band(n, i), 0u);
  EXPECT_TRUE(remote.listens(PortIndex{1}));
  EXPECT_TRUE(remote.listens(PortIndex{2}));
  EXPECT_FALSE(remote.listens(PortIndex{3}));
}

TEST_F(RemoteQualityTest, ABandCountsForTheDestinationsBehindItsPortOnly) {
  hear(1, report(0, {9, 5, 0, 14, 1}));
  for (int n = 1; n <= 4; ++n) {
    EXPECT_EQ(band(n, 0), (std::array{0u, 5u, 0u, 14u, 1u}[static_cast<std::size_t>(n)])) << n;
    EXPECT_EQ(band(n, 1), 0u);
    EXPECT_EQ(band(n, 2), 0u);
  }
}

// The switch itself will take the better of its two ports.
TEST_F(RemoteQualityTest, OfSeveralPortsTheBestCounts) {
  hear(2, report(11, {4, 4, 4}));
  EXPECT_EQ(band(1, 1), 0u);
  hear(2, report(21, {6, 2, 0}));
  EXPECT_EQ(band(1, 1), 4u);
  EXPECT_EQ(band(2, 1), 2u);
  EXPECT_EQ(band(3, 1), 0u);
}

TEST_F(RemoteQualityTest, AGroupWithoutALinkIsNoWay) {
  hear(2, report(11, {15, 15, 0}));
  EXPECT_NE(remote.to(fec(1))[1], RemoteQuality::kNoWay) << "the other port has one";
  hear(2, report(21, {15, 3, 0}));
  EXPECT_EQ(remote.to(fec(1))[1], RemoteQuality::kNoWay);
  EXPECT_EQ(band(2, 1), 3u);
}

TEST_F(RemoteQualityTest, PortsThatLeadNowhereAreIgnored) {
  hear(1, report(200, {14, 14}));
  hear(2, report(65535, {14, 14}));
  hear(2, report(24, std::vector<std::uint8_t>(68, 14)));
  for (int n = 1; n <= 4; ++n)
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(band(n, i), 0u);
}

// Band 4 is 8 to 16 us: 12, in the middle.
TEST_F(RemoteQualityTest, WhatWasReportedDrainsFromTheInstantAtWhichItWasSaid) {
  remote.hear(Instant{} + 7_us, Instant{} + 5_us, PortIndex{1}, report(1, {4, 15}));
  EXPECT_EQ(band(1, 0, 7_us), 4u);
  EXPECT_EQ(band(1, 0, 10_us), 3u);
  EXPECT_EQ(band(1, 0, 14_us), 2u);
  EXPECT_EQ(band(1, 0, 15_us + 500_ns), 1u);
  EXPECT_EQ(band(1, 0, 17_us), 0u);
  EXPECT_EQ(remote.to(fec(2))[0], RemoteQuality::kNoWay) << "but a link that is down";
  remote.hear(Instant{} + 12_us, Instant{} + 10_us, PortIndex{1}, report(1, {4, 15}));
  EXPECT_EQ(band(1, 0, 14_us), 4u) << "said again";
}

TEST_F(RemoteQualityTest, NoQueueIsBelievedInForLongerThanItsLifetime) {
  QualityReport r = report(1, {14});
  r.lifetime_us = 100;
  remote.hear(Instant{} + 7_us, Instant{} + 5_us, PortIndex{1}, r);
  EXPECT_GE(band(1, 0, 105_us), 1u);
  EXPECT_EQ(band(1, 0, 107_us), 0u);
}

TEST_F(RemoteQualityTest, WhatWasHeardGoesWithTheLink) {
  hear(1, report(1, {7, 15}));
  hear(2, report(11, {5}));
  hear(2, report(21, {5}));
  EXPECT_TRUE(remote.believes(PortIndex{1}));
  remote.forget(PortIndex{1});
  EXPECT_FALSE(remote.believes(PortIndex{1}));
  EXPECT_EQ(band(1, 0), 0u);
  EXPECT_EQ(band(2, 0), 0u);
  EXPECT_EQ(band(1, 1), 5u);
  remote.forget(PortIndex{3});
}

TEST_F(RemoteQualityTest, WithBandsOfAnotherSizeTheTimeCounts) {
  QualityReport r = report(1, {3});
  r.band_end_ns = 500;
  hear(1, r);
  EXPECT_EQ(band(1, 0), 2u) << "2 to 4 times 500 ns";
  r.band_end_ns = 0xFFFF'FFFF;
  r.bands[0] = QualityReport::kWorstBand;
  hear(1, r);
  EXPECT_NE(remote.to(fec(1))[0], RemoteQuality::kNoWay) << "long, but a way";
}

// ---- What is made of it --------------------------------------------------------------------------------------------

class GlobalChoice : public RemoteQualityTest {
 protected:
  GlobalChoice() {
    PathSelectorConfig config;
    config.by_class[1].policy = PathPolicy::kAdaptive;
    config.by_class[2] = {.policy = PathPolicy::kAdaptive, .global = true};
    config.by_class[3] = {.policy = PathPolicy::kAdaptive, .per_flowlet = true, .gap = 10_us, .global = true};
    selector = PathSelector(config, Seed{1}, "sw", 4, 256_B);
    selector.set_table(table);
    selector.set_beyond(fecs.size(), beyond);
    for (std::uint16_t p = 0; p < 4; ++p) selector.set_rate(PortIndex{p}, 100_Gbps);
  }
  void hear(std::uint16_t port, const QualityReport& r) {
    selector.remote().hear(Instant{}, Instant{}, PortIndex{port}, r);
  }
  // The ports of 300 packets to destination `n`, each of a flow of its own.
  std::set<int> chosen(int n, std::uint8_t k) {
    std::set<int> ports;
    for (std::uint32_t i = 0; i < 300; ++i) {
      Packet p{};
      p.fec = fec(n);
      p.transport_hash = i;
      const NextHops& hops = table.lookup(p.fec);
      ports.insert(table.member(hops, selector.choose_now(Instant{}, hops, p, PortIndex{0}, Priority{k})).value);
    }
    return ports;
  }
  PathSelector selector;
};

using Ports = std::set<int>;

TEST_F(GlobalChoice, TheWorseOfTheTwoHopsCounts) {
  hear(1, report(1, {3, 0}));
  EXPECT_EQ(chosen(1, 2), (Ports{2, 3}));
  EXPECT_EQ(chosen(2, 2), (Ports{1, 2, 3})) << "another destination";
  EXPECT_EQ(chosen(1, 1), (Ports{1, 2, 3})) << "a class that does not ask";
  EXPECT_EQ(chosen(1, 3), (Ports{2, 3})) << "per flowlet";
  selector.set_load(PortIndex{2}, 2000);  // 41 us: band 6
  EXPECT_EQ(chosen(1, 2), Ports{3});
  selector.set_load(PortIndex{3}, 2000);
  EXPECT_EQ(chosen(1, 2), Ports{1}) << "band 3 is the best there is";
}

TEST_F(GlobalChoice, ADeadEndIsTakenIfThereIsNothingElse) {
  hear(1, report(1, {15}));
  hear(2, report(11, {15}));
  hear(2, report(21, {15}));
  selector.set_load(PortIndex{3}, 1'000'000);
  EXPECT_EQ(chosen(1, 2), Ports{3}) << "any queue is better";
  selector.set_up(PortIndex{3}, false);
  EXPECT_EQ(chosen(1, 2), (Ports{1, 2})) << "and it is better than a link that is down here";
}

}  // namespace
}  // namespace railyard
