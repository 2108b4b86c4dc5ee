#include "dataplane/device/channel.h"

#include <array>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/instant.h"

namespace railyard {
namespace {

using namespace literals;

Packet* packet(std::uintptr_t n) { return reinterpret_cast<Packet*>(n * 64); }

class ChannelTest : public ::testing::Test {
 protected:
  ChannelTest() {
    channel.deliver_to({&bells, 0}, {&bells, 5});
    channel.wake_through(&wake, false);
  }
  Channel channel{DeviceId{4}, PortIndex{2}};
  DoorbellWord bells;
  Instant wake = Instant::never();
};

TEST_F(ChannelTest, AFrameTakesEffectItsLeadAfterItsStart) {
  channel.push_data(at(100_ns), 700_ns, packet(1));
  const InFlight* f = channel.data.front();
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->start, at(100_ns));
  EXPECT_EQ(f->effect, at(800_ns));
  EXPECT_EQ(f->packet, packet(1));
  EXPECT_EQ(channel.control.front(), nullptr);
}

// engine.md §3: effect = max(computed, previous effect in that FIFO).
TEST_F(ChannelTest, ALatencyThatShrinksDoesNotReorder) {
  channel.push_data(at(0_ns), 700_ns, packet(1));
  channel.push_data(at(100_ns), 200_ns, packet(2));  // alone it would take effect at 300
  channel.push_data(at(200_ns), 200_ns, packet(3));
  channel.push_data(at(900_ns), 200_ns, packet(4));
  std::vector<Instant> effects;
  std::vector<Packet*> packets;
  while (const InFlight* f = channel.data.front()) {
    effects.push_back(f->effect);
    packets.push_back(f->packet);
    channel.data.pop();
  }
  EXPECT_EQ(effects, (std::vector{at(700_ns), at(700_ns), at(700_ns), at(1100_ns)}));
  EXPECT_EQ(packets, (std::vector{packet(1), packet(2), packet(3), packet(4)}));
}

TEST_F(ChannelTest, TheOrderOfOneFifoIsNoneOfTheOthers) {
  channel.push_data(at(0_ns), 10_us, packet(1));
  channel.push_control(at(1_us), 500_ns, packet(2));
  EXPECT_EQ(channel.control.front()->effect, at(1500_ns)) << "a pause frame overtakes data that waits in a pipeline";
}

TEST_F(ChannelTest, EveryPushRingsTheBellOfItsFifo) {
  EXPECT_EQ(bells.take(), 0u);
  channel.push_data(at(0_ns), 1_us, packet(1));
  channel.push_data(at(0_ns), 1_us, packet(2));
  EXPECT_EQ(bells.take(), 1u << 0);
  EXPECT_EQ(bells.take(), 0u) << "a bell is heard once";
  channel.push_control(at(0_ns), 1_us, packet(3));
  EXPECT_EQ(bells.take(), 1u << 5);
}

TEST_F(ChannelTest, ASenderOnAnotherWorkerRingsTheSameBell) {
  channel.wake_through(&wake, true);
  channel.push_control(at(0_ns), 1_us, packet(1));
  channel.wake_through(&wake, false);
  channel.push_data(at(0_ns), 1_us, packet(2));
  EXPECT_EQ(bells.take(), 1u << 5 | 1u << 0);
  EXPECT_EQ(bells.take(), 0u);
}

TEST_F(ChannelTest, EveryPushLowersTheReceiversNextInstant) {
  channel.push_data(at(0_ns), 5_us, packet(1));
  EXPECT_EQ(wake, at(5_us));
  channel.push_data(at(1_us), 5_us, packet(2));
  EXPECT_EQ(wake, at(5_us)) << "never raises it";
  channel.push_control(at(1_us), 1_us, packet(3));
  EXPECT_EQ(wake, at(2_us));
}

// What stays within a worker needs neither ring nor bell; what was in the rings goes first.
TEST_F(ChannelTest, WithinAWorkerFramesGoIntoTheReceiversListInTheOrderOfThePushes) {
  channel.push_data(at(0_ns), 700_ns, packet(1));
  channel.push_control(at(0_ns), 900_ns, packet(2));
  bells.take();
  NearFrames near;
  channel.deliver_near(&near);
  EXPECT_EQ(channel.data.size() + channel.control.size(), 0u);
  channel.push_data(at(100_ns), 200_ns, packet(3));  // waits for the first: not before 700
  channel.push_data(at(100_ns), 2_us, packet(4));
  EXPECT_EQ(bells.take(), 0u);
  EXPECT_EQ(wake, at(700_ns));
  EXPECT_EQ(channel.in_flight(), 4u);

  std::vector<Packet*> taken;
  const Instant rest = near.take_until(at(1_us), [&](const NearFrame& n) {
    EXPECT_EQ(n.port, PortIndex{2});
    EXPECT_EQ(n.kind, n.frame.packet == packet(2) ? EventKind::kMacControl : EventKind::kArrival);
    taken.push_back(n.frame.packet);
  });
  EXPECT_EQ(taken, (std::vector{packet(1), packet(2), packet(3)}));
  EXPECT_EQ(rest, at(2'100_ns));
  EXPECT_EQ(channel.in_flight(), 1u);

  channel.deliver_near(nullptr);
  channel.push_data(at(2_us), 700_ns, packet(5));
  EXPECT_EQ(channel.data.size(), 1u);
  EXPECT_EQ(near.size(), 1u) << "what is in the list stays there";
}

// From one worker to another nothing that the receiver looks at changes before the end of the window.
TEST_F(ChannelTest, BetweenWorkersFramesWaitForTheEndOfTheWindow) {
  CrossingFrames crossing;
  NearFrames near;
  Instant next = at(5_us);
  channel.deliver_crossing(&crossing, &near, &next);
  channel.push_data(at(0_ns), 700_ns, packet(1));
  channel.push_control(at(0_ns), 900_ns, packet(2));
  channel.push_data(at(100_ns), 200_ns, packet(3));  // waits for the first: not before 700
  EXPECT_EQ(crossing.size(), 3u);
  EXPECT_EQ(near.size(), 0u);
  EXPECT_EQ(next, at(5_us));
  EXPECT_EQ(bells.take(), 0u);

  crossing.deliver();
  EXPECT_EQ(crossing.size(), 0u);
  EXPECT_EQ(next, at(700_ns));
  EXPECT_EQ(channel.in_flight(), 3u);
  EXPECT_TRUE(channel.near());
  std::vector<Packet*> taken;
  near.take_until(at(1_us), [&](const NearFrame& n) {
    EXPECT_EQ(n.port, PortIndex{2});
    EXPECT_EQ(n.kind, n.frame.packet == packet(2) ? EventKind::kMacControl : EventKind::kArrival);
    taken.push_back(n.frame.packet);
  });
  EXPECT_EQ(taken, (std::vector{packet(1), packet(2), packet(3)}));
  EXPECT_EQ(channel.in_flight(), 0u);
}

TEST(CrossingFrames, EachGoesToItsReceiverInTheOrderOfThePushes) {
  CrossingFrames crossing;
  std::array<NearFrames, 3> near;
  std::array<Instant, 3> next{Instant::never(), Instant::never(), Instant::never()};
  constexpr std::uintptr_t kFrames = 1'000;
  for (std::uintptr_t i = 0; i < kFrames; ++i)
    crossing.push(&near[i % 3], &next[i % 3],
                  {{at(1_ns * static_cast<std::int64_t>(i + 10)), at(0_ns), packet(i)}, PortIndex{0}, EventKind::kArrival});
  crossing.deliver();
  for (std::uintptr_t d = 0; d < 3; ++d) {
    EXPECT_EQ(next[d], at(1_ns * static_cast<std::int64_t>(d + 10)));
    std::uintptr_t expected = d;
    near[d].take_until(Instant::never(), [&](const NearFrame& n) {
      EXPECT_EQ(n.frame.packet, packet(expected));
      expected += 3;
    });
    EXPECT_GE(expected, kFrames);
  }
}

TEST(NearFrames, HoldsAsManyAsThereAre) {
  NearFrames near;
  for (std::uintptr_t i = 0; i < 1'000; ++i)
    near.push({at(1_ns * static_cast<std::int64_t>(i)), at(0_ns), packet(i)}, PortIndex{0}, EventKind::kArrival);
  std::uintptr_t next = 0;
  EXPECT_EQ(near.take_until(at(400_ns), [&](const NearFrame& n) { EXPECT_EQ(n.frame.packet, packet(next++)); }),
            at(400_ns));
  EXPECT_EQ(near.size(), 600u);
  EXPECT_EQ(near.take_until(Instant::never(), [&](const NearFrame& n) { EXPECT_EQ(n.frame.packet, packet(next++)); }),
            Instant::never());
  EXPECT_EQ(next, 1'000u);
}

TEST(Channel, WithoutAReceiverPushesAreKept) {
  Channel channel(DeviceId{0}, PortIndex{0});
  channel.push_data(at(0_ns), 1_us, packet(1));
  channel.push_control(at(0_ns), 1_us, packet(2));
  EXPECT_EQ(channel.data.size(), 1u);
  EXPECT_EQ(channel.control.size(), 1u);
}

// engine.md §4: propagation and the least latency of the receiver; a link without any is no lookahead.
TEST(Channel, LookaheadIsWhatTheWindowRestsOn) {
  Channel channel(DeviceId{0}, PortIndex{0});
  EXPECT_EQ(channel.lookahead(), 0_ps);
  channel.propagation = 25_ns;
  channel.data_latency = 600_ns;
  channel.control_latency = 2_us;
  EXPECT_EQ(channel.lookahead(), 625_ns);
  channel.control_latency = 100_ns;
  EXPECT_EQ(channel.lookahead(), 125_ns);
}

}  // namespace
}  // namespace railyard
