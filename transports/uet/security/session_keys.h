// The keys of one security domain at one endpoint: which key a packet is sealed with, by its association number, epoch,
// counter and peer. UET page §11.
#pragma once

#include <cstdint>
#include <optional>

#include "dataplane/wire/address.h"
#include "transports/uet/security/identity.h"
#include "transports/uet/security/key_derivation.h"
#include "transports/uet/security/security_config.h"
#include "transports/uet/security/session_key.h"
#include "transports/uet/wire/tss.h"

namespace railyard::uet {

// Packets with equal names have one key.
struct KeyName {
  bool an = false;
  std::uint16_t epoch = 0;    // 0 of direct keys
  std::uint32_t rekeyed = 0;  // the re-key counter; 0 of direct keys
  Identity identity{};        // nobody of direct keys

  bool operator==(const KeyName&) const = default;
};

class SessionKeys {
 public:
  explicit SessionKeys(const SecurityConfig& config);

  // Whether there is a key for this association number.
  bool has(bool an) const noexcept { return an == config_.an || config_.rotates(); }
  // Of a packet that this end sends to `destination`.
  KeyName name_of_sent(const TssValues& tss, const wire::IpAddress& source, const wire::IpAddress& destination) const;
  // Of a packet that it receives.
  KeyName name_of_received(const TssValues& tss, const wire::IpAddress& source,
                           const wire::IpAddress& destination) const;
  // Its key; derived each time.
  SessionKey key(const KeyName& name);

 private:
  KeyName name(const TssValues& tss, const Identity& identity) const;

  SecurityConfig config_;
  std::optional<KeyDerivation> first_;   // of the association number that is first in use
  std::optional<KeyDerivation> second_;  // of the other one
};

}  // namespace railyard::uet
