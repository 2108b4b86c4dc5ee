#include "dataplane/switch/path/quality_reporter.h"

#include <gtest/gtest.h>

#include "tests/support/instant.h"

namespace railyard {
namespace {

using namespace literals;
using wire::QualityReport;

// Ports 0 and 1 of four listen; reports every 10 us, bands of 1 us. What is released is taken at once.
class QualityReporterTest : public ::testing::Test {
 protected:
  QualityReporterTest() {
    reporter.set(QualityReportConfig{}, {true, true, false, false});
    for (std::uint16_t p = 0; p < 4; ++p) {
      reporter.set_rate(PortIndex{p}, 100_Gbps, {});
      loads[p].cell_time_ns8 = 256;  // 1 ns
    }
  }
  // `port` has so much to send from `now` on. Returns what is reported, by port 0.
  std::vector<QualityReport> load(Duration now, std::uint16_t port, std::uint32_t ns) {
    loads[port].cells = ns;
    return changed(now, port);
  }
  std::vector<QualityReport> link(Duration now, std::uint16_t port, bool up) {
    loads[port].up = up;
    return changed(now, port);
  }
  std::vector<QualityReport> changed(Duration now, std::uint16_t port) {
    if (!reporter.differs(PortIndex{port}, loads[port])) return {};
    reporter.changed(at(now), loads);
    return collect(now);
  }
  std::vector<QualityReport> time(Duration now) {
    reporter.on_time(at(now), loads);
    return collect(now);
  }
  std::vector<QualityReport> collect(Duration now) {
    std::vector<QualityReport> by_port_0;
    told = 0;
    reporter.release(at(now), [&](PortIndex port) {
      ++told;
      const QualityReport r = reporter.take(at(now), port);
      if (port.value == 0) by_port_0.push_back(r);
    });
    return by_port_0;
  }
  static std::vector<int> bands(const QualityReport& r) { return {r.bands.begin(), r.bands.begin() + r.ports}; }

