// Priority-based flow control over whole paths: nothing is lost, the right ones are held back, and it ends.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/device/pause_response.h"
#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

//  h1 --- sw --- h3, whose NIC takes 5 Gb/s and pauses the switch; what h3 sends back keeps the switch's transmitter
//  towards h1 busy, so that XOFFs must wait for a longest frame.
std::vector<std::string> links(const std::string& rate, const std::string& cable) {
  return {"defaults.link.rate=" + rate, "defaults.link.cable=" + cable};
}

struct Cable {
  const char* rate;
  const char* length;
};
class Headroom : public testing::TestWithParam<Cable> {};

TEST_P(Headroom, AsComputedLosesNothingAndOneFrameLessDoesNotSuffice) {
  std::vector<std::string> sets = links(GetParam().rate, GetParam().length);
  Bytes computed{};
  {
    Scenario s = Scenario::ready("headroom", sets);
    computed = s.lab().headrooms().front().computed;
    s.run_until(5_ms);
    EXPECT_EQ(s.dropped(), 0u);
    // The formula is not merely enough: every octet of it is needed at some moment.
    EXPECT_EQ(s.at("sw:1", 3).max_headroom_cells * 256, static_cast<std::uint64_t>(computed.n));
    EXPECT_GT(s.at("sw:1", 3).xoff_sent, 10u);
    s.expect_books_balance();
  }
  const std::int64_t less = computed.n - 37 * 256 - 256;  // a frame of 9234 octets takes 37 cells; and one cell
  sets.push_back("qos.default.classes.3.headroom=" + std::to_string(less) + "B");
  Scenario s = Scenario::ready("headroom", sets);
  s.run_until(5_ms);
  EXPECT_GT(s.drops(DropReason::kHeadroomFull), 0u);
  EXPECT_EQ(s.dropped(), s.drops(DropReason::kHeadroomFull));
  s.expect_books_balance();
}

// Frames of 66 octets take a cell of 256 each: what is on its way takes nearly four times the memory, and the headroom
// of a class that may have such frames is so much larger.
TEST_P(Headroom, OfSmallFramesLosesNothing) {
  std::vector<std::string> sets = links(GetParam().rate, GetParam().length);
  const std::int64_t of_large = Scenario::ready("headroom", sets).lab().headrooms().front().computed.n;
  sets.insert(sets.end(), {"traffic.t.payload=4B", "qos.default.classes.3.min-frame-size=64B"});
  Scenario s = Scenario::ready("headroom", sets);
  const std::int64_t computed = s.lab().headrooms().front().computed.n;
  EXPECT_GT(computed, 2 * of_large);
  s.run_until(5_ms);
  EXPECT_EQ(s.dropped(), 0u);
  EXPECT_GT(s.at("sw:1", 3).xoff_sent, 10u);
  EXPECT_LE(s.at("sw:1", 3).max_headroom_cells * 256, static_cast<std::uint64_t>(computed));
  if (std::string(GetParam().length) == "300m" && std::string(GetParam().rate) != "25Gbps") {
    EXPECT_GT(s.at("sw:1", 3).max_headroom_cells * 256, static_cast<std::uint64_t>(of_large)) << "it is needed";
  }
}

INSTANTIATE_TEST_SUITE_P(RatesAndCables, Headroom,
                         testing::Values(Cable{"25Gbps", "3m"}, Cable{"25Gbps", "30m"}, Cable{"25Gbps", "300m"},
                                         Cable{"100Gbps", "3m"}, Cable{"100Gbps", "30m"}, Cable{"100Gbps", "300m"},
                                         Cable{"400Gbps", "3m"}, Cable{"400Gbps", "30m"}, Cable{"400Gbps", "300m"},
                                         Cable{"800Gbps", "3m"}, Cable{"800Gbps", "30m"}, Cable{"800Gbps", "300m"}),
                         [](const auto& c) { return std::string(c.param.rate) + "x" + c.param.length; });

