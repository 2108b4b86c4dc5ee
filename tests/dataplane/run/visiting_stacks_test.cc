// In-band telemetry of sampled packets goes with them from process to process, and home in the end.
#include "dataplane/run/visiting_stacks.h"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "tests/dataplane/run/juggler.h"
#include "tests/support/frames.h"
#include "tests/support/instant.h"
#include "tests/support/thread_peers.h"

namespace railyard {
namespace {

using namespace literals;

constexpr Priority kVisitors{3};

// One of three processes, each with one of three devices.
struct VisitedProcess {
  VisitedProcess(std::size_t self, ThreadPeers::Room& room) : peers(self, 3, room), parts{&peers, {0, 1, 2}} {
    source.begin(Seed{1}, {.one_in = 1});
    (*fabric)[DeviceId{static_cast<std::uint32_t>(self)}].record_int(true, &source);
  }
  const std::string& name(std::uint32_t device) const { return (*fabric)[DeviceId{device}].name(); }
  Packet* frame(std::uint64_t offset) {
    return test::make_frame(pools[WorkerId{0}], FecTable{}, {.stream = 9, .offset = offset});
  }
  // One that has begun here and is under way.
  Packet* sampled(std::uint64_t offset) {
    Packet* p = frame(offset);
    source.departure(name(static_cast<std::uint32_t>(peers.self())), PortIndex{1}, kVisitors, at(1_us), *p);
    return p;
  }
  void release(Packet* p) { pools[WorkerId{0}].release(p); }

  std::unique_ptr<Fabric> fabric = circle_of_jugglers(3, 0);
  ThreadPeers peers;
  Parts parts;
  IntSource source{4};
  VisitingStacks visiting{*fabric, parts};
  PacketPools pools{1, {.elided_limit = 64, .real_limit = 64, .real_octets = 2048}};
};

class VisitingStacksTest : public testing::Test {
 protected:
  // The packet of `from` as it comes to `to`.
  static Packet* move(VisitedProcess& from, Packet* packet, VisitedProcess& to) {
    StateArchive out;
    from.visiting.pack(*packet, out);
    Packet* const there = to.frame(packet->offset);
    from.release(packet);
    StateArchive in{std::span(out.written())};
    to.visiting.take(*there, in);
    EXPECT_EQ(in.left(), 0u);
    return there;
  }
  // What `from` gives to the others comes to `to`, the home of all. Returns offsets of packets that are held.
  static std::vector<std::uint64_t> bring_home(std::vector<StateArchive> out, VisitedProcess& to) {
    std::vector<std::uint64_t> held;
    StateArchive in{std::span(out[to.peers.self()].written())};
    to.visiting.take_home(in, [&](const IntStack& s) { held.push_back(s.offset()); });
    EXPECT_EQ(in.left(), 0u);
    return held;
  }
  static std::vector<const IntStack*> ended(VisitedProcess& p) {
    std::vector<const IntStack*> all;
    p.source.take_ended([&](const IntStack& s) { all.push_back(&s); });
    return all;
  }

