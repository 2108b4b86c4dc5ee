// Credit-based flow control at the two ends of a link.
#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/device/credit_receiver.h"
#include "dataplane/device/credit_sender.h"
#include "dataplane/device/egress_port.h"
#include "tests/support/instant.h"

namespace railyard {
namespace {

using namespace literals;
using wire::CreditMessage;
using wire::CreditMessageType;

constexpr Priority kCredited{3};
constexpr Priority kFree{4};

// 40 cells of 256 octets for class 3, which tells when 4 are free; class 4 has none.
CreditConfig forty_cells() {
  CreditConfig c;
  c.classes[3] = {.cells = 40, .update = 4};
  c.sync = 50_us;
  return c;
}

CreditMessage freed(std::uint32_t cells, std::uint8_t epoch = 0) {
  CreditMessage m{CreditMessageType::kFreed, epoch, bit(kCredited), {}};
  m.count[3] = cells;
  return m;
}

PriorityMask may_start(CreditSender& s, Instant now, std::uint32_t octets) {
  return s.affordable(now, bit(kCredited), [&](Priority) { return octets; });
}

TEST(CreditSender, AFrameStartsWhenThereIsRoomForAllOfIt) {
  CreditSender s(forty_cells());
  EXPECT_EQ(s.available(kCredited), 40);
  for (int n = 0; n < 2; ++n) {
    EXPECT_EQ(may_start(s, at(0_ns), 4158), bit(kCredited));
    const CreditStamp stamp = s.consume(at(0_ns), kCredited, 4158);
    EXPECT_EQ(stamp.cells, 17) << "whole cells";
    EXPECT_EQ(stamp.priority, 3);
  }
  EXPECT_EQ(s.available(kCredited), 6);
  EXPECT_EQ(may_start(s, at(1_us), 4158), 0);
  EXPECT_EQ(may_start(s, at(1_us), 6 * 256), bit(kCredited));
  EXPECT_EQ(may_start(s, at(1_us), 6 * 256 + 1), 0);
  s.hear(freed(11));
  EXPECT_EQ(may_start(s, at(2_us), 4158), bit(kCredited));
}

TEST(CreditSender, OtherClassesNeedNone) {
  CreditSender s(forty_cells());
  EXPECT_EQ(s.consume(at(0_ns), kFree, 9000).cells, 0);
  s.consume(at(0_ns), kCredited, 40 * 256);
  EXPECT_EQ(s.affordable(at(0_ns), 0x18, [](Priority) { return 64u; }), bit(kFree));
}

TEST(CreditSender, TheTimeThatAFrameWaitsIsCounted) {
  CreditSender s(forty_cells());
  s.consume(at(0_ns), kCredited, 40 * 256);
  may_start(s, at(1_us), 64);
  may_start(s, at(2_us), 64);
  EXPECT_EQ(s.stalled_since(kCredited), at(1_us));
  EXPECT_EQ(s.stalled_time(kCredited, at(4_us)), 3_us);
  s.hear(freed(1));
  may_start(s, at(5_us), 64);
  EXPECT_EQ(s.stalled_since(kCredited), Instant::never());
  EXPECT_EQ(s.stalled_time(kCredited, at(9_us)), 4_us);
  // A queue that was emptied waits for nothing.
  s.consume(at(9_us), kCredited, 256);
  may_start(s, at(10_us), 64);
  s.affordable(at(12_us), 0, [](Priority) { return 64u; });
  EXPECT_EQ(s.stalled_time(kCredited, at(20_us)), 6_us);
}

TEST(CreditSender, SoIsThatOfFramesThatAreNotMadeYet) {
  CreditSender s(forty_cells());
  s.consume(at(0_ns), kCredited, 38 * 256);
  EXPECT_EQ(s.withhold(at(1_us), 0xFF, 1024), bit(kCredited));
  s.affordable(at(1_us), 0, [](Priority) { return 64u; });
  EXPECT_EQ(s.stalled_since(kCredited), at(1_us));
  s.hear(freed(2));
  EXPECT_EQ(s.withhold(at(3_us), 0xFF, 1024), 0);
  s.affordable(at(3_us), 0, [](Priority) { return 64u; });
  EXPECT_EQ(s.stalled_time(kCredited, at(9_us)), 2_us);
}

TEST(CreditSender, CountsGoRoundAndNothingHappens) {
  CreditConfig c = forty_cells();
  c.classes[3].cells = 1u << 30;
  CreditSender s(c);
  CreditReceiver r(c);
  for (int n = 0; n < 10; ++n) {  // 2^29 cells at a time: round more than once
    ASSERT_EQ(s.available(kCredited), 1 << 30) << n;
    for (int k = 0; k < 8192; ++k) r.arrive(s.consume(at(0_ns), kCredited, 65535 * 256));
    ASSERT_EQ(s.available(kCredited), (1 << 30) - 8192 * 65535) << n;
    ASSERT_TRUE(r.hold(kCredited, 0)) << n;
    s.hear(r.take());
  }
}

TEST(CreditSender, AsksWhileNotEverythingIsFree) {
  CreditSender s(forty_cells());
  EXPECT_EQ(s.sync_due(), Instant::never());
  s.consume(at(1_us), kCredited, 256);
  s.consume(at(2_us), kCredited, 256);
  EXPECT_EQ(s.sync_due(), at(51_us));
  s.sync(at(51_us));
  ASSERT_TRUE(s.pending());
  const CreditMessage m = s.take(at(52_us));
  EXPECT_EQ(m.type, CreditMessageType::kConsumed);
  EXPECT_EQ(m.classes, bit(kCredited));
  EXPECT_EQ(m.count[3], 2u);
  EXPECT_EQ(s.sync_due(), at(102_us)) << "again, if no answer comes";
  s.hear(freed(2));
  s.sync(at(102_us));
  EXPECT_FALSE(s.pending());
  EXPECT_EQ(s.sync_due(), Instant::never()) << "an idle link is silent";
}

TEST(CreditSender, AfterTheLinkWasDownItWaitsToHearWhatIsFree) {
  CreditSender s(forty_cells());
  s.consume(at(1_us), kCredited, 20 * 256);
  s.link_down(at(2_us));
  EXPECT_EQ(may_start(s, at(3_us), 64), 0);
  s.link_up(at(10_us));
  EXPECT_EQ(s.sync_due(), at(60_us)) << "or asks";
  s.hear(freed(20, 0));
  EXPECT_EQ(may_start(s, at(11_us), 64), 0) << "said before the link went down";
  s.hear(freed(std::uint32_t{0} - 12, 1));
  EXPECT_EQ(s.available(kCredited), 28) << "12 cells are still held";
  s.sync(at(60_us));
  EXPECT_TRUE(s.pending());
}

CreditStamp stamp(std::uint16_t cells, std::uint8_t epoch = 0) {
  return {cells, 3, static_cast<std::uint8_t>(epoch & 31)};
}

TEST(CreditReceiver, TellsWhenEnoughIsFree) {
  CreditReceiver r(forty_cells());
  r.arrive(stamp(17));
  EXPECT_FALSE(r.hold(kCredited, 17));
  EXPECT_FALSE(r.hold(kCredited, 14)) << "3 are not worth it";
  EXPECT_TRUE(r.hold(kCredited, 13));
  EXPECT_TRUE(r.hold(kCredited, 5)) << "not said yet: more is free by now";
  const CreditMessage m = r.take();
  EXPECT_EQ(m.type, CreditMessageType::kFreed);
  EXPECT_EQ(m.classes, bit(kCredited));
  EXPECT_EQ(m.count[3], 12u);
  EXPECT_EQ(r.pending(), 0);
  EXPECT_FALSE(r.hold(kCredited, 2));
}

TEST(CreditReceiver, WhatIsNotHeldIsFreeAtOnce) {
  CreditReceiver r(forty_cells());
  r.arrive(stamp(17));
  EXPECT_TRUE(r.hold(kCredited, 0));
  EXPECT_EQ(r.take().count[3], 17u);
}

TEST(CreditReceiver, WhatTheLinkHasLostIsFreeWhenTheSenderAsks) {
  CreditReceiver r(forty_cells());
  r.arrive(stamp(10));
  r.lose(Instant{5000}, stamp(17));
  EXPECT_TRUE(r.hold(kCredited, 0));
  EXPECT_EQ(r.take().count[3], 10u);
  // It would have come after this: the fault of the link only says so before.
  r.hear(Instant{4999}, {CreditMessageType::kConsumed, 0, bit(kCredited), {}});
  EXPECT_EQ(r.pending(), bit(kCredited)) << "an answer, whatever has changed";
  EXPECT_EQ(r.take().count[3], 10u);
  r.hear(Instant{5000}, {CreditMessageType::kConsumed, 0, bit(kCredited), {}});
  EXPECT_EQ(r.take().count[3], 27u);
  r.hear(Instant{6000}, {CreditMessageType::kConsumed, 0, bit(kCredited), {}});
  EXPECT_EQ(r.take().count[3], 27u) << "once";
}

TEST(CreditReceiver, WhatItHoldsFromBeforeTheLinkWasDownIsNotFree) {
  CreditReceiver r(forty_cells());
  r.arrive(stamp(17));
  r.hold(kCredited, 17);
  r.link_down();
  r.arrive(stamp(5));
  EXPECT_FALSE(r.hold(kCredited, 22)) << "it had arrived before, and takes effect only now";
  r.link_up();
  EXPECT_EQ(r.take().count[3], std::uint32_t{0} - 22);
  EXPECT_TRUE(r.hold(kCredited, 0));
  EXPECT_EQ(r.take().count[3], 0u);
  r.arrive(stamp(4, 1));
  EXPECT_TRUE(r.hold(kCredited, 0));
  const CreditMessage m = r.take();
  EXPECT_EQ(m.count[3], 4u);
  EXPECT_EQ(m.epoch, 1);
  r.hear(Instant{1}, {CreditMessageType::kConsumed, 0, bit(kCredited), {}});
  EXPECT_EQ(r.pending(), 0) << "an old question";
}

// 100 Gb/s: 80 ps per octet. The far end is 100 ns away and takes 600 ns for data, 2 us for MAC control.
class CreditPortTest : public ::testing::Test {
 protected:
  CreditPortTest() {
    channel.propagation = 100_ns;
    channel.data_latency = 600_ns;
    channel.control_latency = 2_us;
    port.connect(channel, 100_Gbps);
    port.announce(0xFFFF);
    port.schedule({}, 9238);
    port.use_credits(forty_cells(), forty_cells());
  }
  Packet* enqueue(Priority p, std::uint32_t octets) {
    Packet* packet = &packets[used++];
    packet->frame_octets = octets;
    packet->credits = {999, 7, 9};  // of another link
    port.enqueue(p, {packet, octets, 5, 77});
    return packet;
  }
  void start(Instant now) {
    port.start(
        now, [](Packet&, Priority) {},
        [&](PriorityMask, const std::array<std::uint16_t, kPriorities>&) { return &packets[used++]; },
        EgressPort::NoReports{},
        [&](const CreditMessage& m) {
          if (no_memory) return static_cast<Packet*>(nullptr);
          said.push_back(m);
          return &packets[used++];
        });
  }
  std::vector<InFlight> pushed(Channel::Fifo& fifo) {
    std::vector<InFlight> frames;
    for (; const InFlight* f = fifo.front(); fifo.pop()) frames.push_back(*f);
    return frames;
  }

