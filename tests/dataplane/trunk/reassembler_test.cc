// Fragments in every order that a network can bring them in.
#include "dataplane/trunk/reassembler.h"

#include <algorithm>
#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/base/rng.h"

namespace railyard {
namespace {

using namespace literals;
using Octets = std::vector<std::byte>;

constexpr Duration kPatience = 10_ms;

// Each message has octets of its own.
Octets content_of(std::uint32_t message, std::uint32_t octets) {
  Octets content(octets);
  for (std::uint32_t i = 0; i < octets; ++i) content[i] = static_cast<std::byte>((message * 31 + i) % 253);
  return content;
}

class Reassembly : public testing::Test {
 protected:
  // What comes of fragment `index` of a message of three.
  Octets put(std::uint32_t message, std::uint32_t index, std::uint32_t octets = 3000) {
    const TrunkCut cut = cut_trunk_message(octets, 1012);
    const Octets content = content_of(message, octets);
    const auto piece = std::span(content).subspan(std::size_t{index} * cut.piece, cut.octets(index));
    const auto whole = reassembler.put(now, {message, cut, index, piece});
    Octets out(whole.begin(), whole.end());
    reassembler.recycle();
    return out;
  }

  Reassembler reassembler{kPatience, 4};
  Instant now = Instant{} + 1_s;
};

TEST_F(Reassembly, AMessageIsWholeWithItsLastFragmentInAnyOrder) {
  std::vector<std::uint32_t> order{0, 1, 2};
  std::uint32_t message = 0;
  do {
    EXPECT_TRUE(put(message, order[0]).empty());
    EXPECT_TRUE(put(message, order[1]).empty());
    EXPECT_TRUE(put(message, order[2]) == content_of(message, 3000));
    ++message;
  } while (std::ranges::next_permutation(order).found);
  EXPECT_EQ(message, 6u);
  EXPECT_EQ(reassembler.incomplete(), 0u);
  EXPECT_EQ(reassembler.superfluous(), 0u);
}

TEST_F(Reassembly, DoublesChangeNothing) {
  EXPECT_TRUE(put(1, 0).empty());
  EXPECT_TRUE(put(1, 0).empty());
  EXPECT_TRUE(put(1, 2).empty());
  EXPECT_TRUE(put(1, 2).empty());
  EXPECT_TRUE(put(1, 1) == content_of(1, 3000));
  for (const std::uint32_t straggler : {0u, 1u, 2u}) EXPECT_TRUE(put(1, straggler).empty()) << "it is not begun anew";
  now = now + kPatience;
  reassembler.expire(now);
  EXPECT_EQ(reassembler.superfluous(), 5u);
  EXPECT_EQ(reassembler.incomplete(), 0u);
}

TEST_F(Reassembly, OneWithoutAllIsGivenUpInTimeAndCounted) {
  EXPECT_TRUE(put(1, 0).empty());
  EXPECT_TRUE(put(1, 1).empty());
  now = now + kPatience - 1_us;
  reassembler.expire(now);
  EXPECT_EQ(reassembler.incomplete(), 0u);
  now = now + 1_us;
  reassembler.expire(now);
  EXPECT_EQ(reassembler.incomplete(), 1u);
  EXPECT_TRUE(put(1, 2).empty()) << "too late";
  now = now + kPatience;
  reassembler.expire(now);
  EXPECT_EQ(reassembler.incomplete(), 2u) << "what came too late is given up as well";
}

TEST_F(Reassembly, OneThatNobodyHasGivenUpMayStillBecomeWhole) {
  EXPECT_TRUE(put(1, 0).empty());
  EXPECT_TRUE(put(1, 1).empty());
  now = now + 3 * kPatience;
  EXPECT_TRUE(put(1, 2) == content_of(1, 3000)) << "it had come long before, and was looked at now";
  reassembler.expire(now);
  EXPECT_EQ(reassembler.incomplete(), 0u);
}

TEST_F(Reassembly, AsManyMayBeMixedAsThereIsMemoryFor) {
  constexpr auto kMost = static_cast<std::uint32_t>(Reassembler::kMostAtOnce);
  for (std::uint32_t index : {2u, 0u})
    for (std::uint32_t m = 0; m < kMost; ++m) EXPECT_TRUE(put(m, index).empty());
  for (std::uint32_t m = kMost; m-- > 0;) EXPECT_TRUE(put(m, 1) == content_of(m, 3000));
  EXPECT_EQ(reassembler.incomplete(), 0u);
  // One more takes the place of the oldest.
  for (std::uint32_t m = kMost; m <= 2 * kMost; ++m) EXPECT_TRUE(put(m, 0).empty());
  EXPECT_EQ(reassembler.incomplete(), 1u);
  EXPECT_TRUE(put(kMost, 1).empty()) << "its time is over";
  EXPECT_EQ(reassembler.superfluous(), 1u);
  EXPECT_TRUE(put(2 * kMost, 1).empty());
  EXPECT_TRUE(put(2 * kMost, 2) == content_of(2 * kMost, 3000));
}

TEST_F(Reassembly, FragmentsThatContradictEachOtherAreNotMixed) {
  EXPECT_TRUE(put(1, 0).empty());
  EXPECT_TRUE(put(1, 1, 2990).empty());
  EXPECT_EQ(reassembler.contradicting(), 1u);
  EXPECT_TRUE(put(1, 1).empty());
  EXPECT_TRUE(put(1, 2) == content_of(1, 3000));
}

TEST_F(Reassembly, NumbersWrapAround) {
  for (std::uint32_t m = 0xFFFF'FFF8; m != 8; ++m) {
    EXPECT_TRUE(put(m, 1).empty());
    EXPECT_TRUE(put(m, 0).empty());
    EXPECT_TRUE(put(m, 2) == content_of(m, 3000));
  }
  // Half the circle later nothing of before is in the way, for it is forgotten in time.
  now = now + kPatience;
  EXPECT_TRUE(put(0x8000'0001, 0).empty());
  EXPECT_TRUE(put(0x8000'0001, 1).empty());
  EXPECT_TRUE(put(0x8000'0001, 2) == content_of(0x8000'0001, 3000));
}

TEST_F(Reassembly, AnotherSenderBeginsAnew) {
  EXPECT_TRUE(put(5, 0).empty());
  reassembler.forget();
  EXPECT_EQ(reassembler.incomplete(), 1u);
  EXPECT_TRUE(put(5, 1).empty());
  EXPECT_TRUE(put(5, 2).empty());
  EXPECT_TRUE(put(5, 0) == content_of(5, 3000));
}

TEST_F(Reassembly, WholeOnesStayUntilTheyAreRecycled) {
  const TrunkCut cut = cut_trunk_message(2000, 1012);
  std::vector<std::span<const std::byte>> whole;
  for (std::uint32_t m = 0; m < 4; ++m) {
    ASSERT_TRUE(reassembler.has_room());
    const Octets content = content_of(m, 2000);
    for (std::uint32_t i : {0u, 1u}) {
      const auto piece = std::span(content).subspan(std::size_t{i} * cut.piece, cut.octets(i));
      if (const auto w = reassembler.put(now, {m, cut, i, piece}); !w.empty()) whole.push_back(w);
    }
  }
  EXPECT_FALSE(reassembler.has_room());
  ASSERT_EQ(whole.size(), 4u);
  for (std::uint32_t m = 0; m < 4; ++m) EXPECT_TRUE(std::ranges::equal(whole[m], content_of(m, 2000)));
  reassembler.recycle();
  EXPECT_TRUE(reassembler.has_room());
}

// Whatever is lost, doubled and shuffled: what comes out is what went in, each at most once, and what is missing is
// counted.
TEST_F(Reassembly, NothingButTheMessagesComesOutOfANoisyNetwork) {
  RngStream rng(Seed{7}, "reassembler_test");
  struct Sent {
    std::uint32_t message;
    std::uint32_t index;
  };
  constexpr std::uint32_t kMessages = 3000;
  std::vector<Sent> under_way;
  std::vector<unsigned> arrived(kMessages);
  std::vector<std::uint32_t> touched(kMessages);
  const auto deliver = [&](std::size_t at) {
    const Sent s = under_way[at];
    under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(at));
    const Octets out = put(s.message, s.index);
    touched[s.message] = 1;
    if (out.empty()) return;
    EXPECT_TRUE(out == content_of(s.message, 3000));
    ++arrived[s.message];
  };
  for (std::uint32_t m = 0; m < kMessages; ++m) {
    for (std::uint32_t i = 0; i < 3; ++i)
      for (std::uint64_t copies = std::array{0u, 1u, 1u, 1u, 1u, 1u, 1u, 2u}[rng.below(8)]; copies > 0; --copies)
        under_way.push_back({m, i});
    while (under_way.size() > 12) deliver(rng.below(under_way.size()));
    now = now + 100_us;
    reassembler.expire(now);
  }
  while (!under_way.empty()) deliver(0);
  now = now + kPatience;
  reassembler.expire(now);
  EXPECT_EQ(std::ranges::max(arrived), 1u);
  const auto whole = static_cast<std::uint64_t>(std::ranges::count(arrived, 1u));
  EXPECT_GT(whole, kMessages / 2);
  EXPECT_LT(whole, kMessages);
  EXPECT_GE(whole + reassembler.incomplete() + reassembler.superfluous(),
            static_cast<std::uint64_t>(std::ranges::count(touched, 1u)))
      << "what is not whole is counted";
}

}  // namespace
}  // namespace railyard
