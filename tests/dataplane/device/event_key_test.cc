#include "dataplane/device/event_key.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/base/rng.h"

namespace railyard {
namespace {

using namespace literals;

constexpr std::array kKinds{EventKind::kMacControl, EventKind::kTransmitEnd, EventKind::kArrival, EventKind::kTimer};

TEST(EventKey, HoldsTimeKindAndPort) {
  constexpr Instant kBase{123'456};
  for (const EventKind kind : kKinds)
    for (const std::uint32_t port : {0u, 1u, 64u, 8190u})
      for (const Duration ahead : {0_ps, 1_ps, 1_us, 60_s}) {
        const std::uint64_t key = EventKey::make(kBase, kBase + ahead, kind, port);
        EXPECT_EQ(EventKey::time(kBase, key), kBase + ahead);
        EXPECT_EQ(EventKey::kind(key), kind);
        EXPECT_EQ(EventKey::port(key), port);
        EXPECT_EQ(EventKey::ticks(key), static_cast<std::uint64_t>(ahead.ps));
      }
}

// engine.md §2: MAC control; transmit end; arrival; timer; then port.
TEST(EventKey, AtOneInstantTheKindDecidesThenThePort) {
  constexpr Instant kAt{5'000};
  std::vector<std::uint64_t> keys;
  for (const EventKind kind : {EventKind::kMacControl, EventKind::kTransmitEnd, EventKind::kArrival, EventKind::kTimer})
    for (std::uint32_t port = 0; port < 100; ++port) keys.push_back(EventKey::make(Instant{}, kAt, kind, port));
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
  EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end()) << "no two are equal";
}

TEST(EventKey, ComparingKeysIsComparingOrder) {
  RngStream rng(Seed{1}, "event_key_test");
  const auto draw = [&] {
    return std::tuple(Instant{static_cast<std::int64_t>(rng.below(3))}, kKinds[rng.below(4)],
                      static_cast<std::uint32_t>(rng.below(3)));
  };
  for (int i = 0; i < 1000; ++i) {
    const auto a = draw();
    const auto b = draw();
    const auto key = [](const auto& e) { return EventKey::make({}, std::get<0>(e), std::get<1>(e), std::get<2>(e)); };
    EXPECT_EQ(key(a) < key(b), a < b);
  }
}

TEST(EventKey, NeverIsLaterThanEverything) {
  EXPECT_EQ(EventKey::make({}, Instant::never(), EventKind::kTimer, 3), EventKey::kNone);
  EXPECT_EQ(EventKey::time(Instant{7}, EventKey::kNone), Instant::never());
  EXPECT_LT(EventKey::make({}, Instant{} + EventKey::kReach, EventKind::kTimer, EventKey::kMaxPorts - 1),
            EventKey::kNone);
}

TEST(EventKey, TheFloorOfAnInstantLiesBetweenItsEventsAndThoseBefore) {
  constexpr Instant kBase{1'000};
  constexpr Instant kAt{50'000};
  const std::uint64_t floor = EventKey::floor(kBase, kAt);
  EXPECT_LE(floor, EventKey::make(kBase, kAt, EventKind::kMacControl, 0));
  EXPECT_GT(floor, EventKey::make(kBase, kAt - 1_ps, EventKind::kTimer, EventKey::kMaxPorts - 1));
}

TEST(EventKey, WhatIsBeyondReachIsFarAwayButNotNever) {
  const std::uint64_t key = EventKey::make({}, Instant{} + 1000_s, EventKind::kTimer, 1);
  EXPECT_EQ(EventKey::time({}, key), Instant{} + EventKey::kReach);
  EXPECT_EQ(EventKey::floor({}, Instant{} + 1000_s), EventKey::floor({}, Instant{} + EventKey::kReach));
  EXPECT_GT(EventKey::kReach, 140_s) << "as the comment says";
}

}  // namespace
}  // namespace railyard
