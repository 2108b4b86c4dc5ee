#include "dataplane/device/int_source.h"

#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/frames.h"

namespace railyard {
namespace {

using namespace literals;

class IntSourceTest : public testing::Test {
 protected:
  static constexpr Priority kClass{3};

  Packet* frame(std::uint64_t stream, std::uint64_t offset) {
    return test::make_frame(pool, FecTable{}, {.stream = stream, .offset = offset});
  }
  // How many of `n` packets are wanted.
  int wanted(const IntSampling& sampling, int n, Seed seed = Seed{1}) {
    IntSource source(1);
    source.begin(seed, sampling);
    Packet* p = frame(1, 0);
    int all = 0;
    for (int i = 0; i < n; ++i) {
      p->stream = static_cast<std::uint64_t>(i % 7);
      p->offset = static_cast<std::uint64_t>(i / 7) * 4096;
      all += source.wants(*p, kClass) ? 1 : 0;
    }
    pool.release(p);
    return all;
  }
  // Of a packet that is sampled.
  static IntStack& stack_of(const Packet& packet) {
    IntStack* const stack = int_stack(packet);
    return stack != nullptr ? *stack : throw std::logic_error("the packet is not sampled");
  }
  std::vector<std::uint64_t> ended(IntSource& source) {
    std::vector<std::uint64_t> offsets;
    source.take_ended([&](const IntStack& s) { offsets.push_back(s.offset()); });
    return offsets;
  }

