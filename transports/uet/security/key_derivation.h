// Derivation of keys from a domain's key: NIST SP 800-108 r1 §4.1 (counter mode) with AES-256-CMAC.
//
//   K(i) = CMAC(key, [i]32 || label || 0x00 || context || [L]32),  L = 352 bits: 32 octets of key, 12 of IV mask
//
// DEVIATION: UET page §11 names the mode and the labels. The width of i and L, and the octet between label and context,
// are those of the usual form of SP 800-108.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "transports/uet/security/aes_cmac.h"
#include "transports/uet/security/session_key.h"

namespace railyard::uet {

inline constexpr std::string_view kClusterLabel = "U1";
inline constexpr std::string_view kClientServerLabel = "U2";

class KeyDerivation {
 public:
  // `label`: kLabelOctets.
  KeyDerivation(const SecurityKey& key, std::string_view label);

  // `context`: at most kMostContextOctets.
  SessionKey derive(std::span<const std::byte> context) noexcept;

  static constexpr std::size_t kLabelOctets = 2;
  static constexpr std::size_t kMostContextOctets = 2 + 4 + 16;

 private:
  AesCmac cmac_;
  std::array<std::byte, kLabelOctets> label_{};
};

}  // namespace railyard::uet
