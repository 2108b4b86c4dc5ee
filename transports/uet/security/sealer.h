// The sending half of a security domain: gives every transmission a TSS header with a counter of its own, rotates keys,
// and encrypts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "dataplane/base/time.h"
#include "dataplane/wire/address.h"
#include "transports/uet/security/aes_gcm.h"
#include "transports/uet/security/session_keys.h"

namespace railyard::uet {

class Sealer {
 public:
  explicit Sealer(const SecurityConfig& config);

  // The TSS header of the next packet, sent at `now` from an address of this family. Every call has another tsc: a
  // retransmission is a packet of its own.
  TssValues next(Instant now, bool v4) noexcept;

  // Encrypts the packet that `tss` was drawn for: transform() its parts in order, then finish().
  AesGcm& begin(const TssValues& tss, const wire::IpAddress& source, const wire::IpAddress& destination,
                std::span<const std::byte> additional);

  std::uint64_t rotations() const noexcept { return rotations_; }

 private:
  struct Keyed {
    KeyName name{};
    Iv mask{};
    AesGcm cipher;
  };

  void rotate() noexcept;
  bool can_rotate() const noexcept { return epoch_ != 0xFFFF; }

  SecurityConfig config_;
  SessionKeys keys_;
  bool an_;
  std::uint16_t epoch_;
  std::uint64_t counter_ = 0;  // of the next packet
  bool rotated_in_time_ = false;
  std::uint64_t rotations_ = 0;
  // Of each identity the key in use: of a server one for each client.
  std::unordered_map<Identity, Keyed, IdentityHash> ciphers_;
};

}  // namespace railyard::uet