//  The same from the length of the cable or from what it takes light to pass it: 5 ns a metre.
TEST(Pfc, ADelayIsACableOfThatLength) {
  Scenario cable = Scenario::ready("headroom", {"defaults.link.cable=30m"});
  Scenario delay = Scenario::ready("headroom", {"defaults.link={ rate: 100Gbps, delay: 150ns }"});
  ASSERT_EQ(cable.lab().headrooms().size(), delay.lab().headrooms().size());
  for (std::size_t i = 0; i < cable.lab().headrooms().size(); ++i)
    EXPECT_EQ(cable.lab().headrooms()[i].computed, delay.lab().headrooms()[i].computed);
  for (Scenario* s : {&cable, &delay}) s->run_until(5_ms);
  for (Scenario* s : {&cable, &delay}) {
    EXPECT_EQ(s->dropped(), 0u);
    EXPECT_EQ(s->at("sw:1", 3).max_headroom_cells * 256,
              static_cast<std::uint64_t>(cable.lab().headrooms().front().computed.n));
  }
}

TEST(Pfc, AnIncastIsHeldBackHopByHopAndNothingIsLost) {
  Scenario s = Scenario::ready("pfc-incast");
  s.run_until(1_ms);
  // The receiver's leaf pauses the spines, they pause the senders' leaf, and that the hosts.
  EXPECT_GT(s.at("leaf1:9", 3).xoff_sent + s.at("leaf1:10", 3).xoff_sent, 0u);
  EXPECT_GT(s.at("spine1:2", 3).xoff_sent + s.at("spine2:2", 3).xoff_sent, 0u);
  for (int h = 9; h <= 16; ++h) {
    const ClassCounters c = s.at("h" + std::to_string(h) + ":1", 3);
    EXPECT_GT(c.xoff_received, 0u);
    EXPECT_GT(c.paused, 100_us);
  }
  s.run_to_the_end();
  EXPECT_EQ(s.dropped(), 0u);
  std::uint64_t sent = 0;
  for (const build::Flow& f : s.lab().flows()) {
    EXPECT_EQ(f.received().packets, f.sent().packets) << f.plan.name;
    EXPECT_EQ(f.received().reordered, 0u);
    EXPECT_EQ(f.received().duplicated, 0u);
    EXPECT_EQ(f.received().corrupted, 0u);
    sent += f.sent().payload_octets;
  }
  EXPECT_GT(sent, 11'000'000u);  // the receiver's link was full for the millisecond
  s.expect_books_balance();
}

TEST(Pfc, EverybodyIsLetGoInTheEnd) {
  Scenario s = Scenario::ready("pfc-incast");
  s.run_to_the_end();
  // Every pause that was still running when traffic ended was ended by an XON: the last word to every peer.
  for (const auto& d : s.lab().fabric().devices()) {
    const DeviceCounters c = d->counters();
    EXPECT_EQ(c.queued, 0u) << c.name;
    EXPECT_EQ(c.buffer_cells, 0u) << c.name;
    for (const PortCounters& p : c.ports) {
      if (p.classes[3].xoff_sent > 0) {
        EXPECT_GT(p.classes[3].xon_sent, 0u) << c.name;
      }
    }
  }
}

TEST(Pfc, SendersGetEqualSharesOfTheReceiver) {
  Scenario s = Scenario::ready("pfc-incast", {"run.duration=4ms"});
  s.run_to_the_end();
  std::uint64_t least = ~0ull;
  std::uint64_t most = 0;
  for (const build::Flow& f : s.lab().flows()) {
    least = std::min(least, f.received().payload_octets);
    most = std::max(most, f.received().payload_octets);
  }
  EXPECT_GT(static_cast<double>(least) / static_cast<double>(most), 0.9);
}

TEST(Pfc, AClassThatIsNotCongestedIsNotHeldBack) {
  // h9 also sends 10 Gb/s in class 0 to h2, past the hot spot: same links, another class.
  Scenario victim(R"(
name: victim
switches: { default: { buffer: 16MiB } }
topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 8 }
traffic:
  - { name: incast, pattern: incast, from: [h9, h10, h11, h12, h13, h14, h15, h16], to: h1, dscp: 26 }
  - { name: victim, from: h9, to: h2, dscp: 0, rate: 10Gbps }
run: { duration: 1ms }
)");
  victim.run_to_the_end();
  const build::Flow& v = victim.flow("victim/h9->h2");
  EXPECT_NEAR(static_cast<double>(v.sent().packets), 10e9 * 1e-3 / 8 / 4178, 2);  // at its rate throughout
  EXPECT_EQ(v.received().packets, v.sent().packets);
  for (const auto& d : victim.lab().fabric().devices())
    for (const PortCounters& p : d->counters().ports) {
      EXPECT_EQ(p.classes[0].xoff_sent, 0u);
      EXPECT_EQ(p.classes[0].paused, Duration{});
    }
  EXPECT_GT(victim.at("h9:1", 3).paused, 100_us);
}

