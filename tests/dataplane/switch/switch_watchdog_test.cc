// A switch whose peer pauses it without end, and its PFC watchdog.
#include <gtest/gtest.h>

#include "tests/dataplane/switch/switch_rig.h"

namespace railyard {
namespace {

using Action = PfcWatchdogConfig::Action;

// Class 3 is lossless with XOFF at 20 cells; polls every 10 us, detection after 30 us, restoration after 20 us.
class SwitchWatchdog : public ::testing::Test {
 protected:
  static SwitchConfig config(Action action) {
    SwitchConfig c = switch_config(3);
    for (SwitchPortConfig& p : c.ports)
      p.classes[3].buffer = {.lossless = true, .xoff = {20 * 256}, .headroom = {400 * 256}, .xon_offset = {8 * 256}};
    c.pfc_watchdog = PfcWatchdogConfig{.detect = 30_us, .restore = 20_us, .poll = 10_us, .action = action};
    return c;
  }
  void send(Duration start, int frames, PortIndex in = kIn, PortIndex to = kOut) {
    for (int i = 0; i < frames; ++i)
      rig->send(in, start + 81'600_ps * i, {.destination = host(to), .dscp = 26, .frame_octets = 1000});
  }
  // kOut's peer has class 3 paused from `from` to `until`, by frames every 20 us.
  void storm(Duration from, Duration until) {
    for (Duration t = from; t < until; t += 20_us)
      rig->wire.send_pfc(kOut, at(t - kPfcEffect), 1 << 3, {0, 0, 0, 0xFFFF});
    rig->wire.send_pfc(kOut, at(until - kPfcEffect), 1 << 3, {});
  }
  void begin(Action action) { rig.emplace(config(action)); }
  ClassCounters out() { return rig->count(kOut, cls(3)); }

  std::optional<SwitchRig> rig;
};

// Paused at 5 us, with frames behind it from 6 us on. The poll at 10 us sees 5 us of pause, those at 20, 30, 40 us ten
// each: a storm at 40 us.
TEST_F(SwitchWatchdog, DropsWhatWaitsAndWhatComesUntilItIsOver) {
  begin(Action::kDrop);
  storm(5_us, 205_us);
  send(6_us, 10);
  rig->run(at(40_us) - Instant{});
  EXPECT_EQ(out().storms_detected, 0u);
  EXPECT_EQ(rig->drops(DropReason::kPfcWatchdog), 0u);
  EXPECT_GT(rig->count(kIn, cls(3)).xoff_sent, 0u);
  EXPECT_EQ(rig->count(kIn, cls(3)).xon_sent, 0u);
  rig->run(41_us);
  EXPECT_EQ(out().storms_detected, 1u);
  EXPECT_EQ(rig->drops(kOut, cls(3), DropReason::kPfcWatchdog), 10u);
  EXPECT_EQ(rig->count(kIn, cls(3)).xon_sent, 1u) << "its peer may send again";

  send(50_us, 5);             // to enter the queue
  send(60_us, 3, kOut, kIn);  // in by the port, in the class
  rig->run(200_us);
  EXPECT_EQ(rig->drops(kOut, cls(3), DropReason::kPfcWatchdog), 18u);
  EXPECT_EQ(out().storms_detected, 1u) << "a steady storm is one";
  EXPECT_EQ(out().storms_restored, 0u);
  EXPECT_TRUE(rig->wire.sent_data(kIn).empty());

  // Let go at 205 us. The poll at 210 us sees 5 us of pause, 220 and 230 us none: over.
  rig->run(230_us);
  EXPECT_EQ(out().storms_restored, 0u);
  rig->run(231_us);
  EXPECT_EQ(out().storms_restored, 1u);
  send(240_us, 5);
  send(250_us, 3, kOut, kIn);
  rig->run(300_us);
  EXPECT_EQ(rig->wire.sent_data(kOut).size(), 5u);
  EXPECT_EQ(rig->wire.sent_data(kIn).size(), 3u);
  EXPECT_EQ(rig->drops(DropReason::kPfcWatchdog), 18u);
}

TEST_F(SwitchWatchdog, NoXoffIsSaidForAClassThatIsInAStorm) {
  begin(Action::kDrop);
  // What came in by the port before the storm fills its group while its way out, kOther, is paused for good.
  rig->wire.send_pfc(kOther, at(1_us), 1 << 3, {0, 0, 0, 0xFFFF});
  storm(5_us, 205_us);
  send(6_us, 10);
  send(6_us, 10, kOut, kOther);
  rig->run(39_us);
  const std::uint64_t before = out().xoff_sent;
  EXPECT_GT(before, 0u);
  rig->run(200_us);
  EXPECT_EQ(out().xoff_sent, before);
  EXPECT_EQ(out().xon_sent, 1u);
}

// What came in by kOut before its storm waits for kOther, which is paused but for a moment in each 10 us, and still uses
// headroom when the storm is over. What kOut's peer, told to send meanwhile, has on the way then is dropped for the
// storm, not for missing headroom. Once the group is back at XON all is as before.
TEST_F(SwitchWatchdog, AGroupThatHasNotDrainedTakesNothingInAfterAStorm) {
  begin(Action::kDrop);
  for (Duration t = 1_us; t < 300_us; t += 10_us) {
    rig->wire.send_pfc(kOther, at(t), 1 << 3, {0, 0, 0, 0xFFFF});
    rig->wire.send_pfc(kOther, at(t + 9'900_ns), 1 << 3, {});
  }
  storm(5_us, 205_us);
  send(6_us, 10);                   // behind the storm
  send(6_us, 100, kOut, kOther);    // 400 cells: XOFF at 20, and 380 of the 400 of headroom
  send(225_us, 160, kOut, kOther);  // 6 us of them while the storm lasts, 7 us after it
  rig->run(290_us);
  EXPECT_EQ(out().storms_restored, 1u);
  EXPECT_EQ(rig->count(kOther, cls(3)).storms_detected, 0u);
  EXPECT_EQ(rig->drops(DropReason::kHeadroomFull), 0u);
  EXPECT_EQ(rig->drops(DropReason::kPfcWatchdog), 10u + 160u);
  EXPECT_EQ(out().xoff_sent, 2u) << "before the storm and at its end";
  const std::size_t sent = rig->wire.sent_data(kOther).size();
  EXPECT_LT(sent, 70u) << "the group is far from drained";
  send(350_us, 10, kOut, kOther);
  rig->run(400_us);
  EXPECT_EQ(sent + rig->wire.sent_data(kOther).size(), 110u);
  EXPECT_EQ(rig->drops(DropReason::kPfcWatchdog), 170u);
  EXPECT_TRUE(rig->sw.audit().empty());
}

TEST_F(SwitchWatchdog, ForwardSendsInSpiteOfThePause) {
  begin(Action::kForward);
  storm(5_us, 205_us);
  send(6_us, 10);
  rig->run(40_us);
  EXPECT_TRUE(rig->wire.sent_data(kOut).empty());
  rig->run(60_us);
  EXPECT_EQ(rig->wire.sent_data(kOut).size(), 10u);
  EXPECT_EQ(rig->sw.counters().dropped(), 0u);
  rig->run(240_us);
  EXPECT_EQ(out().storms_restored, 1u);
  // It obeys again.
  rig->wire.send_pfc(kOut, at(245_us), 1 << 3, {0, 0, 0, 0xFFFF});
  send(250_us, 2);
  rig->run(260_us);
  EXPECT_TRUE(rig->wire.sent_data(kOut).empty());
  rig->run(1_ms);
}

TEST_F(SwitchWatchdog, AlertOnlyCounts) {
  begin(Action::kAlert);
  storm(5_us, 205_us);
  send(6_us, 10);
  rig->run(200_us);
  EXPECT_EQ(out().storms_detected, 1u);
  EXPECT_TRUE(rig->wire.sent_data(kOut).empty());
  rig->run(300_us);
  EXPECT_EQ(rig->wire.sent_data(kOut).size(), 10u);
  EXPECT_EQ(out().storms_restored, 1u);
  EXPECT_EQ(rig->sw.counters().dropped(), 0u);
}

TEST_F(SwitchWatchdog, RestsWhenNothingIsPaused) {
  begin(Action::kDrop);
  storm(5_us, 15_us);
  rig->run(1_ms);
  EXPECT_EQ(rig->sw.next(), Instant::never());
  EXPECT_EQ(out().storms_detected, 0u) << "nothing waited";
}

// Polls are events like all others: however time is cut, the same comes out.
TEST_F(SwitchWatchdog, HowTimeIsCutDoesNotMatter) {
  const auto trace = [this](Duration slice) {
    begin(Action::kDrop);
    storm(5_us, 105_us);
    send(6_us, 600);
    for (Duration t{}; t < 200_us; t += slice) rig->run(t);
    rig->run(200_us);
    std::vector<Instant> starts;
    for (const Sent& s : rig->wire.sent(kOut)) starts.push_back(s.start);
    for (const Sent& s : rig->wire.sent(kIn)) starts.push_back(s.start);
    starts.push_back(at(Duration{static_cast<std::int64_t>(rig->drops(DropReason::kPfcWatchdog))}));
    return starts;
  };
  const auto whole = trace(200_us);
  EXPECT_EQ(trace(10_us), whole);
  EXPECT_EQ(trace(700_ns), whole);
}

}  // namespace
}  // namespace railyard