  ThreadPeers::Room room{3};
  VisitedProcess p0{0, room};
  VisitedProcess p1{1, room};
  VisitedProcess p2{2, room};
};

TEST_F(VisitingStacksTest, AGuestKnowsTheHopsOfOtherProcesses) {
  Packet* p = move(p0, p0.sampled(40), p1);
  EXPECT_EQ(p1.visiting.guests(), 1u);
  IntStack& there = *int_stack(*p);
  ASSERT_EQ(there.hops().size(), 1u);
  EXPECT_EQ(there.stream(), 9u);
  EXPECT_EQ(there.offset(), 40u);
  EXPECT_EQ(there.hops()[0].node, &p1.name(0)) << "the name in this process";
  there.arrive(p1.name(1), PortIndex{0}, kVisitors, at(2_us), 1024);
  there.queue(PortIndex{1}, Priority{5}, at(3_us), 2048);
  there.depart(at(10_us), 1028, true);

  p = move(p1, p, p2);
  EXPECT_EQ(p1.visiting.guests(), 0u) << "it has gone on";
  IntStack& last = *int_stack(*p);
  ASSERT_EQ(last.hops().size(), 2u);
  const IntHop& h = last.hops()[1];
  EXPECT_EQ(h.node, &p2.name(1));
  EXPECT_EQ(h.ingress, at(2_us));
  EXPECT_EQ(h.waited(), 7_us);
  EXPECT_EQ(h.in, PortIndex{0});
  EXPECT_EQ(h.out, PortIndex{1});
  EXPECT_EQ(h.priority, Priority{5});
  EXPECT_EQ(h.queue_octets, 2048u);
  EXPECT_EQ(h.frame_octets, 1028u);
  EXPECT_TRUE(h.marked);
  p2.release(p);
}

TEST_F(VisitingStacksTest, OneThatPassesItsHomeIsWhereItWas) {
  Packet* p = p0.sampled(1);
  const IntStack* const own = int_stack(*p);
  p = move(p0, p, p1);
  int_stack(*p)->arrive(p1.name(1), PortIndex{0}, kVisitors, at(2_us), 64);
  p = move(p1, p, p0);
  EXPECT_EQ(int_stack(*p), own);
  EXPECT_EQ(own->hops().size(), 2u);
  EXPECT_EQ(p0.visiting.guests(), 0u);
  p0.release(p);
}

TEST_F(VisitingStacksTest, WhatHasEndedElsewhereIsReportedAtHome) {
  Packet* arrives = move(p0, p0.sampled(1), p1);
  Packet* stays = move(p0, p0.sampled(2), p1);
  int_stack(*arrives)->arrive(p1.name(1), PortIndex{0}, kVisitors, at(2_us), 64);
  int_stack(*arrives)->end();
  p1.release(arrives);
  EXPECT_TRUE(ended(p0).empty()) << "not told yet";
  std::vector<StateArchive> out(3);
  p1.visiting.give_ended(out);
  EXPECT_TRUE(bring_home(std::move(out), p0).empty());
  EXPECT_EQ(p1.visiting.guests(), 1u);
  const auto reported = ended(p0);
  ASSERT_EQ(reported.size(), 1u);
  EXPECT_EQ(reported[0]->offset(), 1u);
  EXPECT_EQ(reported[0]->hops().size(), 2u);
  p1.release(stays);
}

TEST_F(VisitingStacksTest, GuestsThatNoPacketHasAreForgottenWhenAllGoHome) {
  Packet* lost = move(p0, p0.sampled(1), p1);
  Packet* held = move(p0, p0.sampled(2), p1);
  Packet* also_lost = move(p0, p0.sampled(3), p1);
  for (Packet* p : {lost, held, also_lost}) int_stack(*p)->arrive(p1.name(1), PortIndex{0}, kVisitors, at(2_us), 64);
  std::vector<StateArchive> out(3);
  p1.visiting.give_all(out, {int_stack(*held)});
  EXPECT_EQ(bring_home(std::move(out), p0), std::vector<std::uint64_t>{2});
  EXPECT_EQ(p1.visiting.guests(), 1u);
  std::size_t complete = 0;
  p0.source.for_each([&](const IntStack& s) { complete += s.hops().size() == 2 ? 1 : 0; });
  EXPECT_EQ(complete, 3u) << "of those that are lost it is known how far they came";
  for (Packet* p : {lost, held, also_lost}) p1.release(p);
}

// Whatever comes is a stack, or refused.
TEST_F(VisitingStacksTest, OtherOctetsAreRefused) {
  Packet* p = move(p0, p0.sampled(40), p1);
  int_stack(*p)->arrive(p1.name(1), PortIndex{1}, kVisitors, at(2_us), 1024);
  StateArchive out;
  p1.visiting.pack(*p, out);
  const std::vector<std::byte> right = out.take();
  p1.release(p);
  // To where it is at home, and to where it is not.
  std::size_t refused = 0;
  const auto take = [&](const std::vector<std::byte>& octets) {
    for (VisitedProcess* to : {&p0, &p2}) {
      Packet* const there = to->frame(40);
      try {
        StateArchive in{std::span(octets)};
        to->visiting.take(*there, in);
        const IntStack& stack = *int_stack(*there);
        EXPECT_TRUE(!stack.hops().empty() && stack.hops().size() <= IntStack::kMostHops);
        for (const IntHop& h : stack.hops()) {
          EXPECT_TRUE(std::ranges::any_of(to->fabric->devices(), [&](const auto& d) { return &d->name() == h.node; }));
          EXPECT_LT(h.in.value, 2u);
          EXPECT_LT(h.out.value, 2u);
          EXPECT_LT(h.priority.value, kPriorities);
        }
      } catch (const std::runtime_error&) {
        ++refused;
      }
      to->release(there);
    }
  };
  take(right);
  EXPECT_EQ(refused, 0u);
  for (std::size_t n = 0; n < right.size(); ++n) take({right.begin(), right.begin() + static_cast<std::ptrdiff_t>(n)});
  EXPECT_EQ(refused, 2 * right.size());
  for (std::size_t i = 0; i < right.size(); ++i)
    for (const unsigned value : {0u, 1u, 2u, 13u, 127u, 255u}) {
      std::vector<std::byte> wrong = right;
      wrong[i] = static_cast<std::byte>(value);
      take(wrong);
    }
  EXPECT_GT(refused, 3 * right.size());
}

}  // namespace
}  // namespace railyard
