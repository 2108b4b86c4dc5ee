// Why octets are no UET packet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace railyard::uet {

// All of these are dropped in silence and counted.
enum class Malformed : std::uint8_t {
  kTooShort,         // no room for a prologue
  kReservedType,     // PDS type 0 or 15..31
  kSecured,          // a TSS header: what follows is encrypted
  kReservedCtlType,  // a control packet of type 10..15
  kBadNextHdr,       // reserved, or one that this type does not have: allowed_after()
  kHeadersCut,       // ends within a header that was announced
  kBadPayloadLength,  // octets behind an ACK, NACK or control packet: runs_on()
  kCount
};
inline constexpr std::size_t kMalformedReasons = static_cast<std::size_t>(Malformed::kCount);

// The name in reports, e.g. "reserved_type".
std::string_view name(Malformed reason) noexcept;

}  // namespace railyard::uet
