// Priority-based flow control at a switch, both ways, and its buffer and marks.
#include <cstdint>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "tests/dataplane/switch/switch_rig.h"
#include "tests/dataplane/wire/octets.h"

namespace railyard {
namespace {

class SwitchPfc : public ::testing::Test {
 protected:
  // Class 3 lossless: XOFF at 20 cells, XON 8 below, headroom of 40 cells.
  static SwitchConfig config(std::size_t ports = 4) {
    SwitchConfig c = switch_config(ports);
    for (SwitchPortConfig& p : c.ports)
      p.classes[3].buffer = {.lossless = true, .xoff = {20 * 256}, .headroom = {40 * 256}, .xon_offset = {8 * 256}};
    c.pause_quanta = 1000;
    return c;
  }
  void send(PortIndex in, Duration start, std::uint8_t dscp = 26, PortIndex to = kOut) {
    rig.send(in, start, {.destination = host(to), .dscp = dscp, .frame_octets = 1000});
  }
  // The peer of `p` pauses class 3 from `when` on, for `quanta`.
  void pause(PortIndex p, Duration when, std::uint16_t quanta) {
    ASSERT_EQ(rig.wire.send_pfc(p, at(when - kPfcEffect), 1 << 3, {0, 0, 0, quanta}), at(when));
  }
  SwitchRig rig{config()};
};

// ---- Sending PFC ---------------------------------------------------------------------------------------------------

// The fifth frame brings the group to 20 cells. The frame on the wire is that of roce-and-lossless.md §10.1.
TEST_F(SwitchPfc, XoffAtTheThresholdOctetByOctet) {
  pause(kOut, 5_us, 0xFFFF);
  for (int i = 0; i < 6; ++i) send(kIn, 5_us + kSlot * i);
  rig.run(20_us);
  const auto said = rig.wire.sent(kIn);
  ASSERT_GE(said.size(), 1u);
  EXPECT_EQ(said[0].start, at(5_us + kSlot * 4 + kEffect));
  EXPECT_EQ(said[0].effect, said[0].start + 5'760_ps);
  EXPECT_EQ(wire::to_hex(said[0].octets),
            "0180c2000001"
            "020000000010"
            "8808"
            "0101"
            "0008"
            "000000000000"
            "03e8"
            "0000000000000000" +
                std::string(52, '0'));
  EXPECT_EQ(said[0].packet.frame_octets, 64u);
  EXPECT_EQ(rig.count(kIn, cls(3)).xoff_sent, said.size());
  EXPECT_EQ(rig.sw.counters().ports[0].tx_control, said.size());
  EXPECT_TRUE(rig.wire.sent(port(2)).empty()) << "nobody else is told";
}

// 1000 quanta are 5.12 us: repeated every 2.56 us while it stands.
TEST_F(SwitchPfc, AStandingXoffIsRefreshedEveryHalfOfItsTime) {
  pause(kOut, 5_us, 0xFFFF);
  for (int i = 0; i < 5; ++i) send(kIn, 5_us + kSlot * i);
  rig.run(30_us);
  const auto said = rig.wire.sent(kIn);
  const Instant first = at(5_us + kSlot * 4 + kEffect);
  ASSERT_EQ(said.size(), 10u);  // (30 - 6.007) / 2.56 = 9.37, and the first
  for (std::size_t i = 0; i < said.size(); ++i) {
    EXPECT_EQ(said[i].start, first + 2'560_ns * static_cast<std::int64_t>(i));
    EXPECT_EQ(said[i].pfc().quanta[3], 1000);
  }
}

// XON when 12 cells are left, that is when two frames have gone.
TEST_F(SwitchPfc, XonWhenDrainedBelowTheOffset) {
  pause(kOut, 5_us, 0xFFFF);
  for (int i = 0; i < 5; ++i) send(kIn, 5_us + kSlot * i);
  pause(kOut, 20_us, 0);
  rig.run(100_us);
  const auto said = rig.wire.sent(kIn);
  const Sent& xon = said.back();
  EXPECT_EQ(xon.pfc().enable, 1 << 3);
  EXPECT_EQ(xon.pfc().quanta[3], 0);
  EXPECT_EQ(xon.start, at(20_us + 2 * kSlot)) << "at the end of the second transmission";
  EXPECT_EQ(rig.count(kIn, cls(3)).xon_sent, 1u);
  EXPECT_EQ(rig.wire.sent_data(kOut).size(), 5u);
}

TEST_F(SwitchPfc, PfcWaitsForTheFrameInTransmissionAndGoesBeforeTheNext) {
  pause(kOut, 5_us, 0xFFFF);
  // Port 0 is sending a long queue of its own when the XOFF comes up.
  for (int i = 0; i < 30; ++i) send(port(2), 5_us + kSlot * i, 0, kIn);
  for (int i = 0; i < 5; ++i) send(kIn, 5'030_ns + kSlot * i);
  rig.run(20_us);
  const auto sent = rig.wire.sent(kIn);
  std::size_t i = 0;
  while (!sent[i].control()) ++i;
  // Due at 5.03 + 0.3264 + 0.68064 us; the frame in transmission began at a multiple of the slot before that.
  const Instant due = at(5'030_ns + kSlot * 4 + kEffect);
  EXPECT_EQ(sent[i].start, sent[i - 1].start + kSlot);
  EXPECT_LT(sent[i - 1].start, due);
  EXPECT_GE(sent[i].start, due);
  EXPECT_EQ(sent[i + 1].start, sent[i].start + 6'720_ps) << "84 octets, then data goes on";
}

// An XOFF whose cause has gone before it could start is not sent at all.
TEST_F(SwitchPfc, AnXoffThatIsOverBeforeItStartsIsNotSent) {
  SwitchConfig c = config();
  c.ports[0].mtu = c.ports[2].mtu = 9216;
  SwitchRig slow(c, {{.rate = 1_Gbps}, {.rate = 100_Gbps}, {.rate = 100_Gbps}, {.rate = 100_Gbps}});
  // Port 0 is slow: a frame of 9000 octets keeps it busy for 72 us. Six frames that came in there wait for 1 us only.
  slow.send(port(2), 0_ns, {.destination = host(kIn), .dscp = 0, .frame_octets = 9000});
  for (int i = 0; i < 6; ++i) slow.send(kIn, 2_us + 9_us * i, {.destination = host(kOut), .frame_octets = 1000});
  slow.wire.send_pfc(kOut, at(5_us), 1 << 3, {0, 0, 0, 0xFFFF});
  slow.wire.send_pfc(kOut, at(60_us), 1 << 3, {});
  slow.run(70_us);
  EXPECT_EQ(slow.count(kIn, cls(3)).max_ingress_cells, 24u) << "above XOFF";
  EXPECT_EQ(slow.wire.sent_data(kOut).size(), 6u);
  slow.run(200_us);
  EXPECT_TRUE(slow.wire.sent_control(kIn).empty());
}

TEST_F(SwitchPfc, BeyondXoffFramesGoToHeadroomAndBeyondThatAreLost) {
  pause(kOut, 5_us, 0xFFFF);
  for (int i = 0; i < 17; ++i) send(kIn, 5_us + kSlot * i);  // 5 shared, 10 in headroom, 2 too many
  rig.run(20_us);
  EXPECT_EQ(rig.drops(kIn, cls(3), DropReason::kHeadroomFull), 2u);
  const ClassCounters c = rig.count(kIn, cls(3));
  EXPECT_EQ(c.ingress_cells, 60u);
  EXPECT_EQ(c.headroom_cells, 40u);
  EXPECT_EQ(c.max_headroom_cells, 40u);
  EXPECT_EQ(rig.sw.mmu().shared_used(), 20u);
}

TEST_F(SwitchPfc, TheChargeIsToTheIngressPortNotToWhoeverComesNext) {
  pause(kOut, 5_us, 0xFFFF);
  for (int i = 0; i < 4; ++i) {
    send(kIn, 5_us + kSlot * i);
    send(port(2), 5_us + kSlot * i);
    send(port(3), 5_us + kSlot * i);
  }
  rig.run(20_us);
  EXPECT_EQ(rig.count(kOut, cls(3)).depth_octets, 12'000u);
  for (const PortIndex p : {kIn, port(2), port(3)}) {
    EXPECT_TRUE(rig.wire.sent(p).empty()) << "16 cells each: nobody is above 20";
    EXPECT_EQ(rig.count(p, cls(3)).ingress_cells, 16u);
  }
}

// ---- Obeying PFC ---------------------------------------------------------------------------------------------------

TEST_F(SwitchPfc, APauseHoldsItsClassUntilItExpires) {
  pause(kOut, 5_us, 100);  // 512 ns
  send(kIn, 5_us - kEffect + 100_ns);
  rig.run(20_us);
  const auto sent = rig.wire.sent(kOut);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].start, at(5'512_ns)) << "not a picosecond earlier or later";
  EXPECT_EQ(rig.count(kOut, cls(3)).paused, 512_ns);
  EXPECT_EQ(rig.count(kOut, cls(3)).xoff_received, 1u);
  EXPECT_EQ(rig.sw.counters().ports[1].rx_control, 1u);
}

TEST_F(SwitchPfc, XonEndsAPauseAtOnce) {
  pause(kOut, 5_us, 0xFFFF);
  send(kIn, 5_us);
  pause(kOut, 9_us, 0);
  rig.run(20_us);
  EXPECT_EQ(rig.wire.sent(kOut).at(0).start, at(9_us));
  EXPECT_EQ(rig.count(kOut, cls(3)).xon_received, 1u);
  EXPECT_EQ(rig.count(kOut, cls(3)).paused, 4_us);
}

TEST_F(SwitchPfc, AFrameThatHasBegunIsFinished) {
  send(kIn, 5_us - kEffect);
  send(kIn, 5_us - kEffect + kSlot);
  pause(kOut, 5_us + 1_ps, 100);
  rig.run(20_us);
  const auto sent = rig.wire.sent(kOut);
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].start, at(5_us));
  EXPECT_EQ(sent[1].start, at(5_us + 1_ps + 512_ns));
}

// engine.md §2: MAC control comes before arrivals and departures of its instant.
TEST_F(SwitchPfc, APauseOfTheInstantOfADepartureHoldsIt) {
  send(kIn, 5_us - kEffect);
  pause(kOut, 5_us, 100);
  rig.run(20_us);
  EXPECT_EQ(rig.wire.sent(kOut).at(0).start, at(5'512_ns));
}

// Two classes, each of half the link's rate: class 4 is sent exactly as if there were no pause of class 3.
TEST_F(SwitchPfc, NoOtherClassIsAffected) {
  SwitchRig undisturbed(config());
  pause(kOut, 5_us, 0xFFFF);
  std::vector<Instant> starts;
  std::vector<Instant> expected;
  for (int i = 0; i < 100; ++i) {
    send(kIn, 5_us + 2 * kSlot * i, 34);
    undisturbed.send(kIn, 5_us + 2 * kSlot * i, {.destination = host(kOut), .dscp = 34, .frame_octets = 1000});
    if (i < 10) send(port(2), 5_us + 2 * kSlot * i, 26);
  }
  rig.run(40_us);
  undisturbed.run(40_us);
  for (const Sent& s : rig.wire.sent(kOut)) starts.push_back(s.start);
  for (const Sent& s : undisturbed.wire.sent(kOut)) expected.push_back(s.start);
  ASSERT_EQ(expected.size(), 100u);
  EXPECT_EQ(starts, expected);
  EXPECT_EQ(rig.count(kOut, cls(3)).depth_octets, 10'000u);
}

TEST_F(SwitchPfc, AMacControlFrameThatIsNotPfcIsDropped) {
  Packet* p = test::make_frame(rig.wire.pool(), FecTable{},
                               wire::hex("0180c2000001 020000000099 8808 0001 ffff" + std::string(84, '0')));
  rig.wire.send_control(kOut, at(0_ns), p);
  send(kIn, 5_us);
  rig.run(20_us);
  EXPECT_EQ(rig.sw.counters().ports[1].drops[static_cast<std::size_t>(DropReason::kBadMacControl)], 1u);
  EXPECT_EQ(rig.wire.sent(kOut).at(0).start, at(5_us + kEffect)) << "802.3x pause is none of ours";
}

// A pause travels on: what the paused port holds fills the buffer of those who sent it.
TEST_F(SwitchPfc, PausingPropagatesUpstreamAndEnds) {
  pause(kOut, 5_us, 2000);  // 10.24 us
  for (int i = 0; i < 8; ++i) send(kIn, 5_us + kSlot * i);
  rig.run(100_us);
  const auto said = rig.wire.sent(kIn);
  ASSERT_GE(said.size(), 2u);
  EXPECT_EQ(said.front().pfc().quanta[3], 1000);
  EXPECT_EQ(said.back().pfc().quanta[3], 0);
  // It expires at 15.24 us; 8 frames were there, 3 may stay: the XON comes when five have gone.
  EXPECT_EQ(said.back().start, at(15'240_ns + 5 * kSlot));
  EXPECT_EQ(rig.wire.sent_data(kOut).size(), 8u);
  EXPECT_EQ(rig.sw.counters().buffer_cells, 0u);
}

// ---- Buffer and marks ----------------------------------------------------------------------------------------------

TEST(SwitchBuffer, AFullLossyGroupDropsAtIngress) {
  SwitchConfig config = switch_config(2);
  config.ports[0].classes[0].buffer.xoff = {8 * 256};  // two frames
  SwitchRig rig(config);
  rig.wire.send_pfc(kOut, at(0_ns), 1, {0xFFFF});
  for (int i = 0; i < 3; ++i)
    rig.send(kIn, 5_us + kSlot * i, {.destination = host(kOut), .dscp = 0, .frame_octets = 1000});
  rig.run(20_us);
  EXPECT_EQ(rig.drops(kIn, cls(0), DropReason::kIngressFull), 1u);
  EXPECT_EQ(rig.count(kIn, cls(0)).rx_packets, 3u) << "received all the same";
}

TEST(SwitchBuffer, AFullLossyQueueDropsAtEgress) {
  SwitchConfig config = switch_config(2);
  config.buffer = {.size = {100 * 256}, .cell = {256}};
  config.ports[1].classes[0].buffer.queue_alpha = {-3};
  SwitchRig rig(config);
  rig.wire.send_pfc(kOut, at(0_ns), 1, {0xFFFF});
  // alpha 1/8 of 100 cells: 12.5 for the first frame of 4 cells; 12 of 96 for the second; 8 + 4 > 92 / 8 for the third.
  for (int i = 0; i < 3; ++i)
    rig.send(kIn, 5_us + kSlot * i, {.destination = host(kOut), .dscp = 0, .frame_octets = 1000});
  rig.run(20_us);
  EXPECT_EQ(rig.drops(kOut, cls(0), DropReason::kEgressFull), 1u);
  EXPECT_EQ(rig.count(kOut, cls(0)).depth_octets, 2000u);
}

class SwitchMarking : public ::testing::Test {
 protected:
  // A step: everything above 12 cells, three frames of 1000 octets, is marked.
  static SwitchConfig config(bool at_dequeue) {
    SwitchConfig c = switch_config(3);
    for (SwitchPortConfig& p : c.ports)
      for (SwitchClassConfig& k : p.classes)
        k.ecn = {
            .enabled = true, .kmin = {12 * 256}, .kmax = {12 * 256}, .pmax_ppm = 1'000'000, .at_dequeue = at_dequeue};
    return c;
  }
  // Ten frames come together while the port waits until 10 us; what leaves, in order.
  static std::vector<Sent> burst(SwitchRig& rig, const std::vector<wire::Ecn>& ecn) {
    rig.wire.send_pfc(kOut, at(0_ns), 1 << 3, {0, 0, 0, 0xFFFF});
    for (std::size_t i = 0; i < ecn.size(); ++i)
      rig.send(kIn, 3_us + kSlot * static_cast<std::int64_t>(i),
               {.destination = host(kOut), .psn = static_cast<std::uint32_t>(i), .ecn = ecn[i], .frame_octets = 1000});
    rig.wire.send_pfc(kOut, at(10_us), 1 << 3, {});
    rig.run(100_us);
    return rig.wire.sent_data(kOut);
  }
  static std::set<std::uint32_t> marked(const std::vector<Sent>& sent) {
    std::set<std::uint32_t> psns;
    for (const Sent& s : sent) {
      EXPECT_EQ(s.packet.traffic_class_octet, s.view().traffic_class_octet);
      if (wire::ecn_of(s.view().traffic_class_octet) == wire::Ecn::kCe) psns.insert(s.view().psn);
    }
    return psns;
  }
};

// At enqueue by the queue found: 0, 4, 8, 12, 16 ... cells. More than 12 is found by the fifth and those after it.
TEST_F(SwitchMarking, AtEnqueueByTheQueueFound) {
  SwitchRig rig(config(false));
  const auto sent = burst(rig, std::vector(10, wire::Ecn::kEct0));
  EXPECT_EQ(marked(sent), (std::set<std::uint32_t>{4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(rig.count(kOut, cls(3)).ecn_marked, 6u);
}

// At dequeue by the queue left behind: 36, 32, ... 16, 12 cells. The first six leave more than 12.
TEST_F(SwitchMarking, AtDequeueByTheQueueLeftBehind) {
  SwitchRig rig(config(true));
  const auto sent = burst(rig, std::vector(10, wire::Ecn::kEct1));
  EXPECT_EQ(marked(sent), (std::set<std::uint32_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(rig.count(kOut, cls(3)).ecn_marked, 6u);
}

TEST_F(SwitchMarking, NotEctIsNeverMarkedAndCeIsNotCountedAgain) {
  using wire::Ecn;
  SwitchRig rig(config(false));
  const auto sent = burst(rig, {Ecn::kEct0, Ecn::kEct0, Ecn::kEct0, Ecn::kEct0, Ecn::kEct0, Ecn::kNotEct, Ecn::kCe,
                                Ecn::kEct1, Ecn::kNotEct, Ecn::kEct0});
  EXPECT_EQ(marked(sent), (std::set<std::uint32_t>{4, 6, 7, 9}));
  EXPECT_EQ(wire::ecn_of(sent[5].view().traffic_class_octet), Ecn::kNotEct);
  EXPECT_EQ(rig.count(kOut, cls(3)).ecn_marked, 3u);
  EXPECT_EQ(rig.sw.came_marked(kOut, cls(3)), 1u) << "the one that came with CE to a queue that marks";
}

// Behind a switch that has marked everything a queue has nothing to mark; its first CE is when it would have marked.
TEST_F(SwitchMarking, FramesThatCameWithCeAreItsFirstCeOnceItIsDeepEnough) {
  const auto after = [](std::size_t frames, wire::Ecn ecn) {
    SwitchRig rig(config(false));
    burst(rig, std::vector(frames, ecn));
    return rig.count(kOut, cls(3));
  };
  const ClassCounters marks = after(10, wire::Ecn::kEct0);
  const ClassCounters passes = after(10, wire::Ecn::kCe);
  EXPECT_NE(marks.first_ce, Instant::never());
  EXPECT_EQ(passes.first_ce, marks.first_ce);
  EXPECT_EQ(passes.ecn_marked, 0u);
  EXPECT_EQ(after(4, wire::Ecn::kCe).first_ce, Instant::never()) << "the fourth finds 12 cells, no more than Kmin";
}

TEST_F(SwitchMarking, OtherQueuesDoNotCount) {
  SwitchRig rig(config(false));
  rig.wire.send_pfc(kOut, at(0_ns), 1 << 3, {0, 0, 0, 0xFFFF});
  for (int i = 0; i < 10; ++i)
    rig.send(kIn, 3_us + kSlot * i, {.destination = host(kOut), .dscp = 26, .frame_octets = 1000});
  rig.send(kIn, 5_us, {.destination = host(kOut), .dscp = 34, .frame_octets = 1000});
  rig.run(10_us);
  EXPECT_EQ(marked(rig.wire.sent_data(kOut)).size(), 0u);
}

TEST_F(SwitchMarking, WredDropsNotEctOfALossyClassInsteadAndNotOfALosslessOne) {
  for (const bool lossless : {false, true}) {
    SwitchConfig c = config(false);
    for (SwitchPortConfig& p : c.ports) {
      p.classes[3].ecn.drop_not_ect = true;
      if (lossless) p.classes[3].buffer = {.lossless = true, .alpha = {0}, .headroom = 100_KiB};
    }
    SwitchRig rig(c);
    const auto sent = burst(rig, std::vector(10, wire::Ecn::kNotEct));
    EXPECT_EQ(sent.size(), lossless ? 10u : 4u);
    EXPECT_EQ(rig.drops(kOut, cls(3), DropReason::kWred), lossless ? 0u : 6u);
    EXPECT_EQ(marked(sent).size(), 0u);
  }
}

TEST_F(SwitchMarking, ThresholdsChangeAtAnInstant) {
  SwitchRig rig(config(false));
  rig.sw.change_at(at(3_us + kEffect + 6 * kSlot), [&](Instant) { rig.sw.set_ecn(kOut, cls(3), {}); });
  EXPECT_EQ(marked(burst(rig, std::vector(10, wire::Ecn::kEct0))), (std::set<std::uint32_t>{4, 5}));
}

}  // namespace
}  // namespace railyard
