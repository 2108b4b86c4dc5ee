// Settings of the transport security sublayer (TSS) at one endpoint: UET page §11.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "dataplane/base/time.h"

namespace railyard::uet {

inline constexpr std::size_t kKeyOctets = 32;  // of AES-256
using SecurityKey = std::array<std::byte, kKeyOctets>;

// How the key of a packet follows from the key of the security domain.
enum class SecurityMode : std::uint8_t {
  kDirect,   // it is the domain's key
  kCluster,  // derived for the sender, label "U1": every member of the domain can derive it
  kClient,   // derived for this client, label "U2": it talks to servers
  kServer,   // derived for the peer, a client, label "U2"
};

struct SecurityConfig {
  SecurityMode mode = SecurityMode::kDirect;
  std::uint32_t sdi = 0;  // 24 bits: security domain
  // Source identifier of packets over IPv6. It differs between the endpoints of a domain: the nonce of a packet holds 32
  // bits of its source, and an IPv6 address has more.
  std::optional<std::uint32_t> ssi{};
  SecurityKey key{};
  std::optional<SecurityKey> next_key{};  // of the other association number; nothing: the same key
  bool an = false;                        // the first association number
  std::uint16_t epoch = 1;                // the first epoch; older ones are refused
  // A rotation takes the other association number, its key and the next epoch.
  std::uint64_t rotate_after = 0;          // packets of one epoch; 0: never
  Instant rotate_at = Instant::never();    // one rotation at this time
  // Derived keys change every 2^n packets without a rotation: the counter's upper bits take part in the derivation.
  std::uint8_t rekey_bits = kCounterBits;
  std::uint32_t replay_window = 4096;  // packets, a power of two from 64 on

  static constexpr std::uint8_t kCounterBits = 48;  // of the tsc

  // Whether the other association number may be used at all.
  constexpr bool rotates() const noexcept {
    return next_key.has_value() || rotate_after != 0 || rotate_at != Instant::never();
  }

  bool operator==(const SecurityConfig&) const = default;
};

}  // namespace railyard::uet
