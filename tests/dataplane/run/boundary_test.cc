// Several processes, as threads, run one fabric: what any device does is the same as in one.
#include "dataplane/run/boundary.h"

#include <algorithm>
#include <exception>
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

TEST(Boundary, DevicesOfOtherProcessesCatchTheSameAtTheSameInstants) {
  const std::vector<Caught> expected = in_one_process();
  ASSERT_GT(expected.size(), 1000u);
  for (const std::size_t count : {2u, 3u, 9u}) {
    std::vector<std::vector<Caught>> caught(count);
    std::vector<std::uint64_t> frames(count);
    std::vector<std::size_t> left(count);
    as_threads(count, [&](Peers& peers) {
      const auto fabric = circle_of_jugglers(kSplit, 5);
      EngineConfig config;
      config.parts = {&peers, {}};
      for (std::size_t d = 0; d < kSplit; ++d)
        config.parts.part_of.push_back(static_cast<std::uint16_t>(d % count));
      Engine engine(*fabric, config);
      run_virtual(engine, at(200_us));
      caught[peers.self()] = all_caught(*fabric);
      frames[peers.self()] = engine.boundary()->frames();
      left[peers.self()] = engine.pools().in_use();
    });
    std::vector<Caught> all;
    for (const auto& of_one : caught) all.insert(all.end(), of_one.begin(), of_one.end());
    std::ranges::stable_sort(all, {}, &Caught::device);
    EXPECT_TRUE(all == expected) << count << " processes";
    std::size_t balls = 0;
    for (std::size_t p = 0; p < count; ++p) {
      EXPECT_GT(frames[p], 100u) << "process " << p << " of " << count;
      balls += left[p];
    }
    EXPECT_EQ(balls, kSplit * 5) << "a ball is in the memory of one process";
  }
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
  EXPECT_EQ(sends.boundary.pack(out), at(2_us));
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
