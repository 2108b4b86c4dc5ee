#include "dataplane/base/rng.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace railyard {
namespace {

std::vector<std::uint64_t> draws(RngStream stream, std::size_t n) {
  std::vector<std::uint64_t> out(n);
  for (std::uint64_t& draw : out) draw = stream.next();
  return out;
}

// Pearson's chi-square of counts that should all be the same.
double chi_square(const std::vector<std::uint64_t>& counts, std::uint64_t total) {
  const double expected = static_cast<double>(total) / static_cast<double>(counts.size());
  double sum = 0;
  for (const std::uint64_t n : counts) sum += (static_cast<double>(n) - expected) * (static_cast<double>(n) - expected);
  return sum / expected;
}

// Six standard deviations above the mean of the chi-square distribution with as many bins.
double chi_square_limit(std::size_t bins) {
  const double freedom = static_cast<double>(bins - 1);
  return freedom + 6 * std::sqrt(2 * freedom);
}

TEST(RngStream, SameSeedAndNameDrawTheSame) {
  EXPECT_EQ(draws({Seed{7}, "link/leaf1:9"}, 1000), draws({Seed{7}, "link/leaf1:9"}, 1000));
}

TEST(RngStream, AnotherSeedOrNameDrawsDifferently) {
  const auto reference = draws({Seed{7}, "link/leaf1:9"}, 1000);
  for (const RngStream other : {RngStream(Seed{8}, "link/leaf1:9"), RngStream(Seed{7}, "link/leaf1:8"),
                                RngStream(Seed{7}, "link/leaf1:"), RngStream(Seed{7}, "")}) {
    const auto theirs = draws(other, 1000);
    for (std::size_t i = 0; i < reference.size(); ++i) ASSERT_NE(theirs[i], reference[i]);
  }
}

TEST(RngStream, AddingADrawerLeavesTheOthersAsTheyWere) {
  std::vector<std::uint64_t> before;
  RngStream ecn(Seed{7}, "ecn");
  RngStream loss(Seed{7}, "loss");
  for (int i = 0; i < 100; ++i) before.insert(before.end(), {ecn.next(), loss.next()});

  std::vector<std::uint64_t> after;
  RngStream ecn_again(Seed{7}, "ecn");
  RngStream fault(Seed{7}, "fault");
  RngStream loss_again(Seed{7}, "loss");
  std::uint64_t drawn_by_fault = 0;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t first = ecn_again.next();
    for (int k = 0; k < i % 5; ++k) drawn_by_fault ^= fault.next();
    after.insert(after.end(), {first, loss_again.next()});
  }
  EXPECT_EQ(before, after);
  EXPECT_NE(drawn_by_fault, 0u);
}

TEST(RngStream, ACopyContinuesFromTheSameDraw) {
  RngStream original(Seed{7}, "queue");
  original.next();
  RngStream copy = original;
  EXPECT_EQ(draws(original, 10), draws(copy, 10));
}

// These values are part of what a seed means: if they change, every recorded run changes with them.
TEST(RngStream, DrawsArePinned) {
  RngStream named(Seed{7}, "link/leaf1:9");
  for (const std::uint64_t expected : {0x8876C4FF6EAE8927ull, 0xDBFB8EEABE00B5EBull, 0x4FD3ACC0CDE68956ull})
    EXPECT_EQ(named.next(), expected);

  RngStream below(Seed{7}, "below");
  for (const std::uint64_t expected : {74u, 43u, 65u, 96u, 56u, 87u, 39u, 39u}) EXPECT_EQ(below.below(100), expected);

  RngStream next32(Seed{7}, "next32");
  for (const std::uint32_t expected : {0xA8737FBFu, 0x1B7E4B0Au, 0x47F52F3Au, 0xA3551B38u})
    EXPECT_EQ(next32.next32(), expected);

  EXPECT_EQ(hash_string("railyard"), 0x309874C9DBA1A662ull);
}

// The stream with key 0 is SplitMix64 seeded with 0, whose first outputs are published with the algorithm.
TEST(RngStream, IsSplitMix64) {
  RngStream zero;
  for (const std::uint64_t expected : {0xE220A8397B1DCDAFull, 0x6E789E6AA1B965F4ull, 0x06C45D188009454Full})
    EXPECT_EQ(zero.next(), expected);
}

TEST(RngStream, BelowStaysBelow) {
  RngStream stream(Seed{3}, "bounds");
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(stream.below(1), 0u);
    EXPECT_LT(stream.below(3), 3u);
    EXPECT_LT(stream.below(~std::uint64_t{0}), ~std::uint64_t{0});
  }
}

TEST(RngStream, BelowIsUniform) {
  constexpr std::uint64_t kDraws = 200'000;
  for (const std::size_t n : {2u, 3u, 7u, 10u, 100u, 1000u}) {
    for (const std::string_view name : {"ecmp", "spray", "loss"}) {
      RngStream stream(Seed{11}, name);
      std::vector<std::uint64_t> counts(n);
      for (std::uint64_t i = 0; i < kDraws; ++i) ++counts[stream.below(n)];
      EXPECT_LT(chi_square(counts, kDraws), chi_square_limit(n)) << name << " below(" << n << ")";
    }
  }
}

TEST(RngStream, EveryOctetOfNext32IsUniform) {
  constexpr std::uint64_t kDraws = 400'000;
  RngStream stream(Seed{11}, "mark");
  std::array<std::vector<std::uint64_t>, 4> counts;
  counts.fill(std::vector<std::uint64_t>(256));
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const std::uint32_t draw = stream.next32();
    for (std::size_t octet = 0; octet < 4; ++octet) ++counts[octet][(draw >> (8 * octet)) & 0xFF];
  }
  for (std::size_t octet = 0; octet < 4; ++octet)
    EXPECT_LT(chi_square(counts[octet], kDraws), chi_square_limit(256)) << "octet " << octet;
}

// A fault with probability p/2^32 happens about that often: what next32() is for.
TEST(RngStream, AFractionOfNext32IsAProbability) {
  constexpr std::uint32_t kOnePercent = 42'949'673;  // of 2^32
  constexpr int kDraws = 1'000'000;
  RngStream stream(Seed{5}, "loss");
  int lost = 0;
  for (int i = 0; i < kDraws; ++i) lost += stream.next32() < kOnePercent ? 1 : 0;
  EXPECT_NEAR(lost, 10'000, 600);  // six standard deviations
}

// Streams of neighbouring names and seeds are as far from one another as chance has it: half of all bits differ.
TEST(RngStream, StreamsOfNeighboursAreUnrelated) {
  constexpr int kPairs = 1000;
  constexpr int kDrawsPerPair = 10;
  std::int64_t differing = 0;
  for (int i = 0; i < kPairs; ++i) {
    RngStream a(Seed{1}, "host" + std::to_string(i));
    RngStream b(Seed{1}, "host" + std::to_string(i + 1));
    RngStream c(Seed{2}, "host" + std::to_string(i));
    for (int k = 0; k < kDrawsPerPair; ++k) {
      const std::uint64_t x = a.next();
      differing += std::popcount(x ^ b.next()) + std::popcount(x ^ c.next());
    }
  }
  constexpr double kBits = 64.0 * 2 * kPairs * kDrawsPerPair;
  EXPECT_NEAR(static_cast<double>(differing), kBits / 2, 6 * std::sqrt(kBits / 4));
}

}  // namespace
}  // namespace railyard
