#include "dataplane/device/egress_port.h"

#include <array>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/instant.h"

namespace railyard {
namespace {

using namespace literals;

constexpr Priority kZero{0};
constexpr Priority kThree{3};
constexpr Priority kFour{4};

// 100 Gb/s: 80 ps per octet. The far end is 100 ns away, takes 600 ns for data and 2 us for pause frames.
class EgressPortTest : public ::testing::Test {
 protected:
  EgressPortTest() {
    channel.propagation = 100_ns;
    channel.data_latency = 600_ns;
    channel.control_latency = 2_us;
    connect();
    port.schedule({}, 9238);
  }
  void connect() {
    port.connect(channel, 100_Gbps);
    port.announce(0xFFFF);
  }
  Packet* enqueue(Priority p, std::uint32_t octets) {
    Packet* packet = &packets[used++];
    port.enqueue(p, {packet, octets, 5, 77});
    return packet;
  }
  void start(Duration now) {
    port.start(
        at(now),
        [&](Packet& p, Priority priority) {
          departed.push_back({&p, priority});
        },
        [&](PriorityMask mask, const std::array<std::uint16_t, kPriorities>& quanta) {
          pfc_mask = mask;
          pfc_quanta = quanta;
          return no_memory ? nullptr : &packets[used++];
        });
  }
  std::vector<InFlight> pushed(Channel::Fifo& fifo) {
    std::vector<InFlight> frames;
    while (const InFlight* f = fifo.front()) {
      frames.push_back(*f);
      fifo.pop();
    }
    return frames;
  }
  ClassCounters counters(Priority p, Duration now) {
    ClassCounters c;
    port.count_live(p, c);
    c.paused = port.paused_time(p, at(now));
    return c;
  }

