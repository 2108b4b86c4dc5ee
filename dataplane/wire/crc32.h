// CRC-32 as of IEEE 802.3 §3.2.9 (reflected, polynomial 0x04C11DB7, preset to and complemented with all ones).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dataplane/wire/field.h"

namespace railyard::wire {

// The CRC of `octets`, or of what `so_far` is the CRC of and `octets` after it.
std::uint32_t crc32(std::span<const std::byte> octets, std::uint32_t so_far = 0) noexcept;

// What crc32() gives over anything followed by its own CRC: the complement of the residue 0xDEBB20E3.
inline constexpr std::uint32_t kCrc32Check = 0x2144DF1C;

inline constexpr std::size_t kCrc32Octets = 4;

// A CRC is sent least significant octet first, FCS and ICRC alike.
constexpr void write_crc32(std::byte* at, std::uint32_t crc) noexcept { write<Field<0, 32>>(at, std::byteswap(crc)); }
[[nodiscard]] constexpr std::uint32_t read_crc32(const std::byte* at) noexcept {
  return std::byteswap(read<Field<0, 32>>(at));
}

}  // namespace railyard::wire
