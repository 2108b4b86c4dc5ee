#include "dataplane/wire/field.h"

#include <array>
#include <cstdint>
#include <random>

#include <gtest/gtest.h>

#include "tests/dataplane/wire/octets.h"

namespace railyard::wire {
namespace {

// `tiles` is what makes a header that contradicts its figure fail to compile.
static_assert(tiles<2, Field<0, 4>, Field<4, 12>>());
static_assert(!tiles<2, Field<0, 5>, Field<4, 12>>(), "overlap");
static_assert(!tiles<2, Field<0, 4>, Field<5, 11>>(), "gap");
static_assert(!tiles<2, Field<4, 12>>(), "gap at the beginning");
static_assert(!tiles<2, Field<0, 4>, Field<4, 11>>(), "gap at the end");
static_assert(!tiles<2, Field<0, 4>, Field<4, 13>>(), "longer than the header");
static_assert(!tiles<2, Field<4, 12>, Field<0, 4>>(), "not in the figure's order");

template <class F, class Header>
concept Readable = requires(Header header) {
  read<F>(header);
};
static_assert(Readable<Field<8, 8>, std::span<const std::byte, 2>> && Readable<Field<8, 8>, std::span<std::byte, 2>>);
static_assert(!Readable<Field<9, 8>, std::span<const std::byte, 2>>, "reaches beyond the end");
static_assert(!Readable<Field<0, 8>, std::span<const std::byte>>, "length not known");

static_assert(std::same_as<Field<3, 8>::Value, std::uint8_t> && std::same_as<Field<0, 9>::Value, std::uint16_t> &&
              std::same_as<Field<0, 17>::Value, std::uint32_t> && std::same_as<Field<0, 33>::Value, std::uint64_t>);

static_assert(adjoin<Field<8, 3>, Field<11, 5>>(8) && !adjoin<Field<8, 3>, Field<12, 4>>(8));

TEST(Field, ThoseOfAWordAreWrittenTogether) {
  Octets header = hex("ff ff ff ff ff");
  write_together<Field<8, 3>, Field<11, 1>, Field<12, 12>>(header.data(), 0b101, 0, 0xABC);
  EXPECT_EQ(header, hex("ff aa bc ff ff"));
  write_together<Field<0, 8>, Field<8, 24>>(header.data(), 0x12, 0x345678);
  EXPECT_EQ(header, hex("12 34 56 78 ff"));
}

TEST(Field, IsReadMostSignificantBitFirst) {
  const Octets header = hex("12 34 56 78 9a bc de f0 11");
  EXPECT_EQ((read<Field<0, 4>>(header.data())), 0x1);
  EXPECT_EQ((read<Field<4, 4>>(header.data())), 0x2);
  EXPECT_EQ((read<Field<8, 16>>(header.data())), 0x3456);
  EXPECT_EQ((read<Field<4, 12>>(header.data())), 0x234);
  EXPECT_EQ((read<Field<12, 20>>(header.data())), 0x45678u);
  EXPECT_EQ((read<Field<16, 24>>(header.data())), 0x56789Au);
  EXPECT_EQ((read<Field<8, 64>>(header.data())), 0x3456789ABCDEF011u);
  EXPECT_EQ((read<Field<3, 1>>(header.data())), 1);
}

TEST(Field, IsUsableInConstantExpressions) {
  constexpr auto kHeader = [] {
    std::array<std::byte, 4> header{};
    write<Field<4, 12>>(header.data(), 0xABC);
    write<Field<16, 16>>(std::span(header), 0x1234);
    return header;
  }();
  static_assert(read<Field<0, 32>>(kHeader.data()) == 0x0ABC1234);
  static_assert(read<Field<4, 12>>(std::span(kHeader)) == 0xABC);
}

TEST(Field, OfWholeOctetsIsReadAsItLies) {
  using Address = OctetField<16, std::array<std::uint8_t, 6>>;
  Octets header = hex("0000 020000000001 ffff");
  EXPECT_EQ(read<Address>(header.data()), (std::array<std::uint8_t, 6>{2, 0, 0, 0, 0, 1}));
  write<Address>(header.data(), {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(to_hex(header), "0000010203040506ffff");
}

// One bit at a time, as the figures count them.
std::uint64_t bits(const Octets& header, std::size_t first_bit, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t b = first_bit; b < first_bit + width; ++b) {
    value = value << 1 | (static_cast<unsigned>(header[b / 8]) >> (7 - b % 8) & 1);
  }
  return value;
}

template <std::size_t first_bit, std::size_t width>
void check_against_bits(std::mt19937_64& random) {
  using F = Field<first_bit, width>;
  Octets header(16);
  for (std::byte& octet : header) octet = static_cast<std::byte>(random() & 0xFF);
  const Octets before = header;
  ASSERT_EQ(read<F>(header.data()), bits(header, first_bit, width));
  const auto value = static_cast<typename F::Value>(random() & F::kMax);
  write<F>(header.data(), value);
  ASSERT_EQ(bits(header, first_bit, width), value);
  for (std::size_t b = 0; b < 8 * header.size(); ++b) {
    if (b >= first_bit && b < first_bit + width) continue;
    ASSERT_EQ(bits(header, b, 1), bits(before, b, 1)) << "bit " << b;
  }
}

// Every first bit within an octet and every width that then lies within 8 octets.
template <std::size_t width, std::size_t... first>
void check_width(std::mt19937_64& random, std::index_sequence<first...>) {
  const auto check_one = [&]<std::size_t n>() {
    if constexpr (n + width <= 64) check_against_bits<16 + n, width>(random);
  };
  (check_one.template operator()<first>(), ...);
}

template <std::size_t... i>
void check_all(std::mt19937_64& random, std::index_sequence<i...>) {
  (check_width<i + 1>(random, std::make_index_sequence<8>{}), ...);
}

TEST(Field, OfAnyPlaceAndWidthAgreesWithBitsAndLeavesTheOthersAlone) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 100; ++round) check_all(random, std::make_index_sequence<64>{});
}

}  // namespace
}  // namespace railyard::wire
