// Amounts of data and rates as types: Bytes / BitRate is a Duration, and nothing else mixes.
#pragma once

#include <compare>
#include <cstdint>

#include "dataplane/base/time.h"

namespace railyard {

// __int128 is not ISO C++; the products of bytes and picoseconds need it (8e12 x 1.2 MB overflows 64 bits).
__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

// An amount of data, in octets.
struct Bytes {
  std::int64_t n = 0;

  auto operator<=>(const Bytes&) const = default;
  constexpr Bytes& operator+=(Bytes b) noexcept { return n += b.n, *this; }
  constexpr Bytes& operator-=(Bytes b) noexcept { return n -= b.n, *this; }
};

constexpr Bytes operator+(Bytes a, Bytes b) noexcept { return {a.n + b.n}; }
constexpr Bytes operator-(Bytes a, Bytes b) noexcept { return {a.n - b.n}; }
constexpr Bytes operator*(Bytes b, std::int64_t k) noexcept { return {b.n * k}; }
constexpr Bytes operator*(std::int64_t k, Bytes b) noexcept { return b * k; }

// A rate, in bit/s.
struct BitRate {
  std::int64_t bps = 0;

  auto operator<=>(const BitRate&) const = default;
};

constexpr BitRate operator*(BitRate r, std::int64_t k) noexcept { return {r.bps * k}; }
constexpr BitRate operator/(BitRate r, std::int64_t k) noexcept { return {r.bps / k}; }

inline constexpr std::int64_t kPicosecondsPerSecond = 1'000'000'000'000;

// How long `b` octets take at rate `r` (> 0), to the nearest picosecond.
constexpr Duration operator/(Bytes b, BitRate r) noexcept {
  const Int128 bit_ps = static_cast<Int128>(b.n) * 8 * kPicosecondsPerSecond;
  return {static_cast<std::int64_t>((bit_ps + r.bps / 2) / r.bps)};
}

// How many whole octets pass at rate `r` in `d`.
constexpr Bytes operator*(BitRate r, Duration d) noexcept {
  return {
      static_cast<std::int64_t>(static_cast<Int128>(r.bps) * d.ps / (8 * static_cast<Int128>(kPicosecondsPerSecond)))};
}
constexpr Bytes operator*(Duration d, BitRate r) noexcept { return r * d; }

// Octets to time for one link rate without a division: what a port uses per frame. Picoseconds per octet with 32
// fraction bits; exact where the rate has a whole number of picoseconds per octet (10, 25, 40, 100, 200, 400,
// 800 Gb/s, ...), otherwise within 1 ps up to 4 GB.
class OctetTime {
 public:
  constexpr OctetTime() noexcept = default;
  // `rate` at least 2 kbit/s, so that the time of an octet fits.
  constexpr explicit OctetTime(BitRate rate) noexcept
      : q32_(static_cast<std::uint64_t>(
            ((static_cast<UInt128>(8 * kPicosecondsPerSecond) << 32) + static_cast<std::uint64_t>(rate.bps) / 2) /
            static_cast<std::uint64_t>(rate.bps))) {}

  // The same by a clock that is `slower` billionths slower.
  constexpr OctetTime slower(std::uint32_t billionths) const noexcept {
    OctetTime t;
    t.q32_ = q32_ + static_cast<std::uint64_t>(static_cast<UInt128>(q32_) * billionths / 1'000'000'000);
    return t;
  }

  constexpr Duration of(std::uint32_t octets) const noexcept {
    return {static_cast<std::int64_t>((static_cast<UInt128>(q32_) * octets + (1ull << 31)) >> 32)};
  }

  // What rounding has left over, for a row of frames that is as long as all of them together: a clock that is some
  // millionths slower shows, however short the frames are. One that keeps nothing rounds each frame by itself.
  class Rest {
   public:
    static constexpr Rest kept() noexcept { return Rest(kHalf | 1u); }
    constexpr Rest() noexcept = default;

   private:
    friend OctetTime;
    static constexpr std::uint32_t kHalf = 1u << 31;
    constexpr explicit Rest(std::uint32_t fraction) noexcept : fraction_(fraction) {}
    std::uint32_t fraction_ = kHalf;  // in 1/2^32 ps; its lowest bit: it is kept
  };
  constexpr Duration of(std::uint32_t octets, Rest& rest) const noexcept {
    const UInt128 time = static_cast<UInt128>(q32_) * octets + rest.fraction_;
    const std::uint32_t kept = rest.fraction_ & 1u;
    rest.fraction_ = (((static_cast<std::uint32_t>(time) ^ Rest::kHalf) & (0u - kept)) ^ Rest::kHalf) | kept;
    return {static_cast<std::int64_t>(time >> 32)};
  }

 private:
  std::uint64_t q32_ = 0;
};

namespace literals {
constexpr Bytes operator""_B(unsigned long long n) noexcept { return {static_cast<std::int64_t>(n)}; }
constexpr Bytes operator""_KB(unsigned long long n) noexcept { return {static_cast<std::int64_t>(n) * 1000}; }
constexpr Bytes operator""_MB(unsigned long long n) noexcept { return {static_cast<std::int64_t>(n) * 1'000'000}; }
constexpr Bytes operator""_KiB(unsigned long long n) noexcept { return {static_cast<std::int64_t>(n) << 10}; }
constexpr Bytes operator""_MiB(unsigned long long n) noexcept { return {static_cast<std::int64_t>(n) << 20}; }
constexpr BitRate operator""_bps(unsigned long long n) noexcept { return {static_cast<std::int64_t>(n)}; }
constexpr BitRate operator""_Mbps(unsigned long long n) noexcept { return {static_cast<std::int64_t>(n) * 1'000'000}; }
constexpr BitRate operator""_Gbps(unsigned long long n) noexcept {
  return {static_cast<std::int64_t>(n) * 1'000'000'000};
}
}  // namespace literals

}  // namespace railyard
