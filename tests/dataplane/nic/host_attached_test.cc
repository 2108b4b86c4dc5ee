// A NIC with a host outside behind it.
#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/wire/parse.h"
#include "dataplane/wire/pfc.h"
#include "tests/dataplane/nic/host_rig.h"

namespace railyard {
namespace {

// A ring with some room behind the NIC.
class Ring final : public Attachment {
 public:
  std::size_t take(PacketPool&, std::span<Packet*> packets) override {
    std::size_t n = 0;
    for (; n < packets.size() && !to_send.empty(); ++n) {
      packets[n] = to_send.front();
      to_send.pop_front();
    }
    return n;
  }
  std::size_t take_of(PriorityMask classes, const TrustMap& trust, PacketPool& pool,
                      std::span<Packet*> packets) override {
    if (!by_class) return Attachment::take_of(classes, trust, pool, packets);
    std::size_t n = 0;
    for (auto p = to_send.begin(); p != to_send.end() && n < packets.size();) {
      const auto view = wire::parse_frame((*p)->header_span(), (*p)->header_octets + std::size_t{(*p)->payload_octets});
      if (view && (classes & bit(classify(trust, *view))) == 0) {
        ++p;
        continue;
      }
      packets[n++] = *p;
      p = to_send.erase(p);
    }
    return n;
  }
  std::size_t give(PacketPool& pool, std::span<Packet* const> packets) override {
    std::size_t n = 0;
    for (; n < packets.size() && room > 0; ++n, --room) {
      ++given;
      pool.release(packets[n]);
    }
    return n;
  }
  void release_packets(PacketPool& pool) override {
    for (Packet* p : to_send) pool.release(p);
    to_send.clear();
    released = true;
  }
  void set_carrier(bool up) noexcept override { carrier = up; }
  bool by_class = false;  // it has a queue for each
  bool released = false;
  bool carrier = true;
  std::deque<Packet*> to_send;
  std::size_t room = 1'000'000;
  std::size_t given = 0;
};

class HostAttached : public ::testing::Test {
 protected:
  HostAttached() {
    wire.connect(host, std::vector<WireLink>(1));
    host.advance(at(1_us));
  }
  static std::vector<NicDriver> attached(std::unique_ptr<Attachment> a) {
    std::vector<NicDriver> d(1);
    d[0].attachment = std::move(a);
    return d;
  }
  static HostConfig config() {
    HostConfig c = host_config();
    c.nics[0].receive = {.rate = {}, .capacity = {10'000}, .xoff = {4'000}, .xon = {2'000}};
    return c;
  }
  // As an attachment hands them over: octets, lengths, identity, flags and home.
  Packet* outside(const FrameSpec& spec) {
    Packet* p = test::make_frame(wire.pool(), FecTable{}, spec);
    Packet raw{};
    raw.header_at = p->header_at;
    raw.header_octets = p->header_octets;
    raw.payload_octets = p->payload_octets + 4;
    raw.frame_octets = p->frame_octets;
    raw.home = p->home;
    raw.flags = static_cast<std::uint8_t>(p->flags & Packet::kRealPool);
    *p = raw;
    return p;
  }
  void say(std::span<const std::byte> octets) {
    Packet* p = test::make_frame(wire.pool(), FecTable{}, octets);
    Packet raw{};
    raw.header_at = p->header_at;
    raw.header_octets = static_cast<std::uint16_t>(octets.size());
    raw.frame_octets = p->frame_octets;
    raw.home = p->home;
    raw.flags = p->flags;
    *p = raw;
    ring.to_send.push_back(p);
  }
  // The host outside speaks PFC.
  void say_pfc(PriorityMask enable, std::uint16_t quanta) {
    std::array<std::byte, wire::kMinFrameOctets> octets{};
    wire::PfcFrame pfc{.enable = enable, .quanta = {}};
    pfc.quanta.fill(quanta);
    wire::write_pfc(octets, mac(9), pfc);
    say(octets);
  }
  void run(Duration until) {
    host.poll(host.done(), {});
    host.advance(at(until));
  }
  // As a clock does: what the host outside does shows with the next window.
  void in_windows(Duration until) {
    while (host.done() < at(until)) {
      host.poll(host.done(), {});
      host.advance(std::min(at(until), host.done() + 500_ns));
    }
  }
  Ring& ring = *new Ring;
  Host host{DeviceId{0}, "h", config(), attached(std::unique_ptr<Attachment>(&ring))};
  Wire wire;
};

TEST_F(HostAttached, WhatComesFromOutsideIsSentAtTheInstantOfThePoll) {
  EXPECT_TRUE(host.polled());
  ring.to_send.push_back(outside({.dscp = 26, .frame_octets = 1000, .real = true}));
  EXPECT_EQ(host.poll(at(2_us), {}), at(2_us));
  EXPECT_EQ(host.next(), at(2_us));
  host.advance(at(3_us));
  const auto sent = wire.sent(kPort);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].start, at(2_us));
  EXPECT_EQ(sent[0].packet.traffic_class_octet, 26 << 2 | 2) << "parsed";
  EXPECT_EQ(host.counters().generated, 1u);
  EXPECT_EQ(host.counters().ports[0].classes[3].tx_packets, 1u);
}

// As a worker does with each device, here with one that has no endpoint.
TEST_F(HostAttached, IsFetchedAheadLikeAnyOther) {
  ring.to_send.push_back(outside({.dscp = 26, .frame_octets = 1000, .real = true}));
  host.poll(at(2_us), {});
  host.prefetch();
  host.prefetch_parts();
  host.prefetch_contents();
  host.prefetch_rest();
  host.advance(at(3_us));
  EXPECT_EQ(wire.sent(kPort).size(), 1u);
}

TEST_F(HostAttached, ItSeesThatTheLinkIsDownAndUpAgain) {
  host.link_down_at(at(3_us), kPort);
  host.link_up_at(at(5_us), kPort);
  host.advance(at(3_us));
  EXPECT_TRUE(ring.carrier);
  host.advance(at(4_us));
  EXPECT_FALSE(ring.carrier);
  host.advance(at(6_us));
  EXPECT_TRUE(ring.carrier);
}

TEST_F(HostAttached, WhoComesToALinkThatIsDownSeesThat) {
  host.link_down_at(at(2_us), kPort);
  host.advance(at(3_us));
  const std::unique_ptr<Attachment> own = host.attach(at(3_us), kPort, nullptr);
  Ring later;
  host.attach(at(3_us), kPort, std::unique_ptr<Attachment>(&later));
  EXPECT_FALSE(later.carrier);
  host.link_up_at(at(4_us), kPort);
  host.advance(at(5_us));
  EXPECT_TRUE(later.carrier);
  host.attach(at(5_us), kPort, nullptr).release();
}

TEST_F(HostAttached, ThePastIsNow) {
  ring.to_send.push_back(outside({.frame_octets = 1000, .real = true}));
  EXPECT_EQ(host.poll(at(500_ns), {}), at(1_us)) << "done() is later";
  host.advance(at(2_us));
  const auto sent = wire.sent(kPort);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].start, at(1_us));
}

