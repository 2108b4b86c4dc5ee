// Why a receiver with a security domain drops a packet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace railyard::uet {

enum class SecurityDrop : std::uint8_t {
  kNotSecured,            // no TSS header, but this end takes secured packets only
  kTrimmed,               // secured and trimmed: the PDS header cannot be authenticated, so nothing answers it
  kUnknownDomain,         // an SDI that this end has no keys for
  kUnknownAssociation,    // an association number that this end has no key for
  kStaleEpoch,            // an epoch older than the one in use
  kAuthenticationFailed,  // a wrong key, or octets that changed on the way
  kReplayed,              // a counter that was received before, or is older than the replay window
  kCount
};
inline constexpr std::size_t kSecurityDrops = static_cast<std::size_t>(SecurityDrop::kCount);

// The name in reports, e.g. "authentication_failed".
std::string_view name(SecurityDrop reason) noexcept;

}  // namespace railyard::uet
