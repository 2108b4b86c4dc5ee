// Header fields as the standards' figures show them: a first bit and a width, most significant bit first.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "dataplane/base/assert.h"

namespace railyard::wire {

// The smallest unsigned type of at least `bits` bits.
template <std::size_t bits>
using UnsignedOf = std::conditional_t<
    bits <= 8, std::uint8_t,
    std::conditional_t<bits <= 16, std::uint16_t, std::conditional_t<bits <= 32, std::uint32_t, std::uint64_t>>>;

// `width` bits from bit `first_bit` of a header, counted as in the figure. Its value is the smallest unsigned type that
// holds it.
template <std::size_t first_bit, std::size_t width>
struct Field {
  static constexpr std::size_t kFirstBit = first_bit;
  static constexpr std::size_t kEndBit = first_bit + width;
  static constexpr std::size_t kFirstOctet = first_bit / 8;
  static constexpr std::size_t kEndOctet = (kEndBit + 7) / 8;
  static constexpr std::size_t kOctets = kEndOctet - kFirstOctet;
  static_assert(width > 0 && kOctets <= 8, "a field lies within 8 octets; addresses are OctetFields");

  using Value = UnsignedOf<width>;
  static constexpr Value kMax = static_cast<Value>(~std::uint64_t{0} >> (64 - width));
};

// Whole octets that are not a number, as the class `Octets` that holds them: addresses.
template <std::size_t first_bit, class Octets>
struct OctetField {
  static_assert(first_bit % 8 == 0 && alignof(Octets) == 1 && std::is_trivially_copyable_v<Octets>);
  static constexpr std::size_t kFirstBit = first_bit;
  static constexpr std::size_t kOctets = sizeof(Octets);
  static constexpr std::size_t kEndBit = first_bit + 8 * kOctets;
  static constexpr std::size_t kFirstOctet = first_bit / 8;
  static constexpr std::size_t kEndOctet = kFirstOctet + kOctets;
  using Value = Octets;
};

// Whether the fields, in the figure's order, follow one another from `bit` on.
template <class... Fields>
consteval bool adjoin(std::size_t bit) {
  return ((Fields::kFirstBit == std::exchange(bit, Fields::kEndBit)) && ...);
}

// Whether the fields, in the figure's order, cover a header of `octets` octets with neither gap nor overlap.
template <std::size_t octets, class... Fields>
consteval bool tiles() {
  return adjoin<Fields...>(0) && std::max({Fields::kEndBit...}) == 8 * octets;
}

namespace detail {

// What reads and writes a field; `i` numbers its octets. Folds, not loops: GCC 12 then makes a whole 16-, 32- or 64-bit
// field one load or store and a bswap.
template <class F, class Octets = std::make_index_sequence<F::kOctets>>
struct Access;

template <std::size_t first_bit, std::size_t width, std::size_t... i>
struct Access<Field<first_bit, width>, std::index_sequence<i...>> {
  using F = Field<first_bit, width>;
  using Word = UnsignedOf<8 * F::kOctets>;  // all octets of the field, no wider, or GCC does not see one load
  static constexpr std::size_t kShift = 8 * F::kEndOctet - F::kEndBit;
  static constexpr std::uint64_t kMask = std::uint64_t{F::kMax} << kShift;

  // The shift of octet `at` in the word, and which of its bits are the field's.
  static constexpr std::size_t shift(std::size_t at) { return 8 * (F::kOctets - 1 - at); }
  template <std::size_t at>
  static constexpr std::byte kOwn{static_cast<std::uint8_t>(kMask >> shift(at) & 0xFF)};

  static constexpr typename F::Value read(const std::byte* octet) noexcept {
    const auto word = static_cast<Word>((... | static_cast<Word>(static_cast<Word>(octet[i]) << shift(i))));
    return static_cast<typename F::Value>((word >> kShift) & F::kMax);
  }
  static constexpr void write(std::byte* octet, typename F::Value value) noexcept {
    RAILYARD_EXPENSIVE_ASSERT(value <= F::kMax, "a value fits its header field");
    const auto word = static_cast<Word>((std::uint64_t{value} << kShift) & kMask);
    (..., put<i>(octet[i], std::byte{static_cast<std::uint8_t>((word >> shift(i)) & 0xFF)}));
  }
  template <std::size_t at>
  static constexpr void put(std::byte& octet, std::byte bits) noexcept {
    octet = kOwn<at> == std::byte{0xFF} ? bits : (octet & ~kOwn<at>) | bits;
  }
};

template <std::size_t first_bit, class Octets, std::size_t... i>
struct Access<OctetField<first_bit, Octets>, std::index_sequence<i...>> {
  struct Raw {
    std::byte octets[sizeof...(i)];
  };
  static constexpr Octets read(const std::byte* octet) noexcept { return std::bit_cast<Octets>(Raw{{octet[i]...}}); }
  static constexpr void write(std::byte* octet, Octets value) noexcept {
    const Raw raw = std::bit_cast<Raw>(value);
    (..., (octet[i] = raw.octets[i]));
  }
};

}  // namespace detail

// The value of field F of the header at `header`, which has at least F::kEndOctet octets.
template <class F>
[[nodiscard]] constexpr typename F::Value read(const std::byte* header) noexcept {
  return detail::Access<F>::read(header + F::kFirstOctet);
}

// Sets field F of the header at `header`; the bits around it stay. `value` fits the field.
template <class F>
constexpr void write(std::byte* header, typename F::Value value) noexcept {
  detail::Access<F>::write(header + F::kFirstOctet, value);
}

// Sets fields that follow one another and fill whole octets, 8 at most, at once: one store, and nothing is read.
template <class... F>
constexpr void write_together(std::byte* header, typename F::Value... values) noexcept {
  constexpr std::size_t begin = std::min({F::kFirstBit...}), end = std::max({F::kEndBit...});
  static_assert(begin % 8 == 0 && end % 8 == 0 && adjoin<F...>(begin));
  RAILYARD_EXPENSIVE_ASSERT(((values <= F::kMax) && ...), "a value fits its header field");
  using All = Field<begin, end - begin>;
  const std::uint64_t word = (... | (std::uint64_t{values} << (end - F::kEndBit)));
  write<All>(header, static_cast<typename All::Value>(word));
}

// Whether a header of known length `octets` has all of field F.
template <class F, std::size_t octets>
concept FieldOf = (octets != std::dynamic_extent) && (F::kEndOctet <= octets);

// The same for a span of known length: a field beyond its end does not compile.
template <class F, class Octet, std::size_t n>
requires FieldOf<F, n>
[[nodiscard]] constexpr typename F::Value read(std::span<Octet, n> header) noexcept { return read<F>(header.data()); }
template <class F, std::size_t n>
requires FieldOf<F, n>
constexpr void write(std::span<std::byte, n> header, typename F::Value value) noexcept {
  write<F>(header.data(), value);
}

}  // namespace railyard::wire