TEST_F(HostAttached, WhatIsNoFrameIsDropped) {
  Packet* p = outside({.frame_octets = 1000, .real = true});
  p->header()[14] = std::byte{0x65};  // IP version 6 in an IPv4 frame
  ring.to_send.push_back(p);
  Packet* pause = outside({.frame_octets = 64, .real = true});
  pause->header()[12] = std::byte{0x88};
  pause->header()[13] = std::byte{0x08};
  ring.to_send.push_back(pause);
  host.poll(at(2_us), {});
  host.advance(at(3_us));
  EXPECT_TRUE(wire.sent(kPort).empty());
  EXPECT_EQ(host.counters().ports[0].drops[static_cast<std::size_t>(DropReason::kBadVersion)], 1u);
  EXPECT_EQ(host.counters().ports[0].drops[static_cast<std::size_t>(DropReason::kBadMacControl)], 1u);
}

// What an IPv4 frame of 1000 octets says wrongly of itself, and what it is counted as.
struct Lie {
  const char* name;
  DropReason reason;
  std::vector<std::pair<std::size_t, std::uint8_t>> octets;  // offset, value
};

class HostAttachedTo : public HostAttached, public ::testing::WithParamInterface<Lie> {};

TEST_P(HostAttachedTo, SomebodyWhoSendsNonsenseCountsItAndGoesOn) {
  Packet* nonsense = outside({.frame_octets = 1000, .real = true});
  for (const auto& [offset, value] : GetParam().octets) nonsense->header()[offset] = std::byte{value};
  ring.to_send.push_back(nonsense);
  ring.to_send.push_back(outside({.frame_octets = 1000, .real = true}));
  host.poll(at(2_us), {});
  host.advance(at(3_us));
  EXPECT_EQ(wire.sent_data(kPort).size(), 1u) << "the good one";
  const auto drops = host.counters().ports[0].drops;
  for (std::size_t r = 0; r < kDropReasons; ++r)
    EXPECT_EQ(drops[r], r == static_cast<std::size_t>(GetParam().reason) ? 1u : 0u) << name(static_cast<DropReason>(r));
}