  Channel channel{DeviceId{1}, PortIndex{0}};
  EgressPort port;
  std::array<Packet, 16> packets{};
  std::size_t used = 0;
  bool no_memory = false;
  std::vector<CreditMessage> said;
};

TEST_F(CreditPortTest, AFrameThatHasNoCreditsWaitsAndOthersPassIt) {
  Packet* first = enqueue(kCredited, 9000);  // 36 cells
  Packet* second = enqueue(kCredited, 2000);
  Packet* third = enqueue(kFree, 9000);
  start(at(0_ns));
  EXPECT_EQ(port.sending().packet, first);
  EXPECT_EQ(first->credits.cells, 36);
  Instant now = port.slot();
  port.transmit_end();
  start(now);
  EXPECT_EQ(port.sending().packet, third);
  EXPECT_EQ(third->credits.cells, 0) << "a class without credits";
  now = port.slot();
  port.transmit_end();
  start(now);
  EXPECT_FALSE(port.busy());
  EXPECT_EQ(port.slot(), Instant::never()) << "nothing but an update lets it go";
  EXPECT_EQ(port.held_since(kCredited, now), at(0_ns) + 9020 * 80_ps);
  EXPECT_EQ(port.held_back(now, 0xFF, 1025), bit(kCredited));
  EXPECT_EQ(port.held_back(now, 0xFF, 1024), 0);
  port.hear_credits(Instant{}, freed(36));
  start(at(3_us));
  EXPECT_EQ(port.sending().packet, second);
  EXPECT_EQ(port.stalled_time(kCredited, at(9_us)), 3_us - 9020 * 80_ps);
}

TEST_F(CreditPortTest, AnUpdateIsAnOrderedSetBetweenTwoFrames) {
  enqueue(kFree, 1000);
  Packet* next = enqueue(kFree, 1000);
  start(at(0_ns));
  port.credit_arrival(Instant{}, stamp(17), false);
  EXPECT_TRUE(port.credit_hold(kCredited, 0));
  EXPECT_TRUE(port.has_pending_control());
  const Instant end = port.slot();
  port.transmit_end();
  start(end);
  EXPECT_TRUE(port.sent_control());
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0], freed(17));
  EXPECT_EQ(port.slot(), end + 8 * 80_ps) << "no preamble, no gap";
  EXPECT_EQ(pushed(channel.control).at(0).effect, end + 8 * 80_ps + 2100_ns);
  port.transmit_end();
  start(end + 8 * 80_ps);
  EXPECT_EQ(port.sending().packet, next);
  PortCounters c;
  port.count_credits(c);
  EXPECT_EQ(c.credit_messages_sent, 1u);
  EXPECT_EQ(c.credit_octets_sent, 8u);
  EXPECT_EQ(port.tx_control(), 1u);
}

