#include "dataplane/device/link_retry.h"

#include <array>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/device/egress_port.h"
#include "tests/support/instant.h"

namespace railyard {
namespace {

using namespace literals;
namespace act = frame_action;

// 100 Gb/s: 80 ps per octet. The far end is 100 ns away and takes 600 ns for data, 2 us for pause frames; both ends
// together take 150 ns to tell of a frame that came in wrong.
class LinkRetryTest : public ::testing::Test {
 protected:
  static constexpr Priority kThree{3};
  static constexpr Priority kFour{4};
  // A frame of 1000 octets and its preamble 80.64 ns, there 100 ns, the ends 150 ns, an ordered set 0.64 ns, back 100 ns.
  static constexpr Duration kRound{431'280};

  LinkRetryTest() {
    channel.propagation = 100_ns;
    channel.data_latency = 600_ns;
    channel.control_latency = 2_us;
    port.connect(channel, 100_Gbps);
    port.announce(0xFFFF);
    port.schedule({}, 9238);
    port.retry_through(retry);
  }
  // Hits every frame that `config` says.
  std::shared_ptr<FrameFault> hit(FrameFaultConfig config) {
    auto fault = std::make_shared<FrameFault>(std::move(config), Seed{1}, "fault/t/leaf1:1");
    retry.add(fault);
    port.retry_through(retry);
    return fault;
  }
  static FrameFaultConfig the_first(std::uint64_t n) {
    return {.action = act::BitError{BitErrors(1, 1)}, .most = n, .lanes = {true, true}};
  }
  Packet* enqueue(Priority p, std::uint32_t octets) {
    Packet* packet = &packets[used++];
    packet->frame_octets = octets;
    port.enqueue(p, {packet, octets, 5, 77});
    return packet;
  }
  void start(Instant now) {
    port.start(
        now, [&](Packet& p, Priority) { departed.push_back(&p); },
        [&](PriorityMask, const std::array<std::uint16_t, kPriorities>&) { return &packets[used++]; });
  }
  // All that the port does by itself from `now` on.
  void run(Instant now) {
    for (start(now); port.busy(); start(now)) {
      now = port.slot();
      port.transmit_end();
    }
  }
  std::vector<InFlight> pushed(Channel::Fifo& fifo) {
    std::vector<InFlight> frames;
    for (; const InFlight* f = fifo.front(); fifo.pop()) frames.push_back(*f);
    return frames;
  }

  Channel channel{DeviceId{1}, PortIndex{0}};
  EgressPort port;
  LinkRetry retry{{.turnaround = 150_ns}, 100_ns};
  std::array<Packet, 16> packets{};
  std::size_t used = 0;
  std::vector<Packet*> departed;
};

TEST_F(LinkRetryTest, AFrameThatIsHitBeginsAgainWhenItsNackIsThere) {
  hit(the_first(1));
  Packet* p = enqueue(kThree, 1000);
  start(at(1_us));
  EXPECT_TRUE(port.busy());
  EXPECT_EQ(port.slot(), at(1_us + kRound));
  EXPECT_EQ(port.sending().packet, nullptr) << "there is nothing to release";
  EXPECT_EQ(port.depth(kThree), 1000u);
  EXPECT_EQ(port.queue(kThree).size(), 1u) << "in its queue, and in no books but that";
  EXPECT_EQ(port.tx_packets(kThree), 0u);
  EXPECT_TRUE(pushed(channel.data).empty());

  port.transmit_end();
  start(at(1_us + kRound));
  const auto frames = pushed(channel.data);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].packet, p);
  EXPECT_EQ(frames[0].start, at(1_us + kRound));
  EXPECT_EQ(frames[0].effect, at(1_us + kRound + 80'640_ps + 700_ns));
  EXPECT_EQ(port.slot(), at(1_us + kRound + 81'600_ps));
  EXPECT_EQ(port.tx_packets(kThree), 1u);
  EXPECT_EQ(departed.size(), 1u) << "it has left once, the first time";
  port.transmit_end();
  EXPECT_EQ(port.depth(kThree), 0u);
}

TEST_F(LinkRetryTest, AReplayMayBeHitAsWell) {
  hit(the_first(3));
  enqueue(kThree, 1000);
  run(at(0_ns));
  const auto frames = pushed(channel.data);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].start, at(3 * kRound));
  const LinkRetryCounters c = retry.counters();
  EXPECT_EQ(c.frames, 1u);
  EXPECT_EQ(c.replays, 3u);
  EXPECT_EQ(c.late, 3 * kRound);
}

TEST_F(LinkRetryTest, CountsHowMuchLaterFramesCame) {
  hit({.action = act::BitError{BitErrors(1, 1)}, .match = {.least_octets = 500}, .most = 2});
  enqueue(kThree, 1000);  // twice
  enqueue(kThree, 100);
  run(at(0_ns));
  hit({.action = act::BitError{BitErrors(1, 1)}, .match = {.least_octets = 500}, .most = 1});
  enqueue(kThree, 1500);
  run(at(10_us));
  const LinkRetryCounters c = retry.counters();
  EXPECT_EQ(c.frames, 2u);
  EXPECT_EQ(c.replays, 3u);
  EXPECT_EQ(c.least_late, kRound + 40_ns) << "500 octets longer";
  EXPECT_EQ(c.most_late, 2 * kRound);
  EXPECT_EQ(c.mean_late(), (3 * kRound + 40_ns) / 2);
  LinkRetryCounters both = c;
  both.add({.on = true, .frames = 1, .replays = 1, .late = 1_us, .least_late = 1_us, .most_late = 1_us});
  both.add({});
  EXPECT_EQ(both.least_late, c.least_late);
  EXPECT_EQ(both.most_late, 1_us);
  EXPECT_EQ(both.frames, 3u);
}

TEST_F(LinkRetryTest, NothingOvertakesAFrameThatIsRetried) {
  hit({.action = act::BitError{BitErrors(1, 1)}, .most = 1});
  Packet* first = enqueue(kThree, 1000);
  start(at(0_ns));
  Packet* other = enqueue(kFour, 64);
  port.want_pause(kFour, true);
  port.pause(at(10_ns), bit(kThree), {0, 0, 0, 0xFFFF});
  port.transmit_end();
  run(at(kRound));
  const auto data = pushed(channel.data);
  const auto control = pushed(channel.control);
  ASSERT_EQ(data.size(), 2u);
  ASSERT_EQ(control.size(), 1u);
  EXPECT_EQ(data[0].packet, first) << "it was on the wire before its class was paused";
  EXPECT_EQ(data[0].start, at(kRound));
  EXPECT_EQ(control[0].start, at(kRound + 81'600_ps));
  EXPECT_EQ(data[1].packet, other);
}

TEST_F(LinkRetryTest, MacControlIsRetriedToo) {
  hit(the_first(2));
  port.want_pause(kThree, true);
  start(at(0_ns));
  constexpr Duration round = 5'760_ps + 640_ps + 350_ns;
  EXPECT_EQ(port.slot(), at(round));
  EXPECT_EQ(port.tx_control(), 0u);
  port.transmit_end();
  run(at(round));
  const auto control = pushed(channel.control);
  ASSERT_EQ(control.size(), 1u);
  EXPECT_EQ(control[0].start, at(2 * round));
  EXPECT_EQ(control[0].effect, at(2 * round + 5'760_ps + 100_ns + 2_us));
  EXPECT_EQ(retry.counters().frames, 1u);
  EXPECT_EQ(retry.counters().late, 2 * round);
}

TEST_F(LinkRetryTest, WhatThereIsNothingToSayOfAnyMoreIsNotRetried) {
  hit(the_first(1));
  port.want_pause(kThree, true);
  start(at(0_ns));
  port.want_pause(kThree, false);
  port.transmit_end();
  run(at(10_us));
  EXPECT_TRUE(pushed(channel.control).empty());
  EXPECT_EQ(retry.counters().frames, 0u);
  EXPECT_EQ(retry.counters().replays, 1u);
  port.want_pause(kThree, true);
  run(at(20_us));
  EXPECT_EQ(retry.counters().frames, 0u) << "another frame, which nothing has hit";
}

TEST_F(LinkRetryTest, AQueueThatIsEmptiedForgetsWhatItRetried) {
  hit(the_first(1));
  Packet* first = enqueue(kThree, 1000);
  start(at(0_ns));
  EXPECT_TRUE(port.retries(kThree));
  EXPECT_FALSE(port.retries(kFour));
  EXPECT_EQ(port.flush(kThree).packet, first);
  EXPECT_FALSE(port.retries(kThree));
  EXPECT_EQ(port.depth(kThree), 0u);
  EXPECT_TRUE(port.busy()) << "until the NACK would have been there";
  Packet* other = enqueue(kFour, 100);
  port.transmit_end();
  run(at(kRound));
  const auto data = pushed(channel.data);
  ASSERT_EQ(data.size(), 1u);
  EXPECT_EQ(data[0].packet, other);
  EXPECT_EQ(retry.counters().frames, 0u);
}

TEST_F(LinkRetryTest, WhatIsTruncatedHasNoFcsEither) {
  const auto fault = hit({.action = act::Truncate{100}, .most = 1});
  enqueue(kThree, 80);  // as long as it is
  enqueue(kThree, 1000);
  run(at(0_ns));
  const auto data = pushed(channel.data);
  ASSERT_EQ(data.size(), 2u);
  EXPECT_EQ(data[0].start, at(0_ns));
  EXPECT_EQ(data[1].start, at(8_ns + kRound));
  EXPECT_EQ(data[1].packet->frame_octets, 1000u);
  EXPECT_EQ(fault->touched(), 1u);
}

TEST_F(LinkRetryTest, AFaultThatHasEndedHitsNothing) {
  const auto fault = hit({.action = act::BitError{BitErrors(1, 1)}});
  fault->end_at(at(1_us));
  enqueue(kThree, 1000);
  run(at(0_ns));
  const auto data = pushed(channel.data);
  ASSERT_EQ(data.size(), 1u);
  EXPECT_EQ(data[0].start, at(3 * kRound)) << "the first start that is not before 1 us";
  retry.prune(at(2_us));
  EXPECT_FALSE(retry.active());
}

// No cable and no turnaround: an ordered set is shorter than the gap.
TEST_F(LinkRetryTest, AFrameNeverBeginsAgainBeforeItsGap) {
  Channel none{DeviceId{1}, PortIndex{0}};
  LinkRetry at_once{{.turnaround = 0_ns}, 0_ns};
  port.connect(none, 100_Gbps);
  at_once.add(std::make_shared<FrameFault>(the_first(1), Seed{1}, "fault/t/leaf1:1"));
  port.retry_through(at_once);
  enqueue(kThree, 1000);
  start(at(0_ns));
  EXPECT_EQ(port.slot(), at(81'600_ps));
}

}  // namespace
}  // namespace railyard