INSTANTIATE_TEST_SUITE_P(
    EveryReason, HostAttachedTo,
    ::testing::Values(Lie{"HeaderOfFourWords", DropReason::kBadHeaderLength, {{14, 0x44}}},
                      Lie{"HeaderBeyondThePacket", DropReason::kBadHeaderLength, {{14, 0x4F}, {16, 0}, {17, 40}}},
                      Lie{"LongerThanItIs", DropReason::kBadLength, {{16, 0x7F}, {17, 0xFF}}},
                      Lie{"WrongChecksum", DropReason::kBadChecksum, {{24, 0x12}, {25, 0x34}}},
                      Lie{"WrongVersion", DropReason::kBadVersion, {{14, 0x65}}},
                      Lie{"NothingKnown", DropReason::kUnknownEtherType, {{12, 0x12}, {13, 0x34}}},
                      Lie{"NoPfc", DropReason::kBadMacControl, {{12, 0x88}, {13, 0x08}}},
                      Lie{"TagAndNothingBehind",
                          DropReason::kUnknownEtherType,
                          {{12, 0x81}, {13, 0x00}, {14, 0x00}, {15, 0x01}, {16, 0x12}, {17, 0x34}}}),
    [](const auto& lie) { return lie.param.name; });

// When the fabric pauses a class the NIC stops taking, so that the host outside is held back without loss.
TEST_F(HostAttached, ItStopsTakingWhenTheFabricPausesIt) {
  wire.send_pfc(kPort, at(1_us), 0xFF, {9999, 9999, 9999, 9999, 9999, 9999, 9999, 9999});
  host.advance(at(4_us));
  for (int i = 0; i < 300; ++i) ring.to_send.push_back(outside({.frame_octets = 1000, .real = true}));
  for (int i = 0; i < 50; ++i) {
    host.poll(host.done(), {});
    host.advance(host.done() + 10_ns);
  }
  const std::size_t held = host.counters().queued;
  EXPECT_GE(held, 64u);
  EXPECT_LT(held, 64u + 16) << "a queue and one burst";
  EXPECT_EQ(ring.to_send.size(), 300 - held);
  // After the pause (51.2 us) all of them go.
  while (host.done() < at(200_us)) {
    host.poll(host.done(), {});
    host.advance(host.done() + 1_us);
  }
  EXPECT_TRUE(ring.to_send.empty());
  EXPECT_EQ(wire.sent_data(kPort).size(), 300u);
}

// An attachment that has a queue for each class is asked for those that have room.
TEST_F(HostAttached, APausedClassHoldsBackNoOtherOfAnAttachmentThatTellsThemApart) {
  ring.by_class = true;
  const auto in_windows_from = [&](Instant from) {
    while (host.done() < from + 20_us) {
      host.poll(host.done(), {});
      host.advance(host.done() + 100_ns);
    }
  };
  wire.send_pfc(kPort, at(1_us), 1 << 3, {0, 0, 0, 0xFFFF, 0, 0, 0, 0});
  host.advance(at(4_us));
  for (int i = 0; i < 300; ++i) ring.to_send.push_back(outside({.dscp = 26, .frame_octets = 1000, .real = true}));
  in_windows_from(host.done());
  const std::size_t held = host.counters().queued;
  EXPECT_LT(held, 64u + 32) << "a queue and one burst";
  for (int i = 0; i < 10; ++i) ring.to_send.push_back(outside({.dscp = 0, .frame_octets = 1000, .real = true}));
  in_windows_from(host.done());
  const auto sent = wire.sent_data(kPort);
  ASSERT_EQ(sent.size(), 10u);
  for (const auto& s : sent) EXPECT_EQ(s.packet.traffic_class_octet >> 2, 0);
  EXPECT_EQ(ring.to_send.size(), 300 - held) << "and class 3 waits outside";
  ring.release_packets(wire.pool());
}