  struct Departure {
    Packet* packet;
    Priority priority;
    bool operator==(const Departure&) const = default;
  };
  Channel channel{DeviceId{1}, PortIndex{0}};
  EgressPort port;
  std::array<Packet, 64> packets{};
  std::size_t used = 0;
  std::vector<Departure> departed;
  PriorityMask pfc_mask = 0;
  std::array<std::uint16_t, kPriorities> pfc_quanta{};
  bool no_memory = false;
};

TEST_F(EgressPortTest, IdleItWantsNothing) {
  EXPECT_FALSE(port.busy());
  EXPECT_FALSE(port.has_pending_start());
  EXPECT_EQ(port.slot(), Instant::never());
  start(0_ns);
  EXPECT_FALSE(port.busy());
  EXPECT_EQ(port.slot(), Instant::never());
  EXPECT_TRUE(EgressPort{}.connected() == false && port.connected());
}

// A frame of 1000 octets: the port is busy for preamble, frame and gap, 1020 octets = 81.6 ns; the tail arrives after
// preamble and frame, 1008 octets = 80.64 ns, and the propagation, and matters after the latency.
TEST_F(EgressPortTest, AFrameOccupiesThePortAndArrivesLater) {
  Packet* p = enqueue(kThree, 1000);
  EXPECT_TRUE(port.has_pending_start());
  start(1_us);
  EXPECT_TRUE(port.busy());
  EXPECT_EQ(port.slot(), at(1_us + 81'600_ps));
  EXPECT_EQ(departed, (std::vector{Departure{p, kThree}}));
  const auto frames = pushed(channel.data);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].start, at(1_us));
  EXPECT_EQ(frames[0].effect, at(1_us + 80'640_ps + 100_ns + 600_ns));
  EXPECT_EQ(frames[0].packet, p);

  EXPECT_EQ(port.sending().packet, p);
  EXPECT_EQ(port.sending().cells, 5);
  EXPECT_EQ(port.sending().origin, 77);
  EXPECT_EQ(port.sending_priority(), kThree);
  EXPECT_FALSE(port.sent_control());
  port.transmit_end();
  EXPECT_FALSE(port.busy());
  EXPECT_EQ(port.slot(), Instant::never());
}

// 40 octets before a frame and 12 after it: 1052 x 80 ps to the next one, its tail after 1040. Without a gap, and 42
// octets of the frame not on the wire: 958 for both. MAC control frames likewise: 64 + 40, 64 - 42.
TEST_F(EgressPortTest, TheLinksFramingIsWhatAFrameTakesBesidesItsOctets) {
  struct Case {
    Framing framing;
    Duration slot, tail, control_slot, control_tail;
  };
  Duration now = 1_us;
  for (const Case& c : {Case{{40, 12}, 84'160_ps, 83'200_ps, 9'280_ps, 8'320_ps},
                        Case{{-42, 0}, 76'640_ps, 76'640_ps, 1'760_ps, 1'760_ps}}) {
    channel.framing = c.framing;
    connect();
    enqueue(kThree, 1000);
    start(now);
    EXPECT_EQ(port.slot(), at(now + c.slot));
    port.transmit_end();
    port.want_pause(kFour, true);
    start(now + 10_us);
    EXPECT_EQ(port.slot(), at(now + 10_us + c.control_slot));
    port.transmit_end();
    const auto data = pushed(channel.data);
    const auto control = pushed(channel.control);
    ASSERT_EQ(data.size(), 1u);
    ASSERT_EQ(control.size(), 1u);
    EXPECT_EQ(data[0].effect, at(now + c.tail + 700_ns));
    EXPECT_EQ(control[0].effect, at(now + 10_us + c.control_tail + 100_ns + 2_us));
    port.want_pause(kFour, false);
    start(now + 20_us);
    port.transmit_end();
    pushed(channel.control);
    now += 100_us;
  }
}

// A receiver that cuts through sees 128 octets and the preamble: 136 x 80 ps = 10.88 ns; a shorter frame, all of it.
TEST_F(EgressPortTest, ACutThroughReceiverActsOnTheHeader) {
  channel.cut_through = true;
  connect();
  enqueue(kThree, 9000);
  start(0_ns);
  port.transmit_end();
  enqueue(kThree, 64);
  start(10_us);
  const auto frames = pushed(channel.data);
  EXPECT_EQ(frames[0].effect, at(10'880_ps + 700_ns));
  EXPECT_EQ(frames[1].effect, at(10_us + 5'760_ps + 700_ns));
}

TEST_F(EgressPortTest, DepthCountsTheFrameInTransmission) {
  enqueue(kThree, 1000);
  enqueue(kThree, 500);
  enqueue(kFour, 64);
  EXPECT_EQ(port.depth(kThree), 1500u);
  EXPECT_EQ(port.depth(kFour), 64u);
  start(0_ns);  // class 3 or 4; equal weights begin with the class after 0
  EXPECT_EQ(port.sending_priority(), kThree);
  EXPECT_EQ(port.depth(kThree), 1500u);
  EXPECT_EQ(port.queue(kThree).size(), 1u);
  port.transmit_end();
  EXPECT_EQ(port.depth(kThree), 500u);
  const ClassCounters c = counters(kThree, 1_us);
  EXPECT_EQ(c.tx_packets, 1u);
  EXPECT_EQ(c.tx_octets, 1000u);
  EXPECT_EQ(c.depth_octets, 500u);
  EXPECT_EQ(c.max_depth_octets, 1500u);
}

TEST_F(EgressPortTest, NonemptyFollowsTheQueues) {
  EXPECT_EQ(port.nonempty(), 0);
  enqueue(kThree, 100);
  enqueue(kFour, 100);
  EXPECT_EQ(port.nonempty(), bit(kThree) | bit(kFour));
  start(0_ns);
  EXPECT_EQ(port.nonempty(), bit(kFour));
}

TEST_F(EgressPortTest, FlushTakesAFrameWithoutSendingIt) {
  Packet* first = enqueue(kThree, 100);
  enqueue(kThree, 200);
  EXPECT_EQ(port.flush(kThree).packet, first);
  EXPECT_EQ(port.depth(kThree), 200u);
  EXPECT_EQ(port.nonempty(), bit(kThree));
  EXPECT_EQ(port.flush(kThree).octets, 200u);
  EXPECT_EQ(port.nonempty(), 0);
  EXPECT_EQ(counters(kThree, 1_us).tx_packets, 0u);
  EXPECT_TRUE(pushed(channel.data).empty());
}

// ---- Being paused --------------------------------------------------------------------------------------------------

// 100 quanta of 5.12 ns.
TEST_F(EgressPortTest, APausedClassWaitsForItsExpiryAndNoOtherDoes) {
  port.pause(at(0_ns), bit(kThree), {0, 0, 0, 100});
  EXPECT_EQ(port.paused(at(0_ns)), bit(kThree));
  Packet* held = enqueue(kThree, 100);
  start(10_ns);
  EXPECT_FALSE(port.busy());
  EXPECT_EQ(port.slot(), at(512_ns)) << "the port's timer";
  EXPECT_EQ(port.first_expiry(0xFF), at(512_ns));

  Packet* other = enqueue(kFour, 1000);
  start(20_ns);
  EXPECT_EQ(port.sending().packet, other);
  port.transmit_end();
  start(20_ns + 81'600_ps);
  EXPECT_EQ(port.slot(), at(512_ns));
  start(512_ns);
  EXPECT_EQ(port.sending().packet, held);
  EXPECT_EQ(counters(kThree, 1_us).paused, 512_ns);
}

TEST_F(EgressPortTest, TheTimerMovesBothWays) {
  enqueue(kThree, 100);
  port.pause(at(0_ns), bit(kThree), {0, 0, 0, 100});
  start(0_ns);
  EXPECT_EQ(port.slot(), at(512_ns));
  port.pause(at(1_ns), bit(kThree), {0, 0, 0, 1000});
  start(1_ns);
  EXPECT_EQ(port.slot(), at(5121_ns));
  port.pause(at(2_ns), bit(kThree), {0, 0, 0, 10});
  start(2_ns);
  EXPECT_EQ(port.slot(), at(53'200_ps));
  port.pause(at(3_ns), bit(kThree), {});
  start(3_ns);
  EXPECT_TRUE(port.busy()) << "XON";
}

TEST_F(EgressPortTest, TheTimerIsForTheFirstOfTheClassesThatHaveSomething) {
  port.pause(at(0_ns), bit(kZero) | bit(kThree) | bit(kFour), {10, 0, 0, 300, 200});
  enqueue(kThree, 100);
  enqueue(kFour, 100);
  start(0_ns);
  EXPECT_EQ(port.slot(), at(1024_ns)) << "class 4; class 0 is empty";
}

// IEEE 802.1Q: a frame that has begun is finished.
TEST_F(EgressPortTest, ALookIsWhatTheSamplesOfItsClassesAddUpTo) {
  enqueue(kZero, 1000);
  start(0_ns);
  enqueue(kThree, 500);
  enqueue(kFour, 300);
  port.pause(at(0_ns), bit(kThree), {0, 0, 0, 100});
  const PortLook look = port.look(at(40_ns));
  QueueSample all;
  for (std::uint8_t k = 0; k < kPriorities; ++k) {
    const QueueSample s = port.sample(Priority{k}, at(40_ns));
    all.depth_octets += s.depth_octets;
    all.tx_octets += s.tx_octets;
    all.paused += s.paused;
  }
  EXPECT_EQ(look.depth_octets, 1800u);
  EXPECT_EQ(look.depth_octets, all.depth_octets);
  EXPECT_EQ(look.tx_octets, all.tx_octets);
  EXPECT_EQ(look.paused, 40_ns);
  EXPECT_EQ(look.paused, all.paused);
  EXPECT_TRUE(look.held);
  EXPECT_FALSE(port.look(at(10_us)).held);
}

TEST_F(EgressPortTest, APauseDoesNotStopTheFrameInTransmission) {
  enqueue(kThree, 1000);
  enqueue(kThree, 1000);
  start(0_ns);
  const Instant end = port.slot();
  port.pause(at(1_ns), bit(kThree), {0, 0, 0, 0xFFFF});
  EXPECT_EQ(port.slot(), end);
  port.transmit_end();
  start(81'600_ps);
  EXPECT_FALSE(port.busy());
}

// ---- Pausing the peer ----------------------------------------------------------------------------------------------

// 64 octets and preamble, 72 x 80 ps = 5.76 ns; with the gap the port is busy for 84 x 80 ps = 6.72 ns.
TEST_F(EgressPortTest, MacControlGoesFirstAndIsNotItselfPaused) {
  Packet* data = enqueue(kThree, 1000);
  port.pause(at(0_ns), 0xFF, {9, 9, 9, 9, 9, 9, 9, 9});
  EXPECT_TRUE(port.want_pause(kFour, true));
  start(1_ns);
  EXPECT_TRUE(port.busy());
  EXPECT_TRUE(port.sent_control());
  EXPECT_EQ(port.sending().packet, nullptr);
  EXPECT_EQ(pfc_mask, bit(kFour));
  EXPECT_EQ(pfc_quanta[4], 0xFFFF);
  EXPECT_EQ(port.slot(), at(1_ns + 6'720_ps));
  const auto frames = pushed(channel.control);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].effect, at(1_ns + 5'760_ps + 100_ns + 2_us)) << "from its tail, after the response time";
  EXPECT_TRUE(pushed(channel.data).empty());
  EXPECT_EQ(port.tx_control(), 1u);
  EXPECT_EQ(counters(kFour, 1_us).xoff_sent, 1u);
  EXPECT_EQ(counters(kFour, 1_us).tx_packets, 0u) << "not among the class's frames";

  port.transmit_end();
  EXPECT_FALSE(port.sent_control());
  start(46'080_ps);  // 9 quanta
  EXPECT_EQ(port.sending().packet, data);
}

TEST_F(EgressPortTest, MacControlDoesNotPreempt) {
  enqueue(kThree, 9000);
  start(0_ns);
  const Instant end = port.slot();
  EXPECT_TRUE(port.want_pause(kThree, true));
  EXPECT_EQ(port.slot(), end);
  EXPECT_TRUE(port.has_pending_start());
  // Taken back before the frame could start: nothing is said.
  EXPECT_FALSE(port.want_pause(kThree, false));
  port.transmit_end();
  EXPECT_FALSE(port.has_pending_start());
}

TEST_F(EgressPortTest, ARefreshIsDueAfterHalfThePause) {
  port.want_pause(kThree, true);
  start(0_ns);
  EXPECT_EQ(port.refresh_due(), at(0_ns) + 5'120_ps * 0xFFFF / 2);
  port.transmit_end();
  EXPECT_FALSE(port.has_pending_start());
  port.refresh(port.refresh_due());
  EXPECT_TRUE(port.has_pending_start());
  start(167_us);
  EXPECT_TRUE(port.sent_control());
  EXPECT_TRUE(port.wants_pause(kThree));
}

TEST_F(EgressPortTest, WithoutMemoryForThePfcFrameDataIsStillSent) {
  no_memory = true;
  Packet* data = enqueue(kZero, 100);
  port.want_pause(kThree, true);
  start(0_ns);
  EXPECT_EQ(port.sending().packet, data);
  EXPECT_EQ(port.tx_control(), 0u);
}

// ---- Link down -----------------------------------------------------------------------------------------------------

TEST_F(EgressPortTest, ALinkThatGoesDownForgetsPausesOfBothDirections) {
  enqueue(kThree, 100);
  port.pause(at(0_ns), bit(kThree), {0, 0, 0, 0xFFFF});
  port.want_pause(kFour, true);
  start(0_ns);
  port.transmit_end();
  port.link_down(at(1_us));
  EXPECT_EQ(port.paused(at(1_us)), 0);
  EXPECT_EQ(port.refresh_due(), Instant::never());
  EXPECT_TRUE(port.wants_pause(kFour));
  start(2_us);  // the link is up again
  EXPECT_TRUE(port.sent_control()) << "what is wanted is said again";
  port.transmit_end();
  start(3_us);
  EXPECT_EQ(port.sending_priority(), kThree);
  EXPECT_EQ(counters(kThree, 5_us).paused, 1_us);
}

TEST_F(EgressPortTest, ALinkThatIsDownWaitsForNoPauseToRunOut) {
  enqueue(kThree, 100);
  port.pause(at(0_ns), bit(kThree), {0, 0, 0, 0xFFFF});
  start(0_ns);
  EXPECT_NE(port.slot(), Instant::never());
  port.link_down(at(1_us));
  EXPECT_EQ(port.slot(), Instant::never());
}

}  // namespace
}  // namespace railyard
