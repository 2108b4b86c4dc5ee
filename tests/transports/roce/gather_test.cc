#include "transports/roce/gather.h"

#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "dataplane/base/payload_pattern.h"

namespace railyard::roce {
namespace {

constexpr ProtectionDomain kDomain{1};

struct Gather : testing::Test {
  std::array<std::byte, 256> octets{};
  MemoryRegions memory;
  MemoryRegions::Key key = 0;
  MemoryRegions::Key read_only = 0;
  MemoryRegions::Key promise = 0;
  BounceBuffers bounce;

  void SetUp() override {
    for (std::size_t i = 0; i < octets.size(); ++i) octets[i] = static_cast<std::byte>(i);
    key = memory
              .add({.address = 0x1000,
                    .octets = octets.size(),
                    .access = Access::kLocalWrite,
                    .domain = kDomain,
                    .memory = octets.data()})
              .value();
    read_only =
        memory.add({.address = 0x1000, .octets = octets.size(), .domain = kDomain, .memory = octets.data()}).value();
    promise = memory
                  .add({.address = 0x1000,
                        .octets = octets.size(),
                        .access = Access::kLocalWrite,
                        .domain = kDomain,
                        .stream = 7})
                  .value();
  }
};

TEST_F(Gather, WhatLiesInOnePieceIsNotCopied) {
  const SgeList pieces{{0x1000, 100, key}, {0x1080, 100, key}};
  const auto payload = gather(memory, kDomain, pieces, 110, 50, bounce).value();
  EXPECT_EQ(payload.bytes, octets.data() + 0x80 + 10);
  EXPECT_EQ(payload.octets, 50u);
}

TEST_F(Gather, PiecesAreJoined) {
  const SgeList pieces{{0x1000, 3, key}, {0x1050, 0, key}, {0x1010, 2, key}, {0x1020, 9, key}};
  const auto payload = gather(memory, kDomain, pieces, 1, 6, bounce).value();
  const std::array expected{std::byte{1},    std::byte{2},    std::byte{0x10},
                            std::byte{0x11}, std::byte{0x20}, std::byte{0x21}};
  EXPECT_TRUE(std::ranges::equal(payload.real(), expected));
}

TEST_F(Gather, BuffersAreKeptUntilReset) {
  const SgeList pieces{{0x1000, 3, key}, {0x1010, 3, key}};
  const auto a = gather(memory, kDomain, pieces, 0, 6, bounce).value();
  const auto b = gather(memory, kDomain, pieces, 0, 6, bounce).value();
  EXPECT_NE(a.bytes, b.bytes);
  bounce.reset();
  EXPECT_EQ(gather(memory, kDomain, pieces, 0, 6, bounce)->bytes, a.bytes);
}

TEST_F(Gather, APromiseIsPassedOnAndOnlyMadeRealWhenJoined) {
  const auto whole = gather(memory, kDomain, {{0x1010, 100, promise}}, 4, 8, bounce).value();
  EXPECT_TRUE(whole.synthetic());
  EXPECT_EQ(whole.stream, 7u);
  EXPECT_EQ(whole.offset, 0x14u);
  const auto joined = gather(memory, kDomain, {{0x1000, 8, promise}, {0x1008, 8, promise}}, 0, 16, bounce).value();
  EXPECT_TRUE(payload_matches(7, 0, joined.real()));
}

TEST_F(Gather, AWrongPieceIsRefused) {
  EXPECT_EQ(gather(memory, kDomain, {{0x1000, 4, key}, {0x1000, 4, 0xBAD}}, 0, 8, bounce).error(),
            AccessError::kUnknownKey);
  EXPECT_EQ(gather(memory, kDomain, {{0x10FE, 4, key}}, 0, 4, bounce).error(), AccessError::kOutOfRange);
  EXPECT_EQ(gather(memory, ProtectionDomain{2}, {{0x1000, 4, key}}, 0, 4, bounce).error(), AccessError::kOtherDomain);
}

TEST_F(Gather, PayloadIsScatteredOverPieces) {
  const std::array in{std::byte{0xA0}, std::byte{0xA1}, std::byte{0xA2}, std::byte{0xA3}};
  const SgeList pieces{{0x1000, 5, key}, {0x1040, 2, key}, {0x1060, 9, key}};
  ASSERT_TRUE(scatter(memory, kDomain, pieces, 4, {.octets = 4, .bytes = in.data()}));
  EXPECT_EQ(octets[4], in[0]);
  EXPECT_EQ(octets[5], std::byte{5});
  EXPECT_EQ(octets[0x40], in[1]);
  EXPECT_EQ(octets[0x41], in[2]);
  EXPECT_EQ(octets[0x60], in[3]);
}

TEST_F(Gather, NothingIsWrittenIfOnePieceIsWrong) {
  const std::array in{std::byte{0xA0}, std::byte{0xA1}};
  const auto before = octets;
  EXPECT_EQ(scatter(memory, kDomain, {{0x1000, 1, key}, {0x1010, 1, read_only}}, 0, {.octets = 2, .bytes = in.data()})
                .error(),
            AccessError::kNotPermitted);
  EXPECT_EQ(octets, before);
}

TEST_F(Gather, APromiseIsMadeRealWhereThereIsMemory) {
  ASSERT_TRUE(scatter(memory, kDomain, {{0x1000, 64, key}}, 0, {.stream = 9, .offset = 512, .octets = 64}));
  EXPECT_TRUE(payload_matches(9, 512, std::span(octets).first(64)));
}

}  // namespace
}  // namespace railyard::roce
