// CRC-32C (Castagnoli: reflected, polynomial 0x1EDC6F41, preset to and complemented with all ones), as iSCSI has it
// (RFC 3720 appendix B.4) and Ultra Ethernet's trailer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace railyard::wire {

// The CRC of `octets`, or of what `so_far` is the CRC of and `octets` after it.
std::uint32_t crc32c(std::span<const std::byte> octets, std::uint32_t so_far = 0) noexcept;

}  // namespace railyard::wire
