#include "dataplane/wire/crc32c.h"

#include <string_view>

#include <gtest/gtest.h>

#include "tests/dataplane/wire/octets.h"

namespace railyard::wire {
namespace {

// Bit by bit, as the polynomial is written.
std::uint32_t crc32c_by_bits(std::span<const std::byte> octets) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const std::byte octet : octets) {
    crc ^= static_cast<std::uint32_t>(octet);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78 : 0);
  }
  return ~crc;
}

TEST(Crc32c, CheckValues) {
  constexpr std::string_view kDigits = "123456789";
  EXPECT_EQ(crc32c(std::as_bytes(std::span(kDigits))), 0xE3069283);
  EXPECT_EQ(crc32c(Octets(32)), 0x8A9136AA);  // RFC 3720 appendix B.4
  EXPECT_EQ(crc32c({}), 0u);
}

TEST(Crc32c, OfAnyLengthAndInPieces) {
  Octets octets;
  for (std::size_t n = 0; n < 300; ++n) {
    ASSERT_EQ(crc32c(octets), crc32c_by_bits(octets)) << n;
    const auto cut = std::span(octets).first(n / 3);
    ASSERT_EQ(crc32c(std::span(octets).subspan(n / 3), crc32c(cut)), crc32c(octets)) << n;
    octets.push_back(static_cast<std::byte>(n * 37 & 0xFF));
  }
}

}  // namespace
}  // namespace railyard::wire
