#include "dataplane/capture/record_ring.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace railyard {
namespace {

constexpr std::size_t kOctets = 4096;

bool put(RecordRing& ring, std::size_t octets, std::uint8_t what) {
  const auto room = ring.reserve(octets);
  if (room.empty()) return false;
  std::ranges::fill(room, std::byte{what});
  ring.commit();
  return true;
}

// The length of the oldest record, if all of it is `what`.
std::size_t take(RecordRing& ring, std::uint8_t what) {
  const auto record = ring.front();
  for (const std::byte b : record) EXPECT_EQ(b, std::byte{what});
  const std::size_t octets = record.size();
  ring.pop();
  return octets;
}

TEST(RecordRing, RecordsOfAnyLengthComeOutInOrder) {
  RecordRing ring(kOctets);
  EXPECT_TRUE(ring.front().empty());
  for (std::uint8_t round = 0; round < 200; ++round)  // many times around the memory
    for (const std::size_t octets : {1u, 7u, 8u, 9u, 63u, 500u, 1021u}) {
      ASSERT_TRUE(put(ring, octets, round));
      EXPECT_EQ(take(ring, round), octets);
      EXPECT_TRUE(ring.front().empty());
    }
}

TEST(RecordRing, ARecordIsThereOnceItIsCommitted) {
  RecordRing ring(kOctets);
  ASSERT_FALSE(ring.reserve(10).empty());
  EXPECT_TRUE(ring.front().empty());
  ring.commit();
  EXPECT_EQ(ring.front().size(), 10u);
  EXPECT_EQ(ring.front().size(), 10u) << "until pop()";
}

TEST(RecordRing, WhatDoesNotFitIsRefusedUntilThereIsRoomAgain) {
  RecordRing ring(kOctets);
  std::size_t held = 0;
  while (put(ring, 100, static_cast<std::uint8_t>(held))) ++held;
  EXPECT_EQ(held, kOctets / 112) << "104 octets and a length of 8 each";
  EXPECT_FALSE(put(ring, 100, 0));
  EXPECT_TRUE(put(ring, 8, 0xFF)) << "a shorter one does fit";
  EXPECT_EQ(take(ring, 0), 100u);
  EXPECT_EQ(take(ring, 1), 100u);
  EXPECT_TRUE(put(ring, 100, 0xEE));
  for (std::size_t i = 2; i < held; ++i) EXPECT_EQ(take(ring, static_cast<std::uint8_t>(i)), 100u);
  EXPECT_EQ(take(ring, 0xFF), 8u);
  EXPECT_EQ(take(ring, 0xEE), 100u);
  EXPECT_TRUE(ring.front().empty());
}

TEST(RecordRing, TheLongestRecordFitsWhereverTheRingStands) {
  RecordRing ring(kOctets);
  for (std::size_t before = 1; before < kOctets; before += 8) {
    ASSERT_TRUE(put(ring, before % 1000 + 1, 1));
    EXPECT_GT(take(ring, 1), 0u);
    ASSERT_TRUE(put(ring, ring.longest(), 2));
    EXPECT_EQ(take(ring, 2), ring.longest());
  }
  EXPECT_FALSE(put(ring, kOctets, 3)) << "with its length it is longer than the ring";
}

// One thread puts, one takes; what is refused is known, all else arrives in order and whole.
TEST(RecordRing, BothSidesUnderLoad) {
  constexpr std::uint32_t kRecords = 200'000;
  RecordRing ring(kOctets);
  std::uint32_t refused = 0;
  std::atomic<bool> done{false};
  std::thread producer([&] {
    for (std::uint32_t i = 0; i < kRecords; ++i) {
      const auto room = ring.reserve(sizeof i + i % 301);
      if (room.empty()) {
        ++refused;
        if (i % 64 == 0) std::this_thread::yield();
        continue;
      }
      std::memcpy(room.data(), &i, sizeof i);
      std::fill(room.begin() + sizeof i, room.end(), static_cast<std::byte>(i));
      ring.commit();
    }
    done = true;
  });
  std::uint32_t arrived = 0;
  std::uint32_t next = 0;
  for (;;) {
    const bool last = done;
    const auto record = ring.front();
    if (record.empty()) {
      if (last) break;
      std::this_thread::yield();
      continue;
    }
    std::uint32_t i = 0;
    std::memcpy(&i, record.data(), sizeof i);
    ASSERT_GE(i, next);
    ASSERT_EQ(record.size(), sizeof i + i % 301);
    ASSERT_EQ(std::ranges::count(record.subspan(sizeof i), static_cast<std::byte>(i)),
              static_cast<std::ptrdiff_t>(i % 301));
    next = i + 1;
    ++arrived;
    ring.pop();
  }
  producer.join();
  EXPECT_EQ(arrived + refused, kRecords);
  EXPECT_GT(arrived, 0u);
}

}  // namespace
}  // namespace railyard