TEST_F(CreditPortTest, AQuestionIsAFrameAndDueWhileAnythingIsOut) {
  enqueue(kCredited, 1000);
  start(at(1_us));
  EXPECT_EQ(port.refresh_due(), at(51_us));
  port.transmit_end();
  port.refresh(at(51_us));
  start(at(51_us));
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].type, CreditMessageType::kConsumed);
  EXPECT_EQ(said[0].count[3], 4u);
  EXPECT_EQ(port.slot(), at(51_us) + 84 * 80_ps);
  EXPECT_EQ(port.refresh_due(), at(101_us));
}

TEST_F(CreditPortTest, WithoutMemoryForAMessageDataIsStillSent) {
  no_memory = true;
  Packet* data = enqueue(kCredited, 1000);
  port.credit_arrival(Instant{}, stamp(17), false);
  port.credit_hold(kCredited, 0);
  start(at(0_ns));
  EXPECT_EQ(port.sending().packet, data);
  EXPECT_EQ(port.tx_control(), 0u);
}

TEST_F(CreditPortTest, PausesHoldBackAsWell) {
  enqueue(kCredited, 1000);
  port.pause(at(0_ns), bit(kCredited), {0, 0, 0, 0xFFFF});
  start(at(0_ns));
  EXPECT_FALSE(port.busy());
  EXPECT_EQ(port.stalled_time(kCredited, at(5_us)), 0_ns) << "credits are not what it lacks";
}

}  // namespace
}  // namespace railyard
