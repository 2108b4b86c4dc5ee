// Several processes, as threads, run one fabric: what any device does is the same as in one.
#include "dataplane/run/boundary.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/run/engine.h"
#include "dataplane/run/virtual_clock.h"
#include "tests/dataplane/run/juggler.h"
#include "tests/support/instant.h"
#include "tests/support/thread_peers.h"

namespace railyard {
namespace {

using namespace literals;

constexpr std::size_t kSplit = 9;  // jugglers

std::vector<Caught> in_one_process() {
  const auto fabric = circle_of_jugglers(kSplit, 5);
  Engine engine(*fabric, {});
  run_virtual(engine, at(200_us));
  return all_caught(*fabric);
}

// What all processes catch, in the order of devices; `of_one`, if given, looks at each process when it is done, and
// `messages` is how many they have sent each other.
std::vector<Caught> in_processes(std::size_t count, const std::function<std::unique_ptr<Fabric>()>& make,
                                 const std::vector<std::uint16_t>& part_of, EngineConfig config,
                                 const std::function<void(std::size_t, Engine&)>& of_one = {},
                                 std::uint64_t* messages = nullptr) {
  std::vector<std::vector<Caught>> caught(count);
  const std::uint64_t sent = as_threads(count, [&](Peers& peers) {
    const auto fabric = make();
    EngineConfig own = config;
    own.parts = {&peers, part_of};
    Engine engine(*fabric, own);
    run_virtual(engine, at(200_us));
    caught[peers.self()] = all_caught(*fabric);
    if (of_one) of_one(peers.self(), engine);
  });
  if (messages != nullptr) *messages = sent;
  std::vector<Caught> all;
  for (const auto& of_process : caught) all.insert(all.end(), of_process.begin(), of_process.end());
  std::ranges::stable_sort(all, {}, &Caught::device);
  return all;
}

TEST(Boundary, DevicesOfOtherProcessesCatchTheSameAtTheSameInstants) {
  const std::vector<Caught> expected = in_one_process();
  ASSERT_GT(expected.size(), 1000u);
  for (const std::size_t count : {2u, 3u, 9u}) {
    std::vector<std::uint16_t> part_of;
    for (std::size_t d = 0; d < kSplit; ++d) part_of.push_back(static_cast<std::uint16_t>(d % count));
    std::vector<std::uint64_t> frames(count);
    std::vector<std::size_t> left(count);
    const auto look = [&](std::size_t p, Engine& engine) {
      frames[p] = engine.boundary()->frames();
      left[p] = engine.pools().in_use();
    };
    const auto all = in_processes(count, [] { return circle_of_jugglers(kSplit, 5); }, part_of, {}, look);
    EXPECT_TRUE(all == expected) << count << " processes";
    std::size_t balls = 0;
    for (std::size_t p = 0; p < count; ++p) {
      EXPECT_GT(frames[p], 100u) << "process " << p << " of " << count;
      balls += left[p];
    }
    EXPECT_EQ(balls, kSplit * 5) << "a ball is in the memory of one process";
  }
}

constexpr std::uint32_t kRing = 24;

// So many beside each other in each process: some of them have links to devices here only.
std::vector<std::uint16_t> arcs(std::size_t count) {
  std::vector<std::uint16_t> part_of;
  for (std::size_t d = 0; d < kRing; ++d) part_of.push_back(static_cast<std::uint16_t>(d * count / kRing));
  return part_of;
}
std::vector<Caught> ring_in_one_process() {
  const auto fabric = ring_of_jugglers(kRing, 4);
  Engine engine(*fabric, {});
  run_virtual(engine, at(200_us));
  return all_caught(*fabric);
}

TEST(Boundary, SeveralWorkersInEachProcessInAnyOrder) {
  const std::vector<Caught> expected = ring_in_one_process();
  ASSERT_GT(expected.size(), 1000u);
  for (const std::size_t count : {2u, 3u})
    for (const std::size_t workers : {1u, 2u, 3u})
      for (const bool parallel : {false, true})
        for (const std::uint64_t seed : {0u, 1u, 2u}) {
          EngineConfig config;
          config.workers = workers;
          config.variation.always_parallel = parallel;
          if (seed != 0) config.variation.shuffle = Seed{seed};
          if (seed == 2) config.variation.replace_every = 3;
          EXPECT_TRUE(in_processes(count, [] { return ring_of_jugglers(kRing, 4); }, arcs(count), config) == expected)
              << count << " processes, " << workers << " workers, seed " << seed << (parallel ? ", always parallel" : "");
        }
}

TEST(Boundary, ProcessesWithoutACommonLinkSendEachOtherNothing) {
  const std::vector<Caught> expected = ring_in_one_process();
  for (const std::size_t count : {2u, 3u, 4u, 8u}) {
    std::vector<std::vector<std::uint16_t>> neighbours(count);
    std::uint64_t windows = 0;
    std::uint64_t messages = 0;
    EXPECT_TRUE(in_processes(count, [] { return ring_of_jugglers(kRing, 4); }, arcs(count), {},
                             [&](std::size_t p, Engine& engine) {
                               neighbours[p] = engine.boundary()->neighbours();
                               if (p == 0) windows = engine.windows();
                             },
                             &messages) == expected)
        << count << " processes";
    const std::size_t each = count == 2 ? 1 : 2;
    for (std::size_t p = 0; p < count; ++p) {
      std::vector<std::uint16_t> beside{static_cast<std::uint16_t>((p + 1) % count)};
      if (each == 2) beside.push_back(static_cast<std::uint16_t>((p + count - 1) % count));
      std::ranges::sort(beside);
      EXPECT_EQ(neighbours[p], beside) << "process " << p << " of " << count;
    }
    EXPECT_EQ(messages, windows * count * each) << count << " processes";
  }
}

// Frames are on their way while devices that have no link to another process still have their turns.
TEST(Boundary, WhatLeavesIsSentBeforeTheOthersHaveTheirTurns) {
  as_threads(2, [&](ThreadPeers& peers) {
    const auto fabric = ring_of_jugglers(8, 3);
    EngineConfig config;
    config.parts = {&peers, {0, 0, 0, 0, 1, 1, 1, 1}};
    Engine engine(*fabric, config);
    std::vector<Instant> done(8);
    peers.at_start = [&] {
      for (std::uint32_t d = 0; d < 8; ++d) done[d] = (*fabric)[DeviceId{d}].done();
    };
    unsigned after = 0;
    for (Instant next = engine.next(); next < at(50_us);) {
      next = engine.step(next + engine.window());
      for (std::uint32_t d = 0; d < 8; ++d) {
        if ((*fabric)[DeviceId{d}].done() == done[d]) continue;
        EXPECT_FALSE(engine.boundary()->borders(DeviceId{d})) << d;
        ++after;
      }
    }
    EXPECT_GT(after, 100u);
  });
}

TEST(Boundary, ADeviceElsewhereIsNeverAdvancedHere) {
  as_threads(2, [&](Peers& peers) {
    const auto fabric = circle_of_jugglers(4, 3);
    EngineConfig config;
    config.parts = {&peers, {0, 1, 1, 0}};
    Engine engine(*fabric, config);
    run_virtual(engine, at(20_us));
    for (std::uint32_t d = 0; d < 4; ++d) {
      const bool here = config.parts.part_of[d] == peers.self();
      EXPECT_EQ((*fabric)[DeviceId{d}].is_elsewhere(), !here);
      EXPECT_EQ(dynamic_cast<Juggler&>((*fabric)[DeviceId{d}]).caught.empty(), !here);
    }
  });
}

// The figures of a device elsewhere are those that its process has told.
TEST(Boundary, ADeviceElsewhereAnswersWhatItWasTold) {
  as_threads(2, [&](Peers& peers) {
    const auto fabric = circle_of_jugglers(2, 3);
    EngineConfig config;
    config.parts = {&peers, {0, 1}};
    Engine engine(*fabric, config);
    run_virtual(engine, at(50_us));
    StateArchive mine;
    (*fabric)[DeviceId{static_cast<std::uint32_t>(peers.self())}].exchange_figures(mine);
    const auto given = peers.give_all(mine.take());
    Device& other = (*fabric)[DeviceId{static_cast<std::uint32_t>(1 - peers.self())}];
    EXPECT_EQ(other.counters().ports.at(0).delivered, 0u);
    StateArchive in{std::span(given[1 - peers.self()])};
    other.exchange_figures(in);
    EXPECT_EQ(in.left(), 0u);
    EXPECT_GT(other.counters().ports.at(0).delivered, 10u);
    EXPECT_EQ(other.done(), at(50_us));
  });
}

// What comes from another process is a frame, or refused: nothing is written beyond a packet.
TEST(Boundary, OctetsThatAreNoFrameAreRefused) {
  ThreadPeers::Room room(2);
  struct Process {
    Process(std::size_t self, ThreadPeers::Room& room) : peers(self, 2, room), parts{&peers, {0, 1}} {}
    std::unique_ptr<Fabric> fabric = circle_of_jugglers(2, 0);
    ThreadPeers peers;
    Parts parts;
    PacketPools pools{1, {.elided_limit = 4096, .real_limit = 256, .real_octets = 2048, .anywhere = true}};
    Boundary boundary{*fabric, parts, pools};
  };
  Process sends(0, room);
  Process takes(1, room);
  for (std::size_t i = 0; i < sends.fabric->channels().size(); ++i)
    if (sends.boundary.leaves(i))
      sends.fabric->channels()[i].push_data(at(1_us), 1_us, make_pfc_frame(sends.pools[WorkerId{0}], {}, 0, {}));
  std::vector<StateArchive> out(2);
  sends.boundary.pack(out);
  const std::vector<std::byte> right = out[1].take();
  std::size_t refused = 0;
  const auto take = [&](const std::vector<std::byte>& octets) {
    try {
      StateArchive in{std::span(octets)};
      EXPECT_TRUE(takes.boundary.take(in, [&](DeviceId) -> PacketPool& { return takes.pools[WorkerId{0}]; }));
    } catch (const std::exception&) {
      ++refused;
    }
  };
  take(right);
  EXPECT_EQ(refused, 0u);
  for (std::size_t n = 0; n < right.size(); ++n) take({right.begin(), right.begin() + static_cast<std::ptrdiff_t>(n)});
  EXPECT_EQ(refused, right.size());
  // Lengths and the packet's metadata; any instants are right.
  for (std::size_t i = 24; i < 32 + sizeof(Packet); ++i)
    for (const unsigned value : {1u, 32u, 127u, 255u}) {
      std::vector<std::byte> wrong = right;
      wrong[i] = static_cast<std::byte>(value);
      take(wrong);
    }
  EXPECT_GT(refused, right.size() + 8);
}

}  // namespace
}  // namespace railyard
