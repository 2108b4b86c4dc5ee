// What synthetic payload consists of: octet i of stream s is a function of (s, i) only, cheap to write and to verify at
// memory speed, and different for any two places that hold a stamp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace railyard {

// A stream is a fixed table of pseudo-random octets, repeated, in which every 512th offset begins with an 8-octet stamp
// of (stream, offset). The table makes copying as fast as memcpy; the stamps make every block its own. A range without
// a stamp (at most 504 octets) is the same in every stream, and again 4096 octets later.
inline constexpr std::size_t kPayloadStampEvery = 512;

// Writes octets [offset, offset + out.size()) of `stream`; offset + out.size() < 2^64.
void fill_payload(std::uint64_t stream, std::uint64_t offset, std::span<std::byte> out) noexcept;

// Whether `octets` are exactly what fill_payload writes there.
bool payload_matches(std::uint64_t stream, std::uint64_t offset, std::span<const std::byte> octets) noexcept;

}  // namespace railyard
