#include "dataplane/fault/chance.h"

namespace railyard {
namespace {

std::uint64_t times(std::uint64_t a, std::uint64_t b) noexcept {
  return static_cast<std::uint64_t>((static_cast<UInt128>(a) * b) >> 64);
}

}  // namespace

Chance Chance::of(std::int64_t numerator, std::int64_t denominator) noexcept {
  if (numerator >= denominator) return always();
  return Chance(
      static_cast<std::uint64_t>((static_cast<UInt128>(numerator) << 64) / static_cast<std::uint64_t>(denominator)),
      false);
}

BitErrors::BitErrors(std::int64_t numerator, std::int64_t denominator) noexcept {
  const auto below = static_cast<std::uint64_t>(denominator);
  const UInt128 right = static_cast<UInt128>(denominator - numerator) << 64;
  std::uint64_t bits = static_cast<std::uint64_t>(right / below);
  for (int i = 0; i < 3; ++i) bits = times(bits, bits);
  for (std::uint64_t& power : intact_) {
    power = bits;
    bits = times(bits, bits);
  }
}

std::uint64_t BitErrors::intact(std::uint32_t octets) const noexcept {
  std::uint64_t product = ~std::uint64_t{0};
  for (std::size_t i = 0; octets != 0; ++i, octets >>= 1)
    if ((octets & 1) != 0) product = times(product, intact_[i]);
  return product;
}

}  // namespace railyard
