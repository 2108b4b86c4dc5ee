// A switch whose links go down and up.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "tests/dataplane/switch/switch_rig.h"

namespace railyard {
namespace {

class SwitchLink : public ::testing::Test {
 protected:
  void send(PortIndex in, Duration start, std::uint8_t dscp = 26) {
    rig.send(in, start, {.destination = host(kOut), .dscp = dscp, .frame_octets = 1000});
  }
  SwitchRig rig;
};

TEST_F(SwitchLink, WhatArrivesForADownPortIsDroppedThereInItsClass) {
  // Class 6 first, so that nothing is right by chance.
  for (int i = 0; i < 20; ++i) send(kIn, 100_ns * i, 48);
  rig.sw.link_down_at(at(5_us), kOut);
  send(kIn, 10_us, 26);
  send(kIn, 11_us, 34);
  rig.run(20_us);
  EXPECT_EQ(rig.count(kOut, cls(6)).tx_packets, 20u);
  EXPECT_EQ(rig.drops(kOut, cls(3), DropReason::kLinkDown), 1u);
  EXPECT_EQ(rig.drops(kOut, cls(4), DropReason::kLinkDown), 1u);
  EXPECT_EQ(rig.drops(DropReason::kLinkDown), 2u);
}

// Three frames at once: one is being sent when the link goes down, two wait.
TEST_F(SwitchLink, WhatIsQueuedIsDroppedAndWhatIsBeingSentReleasesItsCells) {
  for (const PortIndex in : {kIn, port(2)}) send(in, 0_ns);
  send(kIn, kSlot);
  rig.sw.link_down_at(at(kEffect + 50_ns), kOut);
  rig.run(kEffect + 60_ns);
  EXPECT_EQ(rig.drops(kOut, cls(3), DropReason::kLinkDown), 1u);
  EXPECT_EQ(rig.sw.counters().buffer_cells, 4u) << "the frame in transmission, 1000 octets in cells of 256";
  EXPECT_EQ(rig.count(kOut, cls(3)).depth_octets, 1000u);
  rig.run(10_us);
  EXPECT_EQ(rig.drops(kOut, cls(3), DropReason::kLinkDown), 2u) << "the third came to a port that was down";
  EXPECT_EQ(rig.sw.counters().buffer_cells, 0u);
  EXPECT_EQ(rig.count(kOut, cls(3)).depth_octets, 0u);
  EXPECT_EQ(rig.wire.sent(kOut).size(), 1u);
}

TEST_F(SwitchLink, AfterItIsUpAgainFramesFlow) {
  rig.sw.link_down_at(at(1_us), kOut);
  rig.sw.link_up_at(at(2_us), kOut);
  send(kIn, 1_us);            // takes effect at 1.68 us
  send(kIn, 2_us - kEffect);  // at the instant at which the link comes up: changes come first
  send(kIn, 3_us);
  rig.run(10_us);
  EXPECT_EQ(rig.wire.sent(kOut).size(), 2u);
  EXPECT_EQ(rig.drops(DropReason::kLinkDown), 1u);
}

TEST_F(SwitchLink, AFrameOnTheWireWhenTheLinkGoesDownIsLost) {
  send(kIn, 1_us);
  rig.sw.link_down_at(at(1_us + 40_ns), kIn);
  rig.run(10_us);
  EXPECT_EQ(rig.sw.counters().ports[0].lost, 1u);
  EXPECT_EQ(rig.sw.counters().ports[0].delivered, 0u);
  EXPECT_TRUE(rig.wire.sent(kOut).empty());
}

TEST_F(SwitchLink, PausesEndWithTheLink) {
  rig.wire.send_pfc(kOut, at(0_ns), 1 << 3, {0, 0, 0, 0xFFFF});  // 335 us
  send(kIn, 3_us);
  rig.run(10_us);
  EXPECT_TRUE(rig.wire.sent(kOut).empty());
  rig.sw.link_down_at(at(10_us), kOut);
  rig.sw.link_up_at(at(11_us), kOut);
  send(kIn, 12_us);
  rig.run(20_us);
  EXPECT_EQ(rig.wire.sent(kOut).size(), 1u) << "the paused one was dropped, the next one goes out at once";
  // From 72 octets and the standard's response (2.01728 us) after the start of the pause frame until the link went
  // down.
  EXPECT_EQ(rig.count(kOut, cls(3)).paused, 10_us - 2'017'280_ps - 5'760_ps);
}

// A lossless class above its threshold when its sender's link goes down and up: the sender has forgotten.
TEST_F(SwitchLink, WhatTheSwitchWantsPausedItSaysAgain) {
  SwitchConfig config = switch_config(3);
  for (SwitchPortConfig& p : config.ports)
    p.classes[3].buffer = {.lossless = true, .xoff = 2_KiB, .headroom = 100_KiB, .xon_offset = 1_KiB};
  SwitchRig lossless(config);
  lossless.wire.send_pfc(kOut, at(0_ns), 1 << 3, {0, 0, 0, 0xFFFF});
  for (int i = 0; i < 3; ++i)
    lossless.send(kIn, 3_us + kSlot * i, {.destination = host(kOut), .frame_octets = 1000});  // 12 cells: above 8
  lossless.run(10_us);
  ASSERT_EQ(lossless.wire.sent_control(kIn).size(), 1u);
  lossless.sw.link_down_at(at(10_us), kIn);
  lossless.sw.link_up_at(at(20_us), kIn);
  lossless.run(30_us);
  const auto again = lossless.wire.sent_control(kIn);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].start, at(20_us));
  EXPECT_EQ(again[0].pfc().enable, 1 << 3);
  EXPECT_EQ(again[0].pfc().quanta[3], 0xFFFF);
}

// Draining a queue because its link went down lets the sender go.
TEST_F(SwitchLink, DroppingAQueueEndsTheXoffItCaused) {
  SwitchConfig config = switch_config(3);
  for (SwitchPortConfig& p : config.ports)
    p.classes[3].buffer = {.lossless = true, .xoff = 2_KiB, .headroom = 100_KiB, .xon_offset = 1_KiB};
  SwitchRig lossless(config);
  lossless.wire.send_pfc(kOut, at(0_ns), 1 << 3, {0, 0, 0, 0xFFFF});
  for (int i = 0; i < 3; ++i) lossless.send(kIn, 3_us + kSlot * i, {.destination = host(kOut), .frame_octets = 1000});
  lossless.sw.link_down_at(at(10_us), kOut);
  lossless.run(20_us);
  const auto said = lossless.wire.sent_control(kIn);
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[1].start, at(10_us));
  EXPECT_EQ(said[1].pfc().quanta[3], 0) << "XON";
  EXPECT_EQ(lossless.drops(kOut, cls(3), DropReason::kLinkDown), 3u);
}

}  // namespace
}  // namespace railyard
