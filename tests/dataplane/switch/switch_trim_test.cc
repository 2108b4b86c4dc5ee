// Trimming at a switch: what its queue has no room for goes on as its headers, in a class of its own.
#include <algorithm>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/wire/ipv4.h"
#include "tests/dataplane/switch/switch_rig.h"

namespace railyard {
namespace {

// Class 0 may have 2^-8 of the buffer: 2048 cells of 256 make 8 cells, two frames of 1000 octets. The frames come from
// two ports at once, so that they queue.
class SwitchTrim : public ::testing::Test {
 protected:
  static SwitchConfig config() {
    SwitchConfig c = switch_config(3);
    c.buffer = {.size = 512_KiB, .cell = {256}};
    for (SwitchPortConfig& p : c.ports) {
      p.classes[0].buffer.queue_alpha = {Alpha::kLeast};
      p.classes[0].trim = TrimConfig{.keep = 128, .dscp = 40, .to = cls(5)};
      p.classes[5].scheduling.strict = true;
    }
    return c;
  }
  static void send(SwitchRig& rig, int frames, std::uint8_t dscp = 0, std::uint32_t octets = 1000) {
    for (int i = 0; i < frames; ++i)
      for (const PortIndex in : {kIn, port(2)})
        rig.send(in, 5_us + 80_ps * (octets + 20) * i,
                 {.destination = host(kOut), .dscp = dscp, .frame_octets = octets});
  }
};

TEST_F(SwitchTrim, WhatTheQueueHasNoRoomForGoesOnCutInTheTrimClass) {
  SwitchRig rig(config());
  send(rig, 10);
  rig.run(20_us);
  const auto sent = rig.wire.sent(kOut);
  ASSERT_EQ(sent.size(), 20u) << "nothing is dropped";
  std::uint64_t cut = 0;
  for (const Sent& s : sent) {
    if (s.packet.frame_octets == 1000u) continue;
    ++cut;
    EXPECT_EQ(s.packet.frame_octets, 132u);
    EXPECT_EQ(s.view().traffic_class_octet >> 2, 40);
    EXPECT_TRUE(s.view().trimmed);
  }
  EXPECT_GT(cut, 5u);
  EXPECT_EQ(rig.count(kOut, cls(0)).trimmed, cut);
  EXPECT_EQ(rig.count(kOut, cls(5)).tx_packets, cut);
  EXPECT_EQ(rig.sw.counters().dropped(), 0u);
}

// The ingress groups are full before the queue is; what is left is charged to those of its new class.
TEST_F(SwitchTrim, WhatTheIngressGroupHasNoRoomForGoesOnCutToo) {
  SwitchConfig c = config();
  for (SwitchPortConfig& p : c.ports) {
    p.classes[0].buffer.queue_alpha = {};
    p.classes[0].buffer.alpha = {Alpha::kLeast};
  }
  SwitchRig rig(std::move(c));
  send(rig, 10);
  rig.run(20_us);
  EXPECT_EQ(rig.wire.sent(kOut).size(), 20u);
  EXPECT_GT(rig.count(kOut, cls(0)).trimmed, 0u);
  EXPECT_EQ(rig.count(kOut, cls(0)).trimmed, rig.count(kOut, cls(5)).tx_packets);
  EXPECT_EQ(rig.sw.counters().dropped(), 0u);
  EXPECT_TRUE(rig.sw.audit().empty());
}

// Nine cells, whatever is free: two frames of four cells.
TEST_F(SwitchTrim, AQueueMayHaveAFixedLimit) {
  SwitchConfig c = config();
  for (SwitchPortConfig& p : c.ports) p.classes[0].buffer.queue_limit = {9 * 256};
  SwitchRig rig(std::move(c));
  send(rig, 10);
  rig.run(20_us);
  EXPECT_EQ(rig.count(kOut, cls(0)).max_depth_octets, 2000u);
  EXPECT_GT(rig.count(kOut, cls(0)).trimmed, 0u);
  EXPECT_EQ(rig.sw.counters().dropped(), 0u);
}

// By coin, the last frame of the queue is cut in the place of the arriving one, which goes behind the others.
TEST_F(SwitchTrim, ByCoinTheLastFrameOfTheQueueIsCut) {
  const auto order = [](bool coin) {
    SwitchConfig c = config();
    c.seed = Seed{7};
    for (SwitchPortConfig& p : c.ports) {
      p.classes[0].buffer.queue_limit = {17 * 256};
      p.classes[0].trim->coin = coin;
    }
    SwitchRig rig(std::move(c));
    for (std::uint32_t i = 0; i < 40; ++i)
      rig.send(i % 2 == 0 ? kIn : port(2), 5_us + 41_ns * static_cast<int>(i),
               {.destination = host(kOut), .dscp = 0, .frame_octets = 1000 - i});
    rig.run(20_us);
    std::vector<std::uint32_t> whole;
    std::uint64_t cut = 0;
    for (const Sent& s : rig.wire.sent(kOut))
      if (s.packet.frame_octets == 132)
        ++cut;
      else
        whole.push_back(s.packet.frame_octets);
    EXPECT_EQ(whole.size() + cut, 40u) << "each once";
    EXPECT_EQ(rig.count(kOut, cls(0)).trimmed, cut);
    EXPECT_GT(cut, 10u);
    EXPECT_EQ(rig.sw.counters().dropped(), 0u);
    EXPECT_TRUE(rig.sw.audit().empty());
    return whole;
  };
  const std::vector<std::uint32_t> arriving = order(false);
  const std::vector<std::uint32_t> coin = order(true);
  EXPECT_EQ(arriving.size(), coin.size()) << "as many are cut";
  EXPECT_NE(arriving, coin);
  EXPECT_TRUE(std::ranges::is_sorted(coin, std::greater<>())) << "those that stay keep their order";
  EXPECT_EQ(coin, order(true)) << "the same coin for the same seed";
}

TEST_F(SwitchTrim, AFrameThatIsShortAlreadyGoesOnWhole) {
  SwitchRig rig(config());
  send(rig, 60, 0, 100);  // one cell each
  rig.run(20_us);
  for (const Sent& s : rig.wire.sent(kOut)) {
    EXPECT_EQ(s.packet.frame_octets, 100u);
    EXPECT_FALSE(s.view().trimmed);
  }
  EXPECT_GT(rig.count(kOut, cls(5)).tx_packets, 0u);
  EXPECT_EQ(rig.count(kOut, cls(0)).trimmed, rig.count(kOut, cls(5)).tx_packets);
}

TEST_F(SwitchTrim, WithTheTrimQueueFullTooItIsDroppedWithThatReason) {
  SwitchConfig c = config();
  for (SwitchPortConfig& p : c.ports) p.classes[5].buffer.queue_alpha = {Alpha::kLeast};  // 8 frames of one cell
  c.ports[kOut.index()].classes[5].scheduling.strict = false;
  SwitchRig rig(std::move(c));
  rig.wire.send_pfc(kOut, at(0_us), 1 << 5, {0, 0, 0, 0, 0, 0xFFFF});  // class 5 stands still
  send(rig, 40);
  rig.run(20_us);
  EXPECT_EQ(rig.count(kOut, cls(0)).trimmed, 7u) << "2^-8 of what is free, less than 8 cells";
  EXPECT_GT(rig.drops(kOut, cls(0), DropReason::kTrimQueueFull), 0u);
  EXPECT_EQ(rig.sw.counters().dropped(), rig.drops(kOut, cls(0), DropReason::kTrimQueueFull));
}

TEST_F(SwitchTrim, NeverTouchesAClassThatDoesNotTrim) {
  SwitchConfig c = config();
  for (SwitchPortConfig& p : c.ports) p.classes[1].buffer.queue_alpha = {Alpha::kLeast};
  SwitchRig rig(std::move(c));
  send(rig, 10, 8);  // class 1
  rig.run(20_us);
  for (const Sent& s : rig.wire.sent(kOut)) EXPECT_EQ(s.packet.frame_octets, 1000u);
  EXPECT_GT(rig.drops(kOut, cls(1), DropReason::kEgressFull), 0u);
  EXPECT_EQ(rig.count(kOut, cls(1)).trimmed, 0u);
}

TEST_F(SwitchTrim, WhatWasTrimmedBeforeIsDroppedWhenItsQueueIsFull) {
  SwitchConfig c = config();
  for (SwitchPortConfig& p : c.ports) {
    p.classes[5].buffer.queue_alpha = {Alpha::kLeast};
    p.classes[5].trim = TrimConfig{.keep = 96, .dscp = 48, .to = cls(6)};
  }
  SwitchRig rig(std::move(c));
  rig.wire.send_pfc(kOut, at(0_us), 1 << 5, {0, 0, 0, 0, 0, 0xFFFF});
  for (int i = 0; i < 20; ++i) {
    Packet* p = rig.frame(kIn, {.destination = host(kOut), .dscp = 40, .frame_octets = 1000});
    trim(*p, 128, 40);
    rig.wire.send(kIn, at(5_us + 20_ns * i), p);
  }
  rig.run(20_us);
  EXPECT_EQ(rig.count(kOut, cls(5)).trimmed, 0u);
  EXPECT_GT(rig.drops(kOut, cls(5), DropReason::kEgressFull), 0u);
  EXPECT_TRUE(rig.wire.sent(kOut).empty());
}

TEST(SwitchTrimConfig, IsRefusedForALosslessClassAndForItself) {
  const auto error = [](const TrimConfig& trim, bool lossless) -> std::string {
    SwitchConfig c = switch_config(2);
    c.ports[1].classes[3].trim = trim;
    c.ports[1].classes[3].buffer.lossless = lossless;
    try {
      Switch sw(DeviceId{0}, "sw", std::move(c));
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "(no error)";
  };
  EXPECT_EQ(error({.to = cls(5)}, false), "(no error)");
  EXPECT_EQ(error({.to = cls(5)}, true), "switch sw: port 1 class 3.trim: does not apply to a lossless class");
  EXPECT_EQ(error({.to = cls(3)}, false),
            "switch sw: port 1 class 3.trim.class: 3 is the class whose queue is full; expected another class");
  EXPECT_EQ(error({.keep = 95, .to = cls(5)}, false),
            "switch sw: port 1 class 3.trim.keep: 95 octets; expected 96..9238");
}

}  // namespace
}  // namespace railyard