  QualityReporter reporter{4};
  std::array<PortLoad, 4> loads;
  int told = 0;
};

using Bands = std::vector<int>;

TEST_F(QualityReporterTest, AChangeOfBandIsReportedAtOnceToWhoListens) {
  EXPECT_TRUE(load(1_us, 2, 900).empty()) << "the same band";
  const auto said = load(2_us, 2, 1500);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(told, 2);
  EXPECT_EQ(bands(said[0]), (Bands{0, 0, 1, 0}));
  EXPECT_EQ(said[0].first_port, 0);
  EXPECT_EQ(said[0].band_end_ns, 1000u);
  EXPECT_EQ(said[0].lifetime_us, 160);
}

TEST_F(QualityReporterTest, TheNextOneWaitsForTheIntervalAndSaysHowItIsThen) {
  load(2_us, 2, 1500);
  EXPECT_TRUE(load(3_us, 2, 5000).empty());
  EXPECT_TRUE(load(4_us, 3, 9000).empty());
  EXPECT_EQ(reporter.due(), at(12_us));
  EXPECT_TRUE(load(5_us, 2, 2500).empty());
  const auto said = time(12_us);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(bands(said[0]), (Bands{0, 0, 2, 4}));
}

TEST_F(QualityReporterTest, WhatIsAsItWasSaidIsNotReported) {
  load(2_us, 2, 1500);
  EXPECT_EQ(load(12_us, 2, 0).size(), 1u);
  load(13_us, 2, 5000);
  load(14_us, 2, 0);
  EXPECT_EQ(reporter.due(), at(22_us));
  EXPECT_TRUE(time(22_us).empty());
  EXPECT_EQ(reporter.due(), Instant::never());
}

TEST_F(QualityReporterTest, AQueueIsSaidAgainUntilItIsGone) {
  load(2_us, 2, 1500);
  EXPECT_EQ(time(12_us).size(), 1u);
  EXPECT_EQ(time(22_us).size(), 1u);
  EXPECT_EQ(reporter.due(), at(32_us));
  EXPECT_TRUE(load(30_us, 2, 0).empty());
  const auto said = time(32_us);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(bands(said[0]), (Bands{0, 0, 0, 0}));
  EXPECT_EQ(reporter.due(), Instant::never()) << "all is well: silence";
}

TEST_F(QualityReporterTest, ALinkThatWentDownIsSaidThreeTimesMore) {
  auto said = link(2_us, 3, false);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(bands(said[0]), (Bands{0, 0, 0, 15}));
  for (const Duration t : {82_us, 162_us, 242_us}) {
    EXPECT_EQ(reporter.due(), at(t));
    EXPECT_EQ(time(t).size(), 1u);
  }
  EXPECT_EQ(reporter.due(), Instant::never()) << "a link may be down for ever";
  EXPECT_EQ(link(300_us, 3, true).size(), 1u);
  EXPECT_EQ(reporter.due(), at(380_us));
}

// 64 octets, preamble and gap take 672 ns at 1 Gb/s, of which a fiftieth is 33.6 us.
TEST_F(QualityReporterTest, ASlowLinkCarriesFewerReports) {
  reporter.set_rate(PortIndex{0}, 1_Gbps, {});
  EXPECT_EQ(load(2_us, 2, 1500).size(), 1u);
  EXPECT_TRUE(load(12_us, 2, 2500).empty());
  EXPECT_EQ(told, 1) << "the other listener is told";
  for (const Duration t : {22_us, 32_us}) {
    EXPECT_EQ(reporter.due(), at(t));
    EXPECT_TRUE(time(t).empty());
    EXPECT_EQ(told, 1);
  }
  EXPECT_EQ(reporter.due(), at(2_us + 33'600_ns));
  EXPECT_EQ(time(2_us + 33'600_ns).size(), 1u);
}

TEST_F(QualityReporterTest, AListenerWhoseLinkComesUpIsToldWhatIs) {
  reporter.link_down(PortIndex{0});
  EXPECT_TRUE(load(2_us, 2, 1500).empty());
  EXPECT_EQ(told, 1);
  reporter.link_up(PortIndex{0});
  const auto said = collect(5_us);
  EXPECT_EQ(told, 1);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(bands(said[0]), (Bands{0, 0, 1, 0}));
  load(20_us, 2, 0);
  reporter.link_down(PortIndex{0});
  reporter.link_up(PortIndex{0});
  EXPECT_TRUE(collect(30_us).empty()) << "there is nothing to say";
}

TEST_F(QualityReporterTest, MorePortsThanOneReportHasRoomForAreSaidInTurn) {
  reporter = QualityReporter(100);
  std::vector<bool> listens(100, false);
  listens[0] = true;
  reporter.set(QualityReportConfig{}, listens);
  std::vector<PortLoad> many(100);
  many[99] = {.cells = 3000, .cell_time_ns8 = 256};
  reporter.set_rate(PortIndex{0}, 100_Gbps, {});
  ASSERT_TRUE(reporter.changed(at(1_us), many));
  std::vector<QualityReport> said;
  const auto take = [&](Duration now) {
    reporter.release(at(now), [&](PortIndex port) { said.push_back(reporter.take(at(now), port)); });
  };
  take(1_us);
  EXPECT_EQ(reporter.due(), at(1_us + 336_ns));
  take(1_us + 336_ns);
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0].first_port, 0);
  EXPECT_EQ(said[0].ports, 68);
  EXPECT_EQ(said[1].first_port, 68);
  EXPECT_EQ(said[1].ports, 32);
  EXPECT_EQ(said[1].bands[31], 2);
}

TEST_F(QualityReporterTest, WithoutListenersItIsOff) {
  reporter.set(QualityReportConfig{}, {false, false, false, false});
  EXPECT_FALSE(reporter.on());
  reporter.set(std::nullopt, {true, true, false, false});
  EXPECT_FALSE(reporter.on());
}

TEST(QualityReportConfig, WhatCannotBeIsSaid) {
  EXPECT_TRUE(validate(QualityReportConfig{}, "x"));
  EXPECT_EQ(validate(QualityReportConfig{.every = Duration{}}, "x").error(), "x: every is 0; expected more than 0");
  EXPECT_EQ(validate(QualityReportConfig{.band = Duration{-1}}, "x").error(), "x: a band is 0; expected more than 0");
}

}  // namespace
}  // namespace railyard