TEST_F(HostAttached, AFullRingPausesTheFabric) {
  ring.room = 2;
  for (int i = 0; i < 8; ++i)
    wire.send(kPort, at(2_us + kSlot * i),
              test::make_frame(wire.pool(), FecTable{}, {.to = mac(1), .frame_octets = 1000}));
  in_windows(10_us);
  EXPECT_EQ(ring.given, 2u);
  EXPECT_EQ(host.counters().queued, 6u);
  auto said = wire.sent(kPort);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].pfc().quanta[3], 0xFFFF);
  // Room again: at 2000 octets it lets go.
  ring.room = 100;
  host.poll(at(10_us), {});
  host.advance(at(11_us));
  EXPECT_EQ(ring.given, 8u);
  said = wire.sent(kPort);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].start, at(10_us));
  EXPECT_EQ(said[0].pfc().quanta[3], 0);
}

TEST_F(HostAttached, BeyondTheNicsBufferFramesAreLostAndCounted) {
  ring.room = 0;
  for (int i = 0; i < 12; ++i)
    wire.send(kPort, at(2_us + kSlot * i),
              test::make_frame(wire.pool(), FecTable{}, {.to = mac(1), .frame_octets = 1000}));
  in_windows(10_us);
  EXPECT_EQ(host.counters().ports[0].classes[3].drops[static_cast<std::size_t>(DropReason::kNicReceiveFull)], 2u);
}

// Frames for the host outside are gathered for fewer calls into its driver; until then they are the NIC's.
TEST_F(HostAttached, WhatIsGatheredForItIsHeldUntilThePollAndGivenInFullBursts) {
  constexpr int kFrames = 40;
  for (int i = 0; i < kFrames; ++i)
    wire.send(kPort, at(2_us + kSlot * i),
              test::make_frame(wire.pool(), FecTable{}, {.to = mac(1), .frame_octets = 1000}));
  host.advance(at(20_us));
  EXPECT_EQ(ring.given, 32u);
  EXPECT_EQ(host.counters().queued, 8u);
  std::size_t held = 0;
  host.for_each_held([&](const Packet&) { ++held; });
  EXPECT_EQ(held, 8u);
  // At the end of a run nothing more is taken in.
  ring.to_send.push_back(outside({.frame_octets = 1000, .real = true}));
  host.give_outside(at(20_us));
  EXPECT_EQ(ring.given, 40u);
  EXPECT_EQ(host.counters().queued, 0u);
  EXPECT_EQ(ring.to_send.size(), 1u);
  run(21_us);
}

// ---- PFC of the host outside: its cable ends at the leaf -----------------------------------------------------------

TEST_F(HostAttached, ItsPauseReachesTheLeafAndEndsWhenItRunsOut) {
  say_pfc(1 << 3 | 1 << 5, 1000);  // 5.12 us
  run(20_us);
  const auto said = wire.sent(kPort);
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0].start, at(1_us));
  EXPECT_EQ(said[0].pfc(), (wire::PfcFrame{1 << 3 | 1 << 5, {0, 0, 0, 0xFFFF, 0, 0xFFFF, 0, 0}}));
  EXPECT_EQ(said[1].start, at(1_us + 1000 * kQuantum));
  EXPECT_EQ(said[1].pfc(), (wire::PfcFrame{1 << 3 | 1 << 5, {}}));
  EXPECT_EQ(host.counters().dropped(), 0u);
}

TEST_F(HostAttached, ItLetsTheLeafGoByXonAndProlongsAPauseBySayingItAgain) {
  say_pfc(1 << 3, 1000);
  run(4_us);
  say_pfc(1 << 3, 1000);  // until 9.12 us
  run(9_us);
  EXPECT_EQ(wire.sent(kPort).size(), 1u) << "what stands needs no second word";
  say_pfc(1 << 3, 0);
  run(20_us);
  const auto said = wire.sent(kPort);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].start, at(9_us));
  EXPECT_EQ(said[0].pfc(), (wire::PfcFrame{1 << 3, {}}));
}

TEST_F(HostAttached, AFullRingKeepsTheLeafPausedWhateverTheHostSays) {
  ring.room = 0;
  for (int i = 0; i < 6; ++i) {
    Packet* p = test::make_frame(wire.pool(), FecTable{}, {.to = mac(1), .frame_octets = 1000});
    wire.send(kPort, at(2_us + kSlot * i), p);
  }
  in_windows(10_us);
  EXPECT_EQ(wire.sent(kPort).size(), 1u);
  say_pfc(1 << 3, 1000);
  run(12_us);
  say_pfc(1 << 3, 0);
  run(20_us);
  EXPECT_TRUE(wire.sent(kPort).empty());
  ring.room = 100;
  run(21_us);
  const auto said = wire.sent(kPort);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].pfc(), (wire::PfcFrame{1 << 3, {}}));
}

