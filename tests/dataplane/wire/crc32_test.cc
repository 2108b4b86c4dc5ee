#include "dataplane/wire/crc32.h"

#include <string_view>

#include <gtest/gtest.h>

#include "tests/dataplane/wire/octets.h"

namespace railyard::wire {
namespace {

// Bit by bit, as the polynomial is written.
std::uint32_t crc32_by_bits(std::span<const std::byte> octets) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const std::byte octet : octets) {
    crc ^= static_cast<std::uint32_t>(octet);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
  }
  return ~crc;
}

TEST(Crc32, CheckValue) {
  constexpr std::string_view kDigits = "123456789";
  EXPECT_EQ(crc32(std::as_bytes(std::span(kDigits))), 0xCBF43926);  // ITU-T V.42, the usual "check"
  EXPECT_EQ(crc32({}), 0u);
}

TEST(Crc32, OfAnyLengthAndInPieces) {
  Octets octets;
  for (std::size_t n = 0; n < 300; ++n) {
    ASSERT_EQ(crc32(octets), crc32_by_bits(octets)) << n;
    const auto cut = std::span(octets).first(n / 3);
    ASSERT_EQ(crc32(std::span(octets).subspan(n / 3), crc32(cut)), crc32(octets)) << n;
    octets.push_back(static_cast<std::byte>(n * 37 & 0xFF));
  }
}

TEST(Crc32, FollowedByItselfGivesTheResidue) {
  Octets octets = hex("00 11 22 33 44 55 00 00 00 00");
  write_crc32(octets.data() + 6, crc32(std::span(octets).first(6)));
  EXPECT_EQ(read_crc32(octets.data() + 6), crc32(std::span(octets).first(6)));
  EXPECT_EQ(crc32(octets), kCrc32Check);
  EXPECT_EQ(~kCrc32Check, 0xDEBB20E3);
}

TEST(Crc32, IsSentLeastSignificantOctetFirst) {
  Octets octets(4);
  write_crc32(octets.data(), 0x2A00FD82);
  EXPECT_EQ(to_hex(octets), "82fd002a");
}

}  // namespace
}  // namespace railyard::wire
