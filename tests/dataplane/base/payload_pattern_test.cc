#include "dataplane/base/payload_pattern.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <set>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/base/rng.h"

namespace railyard {
namespace {

using Octets = std::vector<std::byte>;

// The shortest range that holds a whole stamp wherever it begins: from here on two places cannot look alike.
constexpr std::size_t kHoldsAStamp = kPayloadStampEvery + 7;

Octets filled(std::uint64_t stream, std::uint64_t offset, std::size_t n) {
  Octets out(n);
  fill_payload(stream, offset, out);
  return out;
}

// Every place in a table period and in a stamp block, and offsets beyond 32 bits.
std::uint64_t any_offset(RngStream& rng) { return (rng.next() >> (16 + rng.below(48))) + rng.below(16); }

TEST(PayloadPattern, WhatWasFilledMatches) {
  RngStream rng(Seed{1}, "payload_pattern_test");
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t stream = rng.next();
    const std::uint64_t offset = any_offset(rng);
    const std::size_t n = rng.below(i % 10 == 0 ? 20'000 : 2'000);
    ASSERT_TRUE(payload_matches(stream, offset, filled(stream, offset, n))) << stream << " " << offset << " " << n;
  }
}

TEST(PayloadPattern, FillingInPiecesEqualsFillingAtOnce) {
  RngStream rng(Seed{2}, "payload_pattern_test");
  for (int i = 0; i < 300; ++i) {
    const std::uint64_t stream = rng.next();
    const std::uint64_t offset = any_offset(rng);
    const Octets whole = filled(stream, offset, 1 + rng.below(12'000));
    Octets pieces(whole.size());
    for (std::size_t done = 0; done < pieces.size();) {
      const std::size_t n = std::min<std::size_t>(pieces.size() - done, rng.below(i % 2 == 0 ? 16 : 5000));
      fill_payload(stream, offset + done, std::span(pieces).subspan(done, n));
      ASSERT_TRUE(payload_matches(stream, offset + done, std::span(whole).subspan(done, n)));
      done += n;
    }
    ASSERT_EQ(pieces, whole) << stream << " " << offset;
  }
}

TEST(PayloadPattern, EverySplitOfAStampIsSeamless) {
  const Octets whole = filled(9, 512 - 12, 32);  // the stamp of block 512 in the middle
  for (std::size_t split = 0; split <= whole.size(); ++split) {
    Octets pieces(whole.size());
    fill_payload(9, 500, std::span(pieces).first(split));
    fill_payload(9, 500 + split, std::span(pieces).subspan(split));
    EXPECT_EQ(pieces, whole) << split;
    EXPECT_TRUE(payload_matches(9, 500, std::span(whole).first(split)));
    EXPECT_TRUE(payload_matches(9, 500 + split, std::span(whole).subspan(split)));
  }
}

TEST(PayloadPattern, NothingBesidesTheRangeIsWritten) {
  constexpr std::byte kGuard{0xA5};
  for (const std::size_t n : {0u, 1u, 7u, 511u, 512u, 513u, 4096u, 5000u}) {
    for (const std::uint64_t offset : {0u, 3u, 508u, 4095u}) {
      Octets room(n + 64, kGuard);
      fill_payload(1, offset, std::span(room).subspan(32, n));
      EXPECT_TRUE(std::all_of(room.begin(), room.begin() + 32, [](std::byte b) { return b == kGuard; }));
      EXPECT_TRUE(std::all_of(room.end() - 32, room.end(), [](std::byte b) { return b == kGuard; }));
    }
  }
}

TEST(PayloadPattern, NothingMatchesAnywhere) { EXPECT_TRUE(payload_matches(1, 77, {})); }

TEST(PayloadPattern, AnyFlippedBitIsDetected) {
  for (const std::uint64_t offset : {0u, 5u, 505u, 4000u}) {
    Octets octets = filled(3, offset, 1500);
    for (std::size_t i = 0; i < octets.size(); ++i) {
      for (unsigned b = 0; b < 8; ++b) {
        octets[i] ^= std::byte{1} << b;
        ASSERT_FALSE(payload_matches(3, offset, octets)) << "octet " << i << " bit " << b << " at " << offset;
        octets[i] ^= std::byte{1} << b;
      }
    }
    EXPECT_TRUE(payload_matches(3, offset, octets));
  }
}

TEST(PayloadPattern, AnotherStreamDoesNotMatch) {
  RngStream rng(Seed{4}, "payload_pattern_test");
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t stream = rng.below(1000);
    const std::uint64_t offset = any_offset(rng);
    const Octets octets = filled(stream, offset, kHoldsAStamp + rng.below(2000));
    for (const std::uint64_t other : {stream + 1, stream - 1, stream ^ (std::uint64_t{1} << 63), rng.next()})
      ASSERT_FALSE(payload_matches(other, offset, octets)) << stream << " taken for " << other << " at " << offset;
  }
}

TEST(PayloadPattern, AnotherOffsetDoesNotMatch) {
  RngStream rng(Seed{5}, "payload_pattern_test");
  for (int i = 0; i < 500; ++i) {
    const std::uint64_t stream = rng.below(1000);
    const std::uint64_t offset = (std::uint64_t{1} << 40) + any_offset(rng);
    const Octets octets = filled(stream, offset, kHoldsAStamp + rng.below(2000));
    for (const std::uint64_t shift :
         {1ull, 8ull, 511ull, 512ull, 1024ull, 4088ull, 4096ull, 8192ull, 1ull << 20, 1ull << 32}) {
      ASSERT_FALSE(payload_matches(stream, offset + shift, octets)) << offset << " moved up by " << shift;
      ASSERT_FALSE(payload_matches(stream, offset - shift, octets)) << offset << " moved down by " << shift;
    }
  }
}

// (stream, offset) must not be interchangeable with another pair that has, say, the same sum.
TEST(PayloadPattern, EveryBlockOfManyStreamsIsItsOwn) {
  std::set<std::array<std::byte, 8>> stamps;
  constexpr std::uint64_t kStreams = 64;
  constexpr std::uint64_t kBlocks = 256;
  for (std::uint64_t stream = 0; stream < kStreams; ++stream) {
    for (std::uint64_t block = 0; block < kBlocks; ++block) {
      std::array<std::byte, 8> stamp;
      fill_payload(stream * kPayloadStampEvery, block * kPayloadStampEvery, stamp);
      stamps.insert(stamp);
    }
  }
  EXPECT_EQ(stamps.size(), kStreams * kBlocks);
}

TEST(PayloadPattern, ReachesTheEndOfTheStream) {
  const std::uint64_t offset = std::numeric_limits<std::uint64_t>::max() - 2000;
  Octets octets = filled(1, offset, 2000);
  EXPECT_TRUE(payload_matches(1, offset, octets));
  octets.back() ^= std::byte{1};
  EXPECT_FALSE(payload_matches(1, offset, octets));
}

// Another program (the receiver outside, a later version) must find the same octets.
TEST(PayloadPattern, OctetsArePinned) {
  constexpr std::array<std::uint8_t, 16> kStart = {0x7D, 0x3A, 0x36, 0x0F, 0x09, 0x0E, 0xB4, 0x7A,
                                                   0x71, 0x38, 0x40, 0xD0, 0x24, 0x1D, 0xE2, 0x7F};
  constexpr std::array<std::uint8_t, 16> kAcrossAStamp = {0xD4, 0xBC, 0xE6, 0x0F, 0x37, 0xC0, 0xBB, 0x8C,
                                                          0x0A, 0x5F, 0xB0, 0x6C, 0x7A, 0x95, 0xFA, 0xB1};
  const auto same = [](const Octets& octets, const std::array<std::uint8_t, 16>& pinned) {
    return octets.size() == pinned.size() && std::memcmp(octets.data(), pinned.data(), pinned.size()) == 0;
  };
  EXPECT_TRUE(same(filled(1, 0, 16), kStart));
  EXPECT_TRUE(same(filled(1, 504, 16), kAcrossAStamp));
}

}  // namespace
}  // namespace railyard