// An XOFF announces its time in quanta of 512 bit times; unrefreshed it runs out by itself, to the picosecond.
TEST(Pfc, APauseIsRefreshedBeforeItRunsOut) {
  // 1000 quanta of 5.12 ns are 5.12 us; the receiver needs far longer to drain, so XOFF must be said again and again.
  std::vector<std::string> sets = links("100Gbps", "3m");
  sets.insert(sets.end(), {"switches.default.pause-quanta=1000", "hosts.slow.pause-quanta=1000"});
  Scenario s = Scenario::ready("headroom", sets);
  s.run_until(5_ms);
  EXPECT_EQ(s.dropped(), 0u);
  const ClassCounters sender = s.at("h1:1", 3);
  // It is paused most of the time (it gets 5 of 100 Gb/s), in stretches of at most half an announced time per XOFF.
  EXPECT_GT(sender.paused, 4_ms);
  EXPECT_GT(sender.xoff_received, static_cast<std::uint64_t>(sender.paused / 5120_ns));
  EXPECT_LT(sender.xoff_received, static_cast<std::uint64_t>(sender.paused / 2000_ns));
}

// Nobody ends it: 1000 quanta of 5.12 ns, to the picosecond. With the XON it is over when that has come.
TEST(Pfc, APauseWhoseXonIsLostRunsOut) {
  Scenario s = Scenario::ready("pfc-expiry");
  s.run_to_the_end();
  EXPECT_EQ(s.at("h2:1", 3).xoff_sent, 1u);
  EXPECT_EQ(s.at("h2:1", 3).xon_sent, 1u);
  EXPECT_EQ(s.fault("no-xon").frames, 1u);
  EXPECT_EQ(s.at("leaf1:2", 3).paused, 1000 * 5'120_ps);
  EXPECT_EQ(s.dropped(), 0u);
  Scenario ended = Scenario::ready("pfc-expiry", {"faults.no-xon.at=900us"});
  ended.run_to_the_end();
  EXPECT_EQ(ended.at("leaf1:2", 3).paused, 1_us);
}

// The receiver takes 5 Gb/s of frames; while it is not paused the sender sends at line rate, 20 octets more per frame.
// So it is paused for all the time but 5 / 100 x (9230 + 20) / 9230 of it, once the buffers have filled.
TEST(Pfc, ASenderIsPausedForTheTimeThatItsReceiverNeeds) {
  Scenario s = Scenario::ready("headroom", links("100Gbps", "3m"));
  s.run_until(2_ms);
  const Duration before = s.at("h1:1", 3).paused;
  const std::uint64_t sent = s.at("h1:1", 3).tx_packets;
  s.run_until(4_ms);
  const double paused = seconds(s.at("h1:1", 3).paused - before) / 2e-3;
  EXPECT_NEAR(paused, 1 - 0.05 * (9230 + 20) / 9230, 0.02);
  const double bps = static_cast<double>(s.at("h1:1", 3).tx_packets - sent) * 9230 * 8 / 2e-3;
  EXPECT_NEAR(bps / 5e9, 1, 0.1) << "held back to what the receiver takes; 100 KB of XOFF and XON either way";
}

TEST(Pfc, MadeLossyTheSameIncastDrops) {
  Scenario s = Scenario::ready("pfc-incast", {"qos.default.classes.3.lossless=false"});
  s.run_to_the_end();
  EXPECT_GT(s.dropped(), 1000u);
  EXPECT_EQ(s.dropped(), s.drops(DropReason::kEgressFull) + s.drops(DropReason::kIngressFull));
  for (const auto& d : s.lab().fabric().devices())
    for (const PortCounters& p : d->counters().ports) EXPECT_EQ(p.tx_control, 0u);
  s.expect_books_balance();
}

}  // namespace
}  // namespace railyard::test