  PacketPools pools{1, {.elided_limit = 64, .real_limit = 64, .real_octets = 2048}};
  PacketPool& pool = pools[WorkerId{0}];
  const std::string h1 = "h1";
  const std::string leaf1 = "leaf1";
};

TEST_F(IntSourceTest, OneInSoManyIsChosen) {
  EXPECT_EQ(wanted({.one_in = 1}, 7000), 7000);
  EXPECT_NEAR(wanted({.one_in = 10}, 70'000), 7000, 400) << "five standard deviations";
  EXPECT_NEAR(wanted({.one_in = 1000}, 700'000), 700, 135);
}

TEST_F(IntSourceTest, WhichDependsOnTheSeedAndThePacketOnly) {
  IntSource source(1);
  source.begin(Seed{1}, {.one_in = 2});
  IntSource other(1);
  other.begin(Seed{2}, {.one_in = 2});
  Packet* p = frame(5, 0);
  int same = 0;
  for (std::uint64_t i = 0; i < 4096; ++i) {
    p->offset = i;
    p->frame_octets = 64 + static_cast<std::uint32_t>(i);
    const bool chosen = source.wants(*p, kClass);
    EXPECT_EQ(source.wants(*p, Priority{6}), chosen);
    same += chosen == other.wants(*p, kClass);
  }
  pool.release(p);
  EXPECT_NEAR(same, 2048, 160);
}

TEST_F(IntSourceTest, OfOtherClassesAndStreamsNoneIs) {
  EXPECT_EQ(wanted({.one_in = 1, .classes = bit(Priority{4})}, 700), 0);
  EXPECT_EQ(wanted({.one_in = 1, .classes = bit(kClass)}, 700), 700);
  EXPECT_EQ(wanted({.one_in = 1, .all_streams = false, .streams = {2, 5}}, 700), 200);
  EXPECT_EQ(wanted({.one_in = 1, .all_streams = false}, 700), 0);
}

TEST_F(IntSourceTest, BeyondItsRoomPacketsAreCountedOnly) {
  IntSource source(2);
  source.begin(Seed{1}, {.one_in = 1});
  std::vector<Packet*> packets;
  for (std::uint64_t i = 0; i < 3; ++i) {
    packets.push_back(frame(1, i));
    source.departure(h1, PortIndex{0}, kClass, Instant{} + 1_us, *packets.back());
  }
  EXPECT_EQ(source.sampled(), 3u);
  EXPECT_EQ(source.not_kept(), 1u);
  EXPECT_NE(int_stack(*packets[1]), nullptr);
  EXPECT_EQ(int_stack(*packets[2]), nullptr);
  // One comes to its end and makes room.
  EXPECT_TRUE(ended(source).empty());
  stack_of(*packets[0]).end();
  EXPECT_EQ(ended(source), std::vector<std::uint64_t>{0});
  EXPECT_TRUE(ended(source).empty()) << "each once";
  source.departure(h1, PortIndex{0}, kClass, Instant{} + 2_us, *packets[2]);
  EXPECT_EQ(source.not_kept(), 1u);
  EXPECT_EQ(stack_of(*packets[2]).offset(), 2u);
  for (Packet* p : packets) pool.release(p);
}

TEST_F(IntSourceTest, WhatIsUnderWayWhenItBeginsAnewIsNotReported) {
  IntSource source(2);
  source.begin(Seed{1}, {.one_in = 1});
  Packet* old = frame(1, 0);
  source.departure(h1, PortIndex{0}, kClass, Instant{}, *old);
  source.begin(Seed{1}, {.one_in = 1});
  EXPECT_EQ(source.sampled(), 0u);
  stack_of(*old).end();
  EXPECT_TRUE(ended(source).empty());
  source.stop();
  Packet* late = frame(1, 1);
  source.departure(h1, PortIndex{0}, kClass, Instant{}, *late);
  EXPECT_EQ(int_stack(*late), nullptr);
  pool.release(old);
  pool.release(late);
}

TEST_F(IntSourceTest, HopsAreNotedInTheirOrder) {
  IntSource source(1);
  source.begin(Seed{1}, {.one_in = 1});
  Packet* p = frame(9, 40);
  source.departure(h1, PortIndex{1}, kClass, Instant{} + 1_us, *p);
  IntStack& s = stack_of(*p);
  s.arrive(leaf1, PortIndex{4}, kClass, Instant{} + 2_us, 1024);
  s.queue(PortIndex{7}, Priority{5}, Instant{} + 3_us, 2048);
  EXPECT_EQ(s.hops()[1].egress, Instant::never());
  s.depart(Instant{} + 10_us, 1028, true);
  s.queue(PortIndex{1}, Priority{1}, Instant{} + 11_us, 1);  // it has left: nobody can say so
  ASSERT_EQ(s.hops().size(), 2u);
  EXPECT_EQ(s.hops()[0].egress, Instant{} + 1_us);
  EXPECT_EQ(s.hops()[0].ingress, Instant::never());
  const IntHop& h = s.hops()[1];
  EXPECT_EQ(*h.node, "leaf1");
  EXPECT_EQ(h.in, PortIndex{4});
  EXPECT_EQ(h.out, PortIndex{7});
  EXPECT_EQ(h.priority, Priority{5});
  EXPECT_EQ(h.waited(), 7_us);
  EXPECT_EQ(h.queue_octets, 2048u);
  EXPECT_EQ(h.frame_octets, 1028u);
  EXPECT_TRUE(h.marked);
  pool.release(p);
}

TEST_F(IntSourceTest, ALoopIsKeptInItsBeginning) {
  IntStack s;
  Packet* p = frame(1, 0);
  s.begin(*p);
  pool.release(p);
  for (int i = 0; i < 300; ++i) {
    s.arrive(leaf1, PortIndex{0}, kClass, Instant{} + i * 1_us, 64);
    s.queue(PortIndex{1}, kClass, Instant{} + i * 1_us, 0);
    s.depart(Instant{} + i * 1_us, 64, false);
  }
  ASSERT_EQ(s.hops().size(), IntStack::kMostHops);
  EXPECT_EQ(s.hops().back().egress, Instant{} + static_cast<std::int64_t>(IntStack::kMostHops - 1) * 1_us);
  EXPECT_EQ(s.hops_not_kept(), 255u) << "as far as it counts";
}

}  // namespace
}  // namespace railyard
