// Several processes, as threads, run one fabric: what any device does is the same as in one.
#include "dataplane/run/boundary.h"

#include <algorithm>
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

}  // namespace
}  // namespace railyard
