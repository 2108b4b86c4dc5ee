#include "dataplane/trunk/message.h"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/base/rng.h"

namespace railyard {
namespace {

using namespace literals;

const TrunkHead kHead{0x1122334455667788, 0x99AABBCCDDEEFF00, 42};

TrunkPing some_ping() {
  return {Instant{5'000}, Instant{4'000}, Instant{4'500}, 41, 40, {100_Gbps, 200_us, 9216, 1, 100}, true};
}

std::vector<std::byte> message_of(const TrunkPing& ping) {
  std::vector<std::byte> out(kTrunkPingOctets);
  write_ping(std::span<std::byte, kTrunkPingOctets>(out), kHead, ping);
  return out;
}

std::vector<std::byte> message_of(TrunkFrame f, const std::vector<std::byte>& own, std::size_t header) {
  f.header = std::span(own).first(header);
  std::vector<std::byte> out(kTrunkFrameOctets);
  write_frame(std::span<std::byte, kTrunkFrameOctets>(out.data(), kTrunkFrameOctets), kHead, f);
  out.insert(out.end(), own.begin(), own.end());
  return out;
}

TrunkFrame some_frame(std::uint8_t flags) {
  return {Instant{7'000}, Instant{6'000}, 3, 8192, 66 + 1000 + 4, 1000, flags, {}, {}};
}

TEST(TrunkMessage, APingIsReadAsItWasWritten) {
  const auto m = parse_trunk_message(message_of(some_ping()));
  ASSERT_TRUE(m);
  EXPECT_EQ(m->head, kHead);
  EXPECT_EQ(std::get<TrunkPing>(m->body), some_ping());
}

TEST(TrunkMessage, AFrameCarriesItsOctets) {
  const std::vector<std::byte> own(1066, std::byte{0x5A});
  const auto octets = message_of(some_frame(Packet::kFcsBad), own, 66);
  const auto m = parse_trunk_message(octets);
  ASSERT_TRUE(m);
  const auto& f = std::get<TrunkFrame>(m->body);
  EXPECT_EQ(f.start, Instant{7'000});
  EXPECT_EQ(f.flags, Packet::kFcsBad);
  EXPECT_EQ(f.header.size(), 66u);
  EXPECT_EQ(f.payload.size(), 1000u);
  EXPECT_TRUE(std::ranges::equal(f.payload, std::span(own).subspan(66)));
}

TEST(TrunkMessage, SyntheticPayloadIsItsIdentityOnly) {
  const auto octets = message_of(some_frame(Packet::kElided), std::vector<std::byte>(66), 66);
  EXPECT_EQ(octets.size(), kTrunkFrameOctets + 66);
  const auto m = parse_trunk_message(octets);
  ASSERT_TRUE(m);
  const auto& f = std::get<TrunkFrame>(m->body);
  EXPECT_TRUE(f.payload.empty());
  EXPECT_EQ(f.payload_octets, 1000u);
  EXPECT_EQ(f.stream, 3u);
  EXPECT_EQ(f.offset, 8192u);
}

TEST(TrunkMessage, WhatIsForeignOldOrWrongSaysWhich) {
  EXPECT_EQ(parse_trunk_message({}).error(), TrunkError::kForeign);
  auto octets = message_of(some_ping());
  octets[0] ^= std::byte{1};
  EXPECT_EQ(parse_trunk_message(octets).error(), TrunkError::kForeign);
  octets = message_of(some_ping());
  octets[4] = std::byte{2};
  EXPECT_EQ(parse_trunk_message(octets).error(), TrunkError::kVersion);
  octets = message_of(some_ping());
  octets.pop_back();
  EXPECT_EQ(parse_trunk_message(octets).error(), TrunkError::kMalformed);
  octets = message_of(some_ping());
  octets[TrunkHeader::kOctets] = std::byte{0x80};  // an instant that is negative
  EXPECT_EQ(parse_trunk_message(octets).error(), TrunkError::kMalformed);
  octets = message_of(some_frame(0), std::vector<std::byte>(1066), 66);
  octets.push_back({});
  EXPECT_EQ(parse_trunk_message(octets).error(), TrunkError::kMalformed);
}

// Each in memory of its own, exactly as long, so that the address sanitizer sees a read beyond it.
TEST(TrunkMessage, AnyOctetsAreReadWithinTheirBounds) {
  RngStream rng(Seed{7}, "trunk/message");
  const auto frame = message_of(some_frame(0), std::vector<std::byte>(1066), 66);
  const auto ping = message_of(some_ping());
  std::size_t good = 0;
  for (int i = 0; i < 200'000; ++i) {
    const std::vector<std::byte>& from = rng.below(2) == 0 ? frame : ping;
    const std::size_t n = rng.below(4) == 0 ? rng.below(from.size() + 1) : from.size();
    const auto octets = std::make_unique<std::byte[]>(n);
    std::copy_n(from.begin(), n, octets.get());
    for (std::uint64_t k = rng.below(4); k > 0 && n > 0; --k)
      octets[rng.below(std::min<std::size_t>(n, kTrunkPingOctets))] = static_cast<std::byte>(rng.below(256));
    const auto m = parse_trunk_message({octets.get(), n});
    if (!m) continue;
    ++good;
    if (const auto* f = std::get_if<TrunkFrame>(&m->body)) {
      ASSERT_GE(f->header.data(), octets.get());
      ASSERT_LE(f->payload.data() + f->payload.size(), octets.get() + n);
      ASSERT_LE(f->frame_octets, kMostTrunkFrameOctets);
    }
  }
  EXPECT_GT(good, 10'000u);
}

}  // namespace
}  // namespace railyard