TEST_F(HostAttached, ItsPauseEndsWithTheLink) {
  say_pfc(1 << 3, 0xFFFF);
  run(2_us);
  EXPECT_EQ(wire.sent(kPort).size(), 1u);
  host.link_down_at(at(3_us), kPort);
  host.link_up_at(at(4_us), kPort);
  run(500_us);
  EXPECT_TRUE(wire.sent(kPort).empty()) << "both ends have forgotten";
}

// 802.3x stops the whole link; nobody in the fabric does that.
TEST_F(HostAttached, APauseOfTheWholeLinkIsNotUnderstood) {
  std::array<std::byte, wire::kMinFrameOctets> octets{};
  wire::write_pfc(octets, mac(9), {.enable = 0xFF, .quanta = {9, 9, 9, 9, 9, 9, 9, 9}});
  wire::write<wire::MacControl::Opcode>(octets.data() + wire::Ethernet::kOctets, wire::mac_control_opcode::kPause);
  say(octets);
  run(10_us);
  EXPECT_TRUE(wire.sent(kPort).empty());
  EXPECT_EQ(host.counters().ports[0].drops[static_cast<std::size_t>(DropReason::kBadMacControl)], 1u);
}

// ---- Hosts that come and go -----------------------------------------------------------------------------------------

TEST_F(HostAttached, WhatWaitsForAHostThatIsTakenAwayIsDroppedAndTheFabricGoesOn) {
  ring.room = 0;
  for (int i = 0; i < 5; ++i)
    wire.send(PortIndex{0}, at(2_us), test::make_frame(wire.pool(), FecTable{}, {.dscp = 26, .frame_octets = 1000}));
  run(10_us);
  run(20_us);
  ASSERT_EQ(wire.sent_control(PortIndex{0}).back().pfc().quanta[3], 65535) << "the leaf is paused";
  const auto gone = host.attach(host.done(), PortIndex{0}, nullptr);
  EXPECT_EQ(gone.get(), &ring);
  EXPECT_TRUE(ring.released);
  EXPECT_FALSE(host.polled());
  host.advance(at(30_us));
  EXPECT_EQ(host.counters().ports[0].classes[3].drops[static_cast<std::size_t>(DropReason::kHostGone)], 5u);
  EXPECT_EQ(wire.sent_control(PortIndex{0}).back().pfc().quanta[3], 0) << "the leaf goes on";
  EXPECT_EQ(host.counters().queued, 0u);
}

TEST_F(HostAttached, WhatAHostHasSaidOfPausingEndsWithIt) {
  say_pfc(0x08, 60'000);
  run(5_us);
  run(10_us);
  ASSERT_EQ(wire.sent_control(PortIndex{0}).back().pfc().quanta[3], 65535);
  host.attach(host.done(), PortIndex{0}, nullptr);
  host.advance(at(20_us));
  EXPECT_EQ(wire.sent_control(PortIndex{0}).back().pfc().quanta[3], 0);
}

TEST_F(HostAttached, WhatWasTakenFromItAndNotSentYetIsCounted) {
  ring.to_send.push_back(outside({.dscp = 26, .frame_octets = 1000, .real = true}));
  host.poll(host.done(), {});
  host.attach(host.done(), PortIndex{0}, nullptr);
  host.advance(at(20_us));
  EXPECT_TRUE(wire.sent(PortIndex{0}).empty());
  EXPECT_EQ(host.counters().ports[0].drops[static_cast<std::size_t>(DropReason::kHostGone)], 1u);
}

TEST_F(HostAttached, AnotherHostTakesItsPlace) {
  Ring& second = *new Ring;
  host.attach(host.done(), PortIndex{0}, std::unique_ptr<Attachment>(&second));
  EXPECT_TRUE(host.polled());
  second.to_send.push_back(outside({.dscp = 26, .frame_octets = 1000, .real = true}));
  wire.send(PortIndex{0}, at(2_us), test::make_frame(wire.pool(), FecTable{}, {.dscp = 26, .frame_octets = 1000}));
  run(10_us);
  host.give_outside(at(10_us));
  EXPECT_EQ(second.given, 1u);
  run(20_us);
  EXPECT_EQ(wire.sent_data(PortIndex{0}).size(), 1u);
}

}  // namespace
}  // namespace railyard
