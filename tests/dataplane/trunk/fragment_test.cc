// A trunk's messages as Ethernet frames: cut, written, read again, and what is refused.
#include "dataplane/trunk/fragment.h"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/vlan.h"

namespace railyard {
namespace {

using Octets = std::vector<std::byte>;

constexpr wire::MacAddress kFragmentFrom{{2, 0, 0, 0, 0, 1}};
constexpr wire::MacAddress kFragmentTo{{2, 0, 0, 0, 0, 2}};

Octets numbered_octets(std::size_t n) {
  Octets octets(n);
  for (std::size_t i = 0; i < n; ++i) octets[i] = static_cast<std::byte>(i * 7 % 251);
  return octets;
}

// The frames that carry `message`, whose first `head` octets lie apart.
std::vector<Octets> frames_of(const Octets& message, std::uint32_t mtu, std::size_t head = 80) {
  const TrunkCut cut = cut_trunk_message(static_cast<std::uint32_t>(message.size()), mtu);
  const std::size_t first = std::min(head, message.size());
  const TrunkDatagram datagram{std::span(message).first(first), std::span(message).subspan(first)};
  std::vector<Octets> frames;
  for (std::uint32_t i = 0; i < cut.fragments(); ++i) {
    frames.emplace_back(trunk_carrier_octets(cut.octets(i)), std::byte{0xEE});
    write_trunk_carrier(frames.back(), {kFragmentTo, kFragmentFrom, {9, cut, i, {}}}, datagram);
  }
  return frames;
}

TEST(TrunkFragment, AMessageIsInItsFragmentsWhateverTheMtu) {
  for (const std::uint32_t mtu : {kLeastTrunkMtu, 576u, 1500u, 2000u, 9000u, 9500u})
    for (const std::size_t octets : {std::size_t{1}, kTrunkPingOctets, std::size_t{1488}, std::size_t{1489},
                                     std::size_t{kMostTrunkMessageOctets}}) {
      const Octets message = numbered_octets(octets);
      const auto frames = frames_of(message, mtu);
      ASSERT_LE(frames.size(), kMostTrunkFragments);
      EXPECT_EQ(frames.size(), (octets + mtu - 12 - 1) / (mtu - 12)) << "as few as go";
      Octets together;
      for (std::uint32_t i = 0; i < frames.size(); ++i) {
        EXPECT_LE(frames[i].size(), 14 + mtu);
        EXPECT_GE(frames[i].size(), 60u);
        const auto c = parse_trunk_carrier(frames[i]);
        ASSERT_TRUE(c) << mtu << " " << octets;
        EXPECT_EQ(c->destination, kFragmentTo);
        EXPECT_EQ(c->source, kFragmentFrom);
        EXPECT_EQ(c->fragment.message, 9u);
        EXPECT_EQ(c->fragment.index, i);
        EXPECT_EQ(c->fragment.cut.message_octets, octets);
        together.insert(together.end(), c->fragment.octets.begin(), c->fragment.octets.end());
      }
      EXPECT_TRUE(together == message) << mtu << " " << octets;
    }
}

TEST(TrunkFragment, TheFrameIsAsDocumented) {
  const auto frames = frames_of(numbered_octets(100), 1500);
  ASSERT_EQ(frames.size(), 1u);
  const Octets& f = frames[0];
  EXPECT_EQ(f.size(), 14u + 12 + 100);
  EXPECT_EQ(wire::read<wire::Ethernet::EtherType>(f.data()), 0x88B5);
  EXPECT_EQ(wire::read<TrunkFragmentHeader::Subtype>(f.data() + 14), 0x5259);
  EXPECT_EQ(wire::read<TrunkFragmentHeader::Version>(f.data() + 14), 1);
  EXPECT_EQ(wire::read<TrunkFragmentHeader::Index>(f.data() + 14), 0);
  EXPECT_EQ(wire::read<TrunkFragmentHeader::Message>(f.data() + 14), 9u);
  EXPECT_EQ(wire::read<TrunkFragmentHeader::MessageOctets>(f.data() + 14), 100);
  EXPECT_EQ(wire::read<TrunkFragmentHeader::Piece>(f.data() + 14), 100);
}

TEST(TrunkFragment, PaddingIsNoPartOfTheMessage) {
  const auto frames = frames_of(numbered_octets(5), 1500);
  ASSERT_EQ(frames[0].size(), 60u);
  EXPECT_TRUE(
      std::all_of(frames[0].begin() + 14 + 12 + 5, frames[0].end(), [](std::byte b) { return b == std::byte{}; }));
  Octets padded = frames[0];
  padded.resize(300, std::byte{0xAA});  // and more of it, by whoever
  const auto c = parse_trunk_carrier(padded);
  ASSERT_TRUE(c);
  EXPECT_TRUE(std::ranges::equal(c->fragment.octets, numbered_octets(5)));
}

TEST(TrunkFragment, APriorityTagIsPassedOverAndAVlanIsForeign) {
  for (const std::uint8_t vid : {std::uint8_t{0}, std::uint8_t{5}}) {
    Octets frame = frames_of(numbered_octets(200), 1500)[0];
    const std::array<std::byte, 4> tag{std::byte{0x81}, std::byte{0}, std::byte{0x60}, std::byte{vid}};
    frame.insert(frame.begin() + 12, tag.begin(), tag.end());
    const auto c = parse_trunk_carrier(frame);
    ASSERT_EQ(c.has_value(), vid == 0);
    if (c)
      EXPECT_TRUE(std::ranges::equal(c->fragment.octets, numbered_octets(200)));
    else
      EXPECT_EQ(c.error(), TrunkError::kForeign) << "of another trunk, perhaps";
  }
}

// Each in a block of its own length: a sanitizer sees an octet too far.
TEST(TrunkFragment, CutShortItIsRefusedAtEveryLength) {
  for (const bool tagged : {false, true}) {
    Octets frame = frames_of(numbered_octets(100), 1500)[0];
    const std::array<std::byte, 4> tag{std::byte{0x81}, std::byte{0}, std::byte{0x60}, std::byte{0}};
    if (tagged) frame.insert(frame.begin() + 12, tag.begin(), tag.end());
    for (std::size_t n = 0; n < frame.size(); ++n) {
      const auto cut = std::make_unique<std::byte[]>(n);
      std::copy_n(frame.begin(), n, cut.get());
      EXPECT_FALSE(parse_trunk_carrier({cut.get(), n})) << n;
    }
  }
}

template <class F>
TrunkError error_with(std::uint64_t value, std::size_t octets = 4000) {
  Octets frame = frames_of(numbered_octets(octets), 1500)[0];
  wire::write<F>(frame.data() + 14, static_cast<typename F::Value>(value));
  const auto c = parse_trunk_carrier(frame);
  EXPECT_FALSE(c);
  return c ? TrunkError{} : c.error();
}

TEST(TrunkFragment, WhatIsNoneOrCannotBeIsRefused) {
  using H = TrunkFragmentHeader;
  EXPECT_EQ(error_with<H::Subtype>(1), TrunkError::kForeign);
  EXPECT_EQ(error_with<H::Version>(2), TrunkError::kVersion);
  EXPECT_EQ(error_with<H::Index>(3), TrunkError::kMalformed) << "of three";
  EXPECT_EQ(error_with<H::Index>(255), TrunkError::kMalformed);
  EXPECT_EQ(error_with<H::MessageOctets>(0), TrunkError::kMalformed);
  EXPECT_EQ(error_with<H::MessageOctets>(kMostTrunkMessageOctets + 1), TrunkError::kMalformed);
  EXPECT_EQ(error_with<H::MessageOctets>(65535), TrunkError::kMalformed);
  EXPECT_EQ(error_with<H::Piece>(0), TrunkError::kMalformed);
  EXPECT_EQ(error_with<H::Piece>(61), TrunkError::kMalformed) << "more fragments than may be";
  EXPECT_EQ(error_with<H::Piece>(65535), TrunkError::kMalformed);
  EXPECT_EQ(error_with<H::Piece>(4000), TrunkError::kMalformed) << "which the frame does not have";
  Octets other = frames_of(numbered_octets(100), 1500)[0];
  wire::write<wire::Ethernet::EtherType>(other.data(), 0x88B6);
  EXPECT_EQ(parse_trunk_carrier(other).error(), TrunkError::kForeign);
}

TEST(TrunkFragment, AddressesAreUnicastLocalAndDifferFromLifeToLife) {
  const wire::MacAddress a = trunk_mac(1'700'000'000'000'000'000), b = trunk_mac(1'700'000'000'000'000'001);
  EXPECT_NE(a, b);
  for (const wire::MacAddress mac : {a, b}) EXPECT_EQ(mac.octets[0] & 3, 2);
}

}  // namespace
}  // namespace railyard
