// The receiving half of a security domain: finds the key of a packet, authenticates and decrypts it, and refuses stale
// epochs and replays. A source is remembered once a packet of it was authentic, so forged packets take no memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>

#include "dataplane/wire/address.h"
#include "transports/uet/security/aes_gcm.h"
#include "transports/uet/security/replay_window.h"
#include "transports/uet/security/security_drop.h"
#include "transports/uet/security/session_keys.h"

namespace railyard::uet {

// A packet as it was received.
struct SealedPacket {
  TssValues tss{};
  wire::IpAddress source{};
  wire::IpAddress destination{};
  std::span<const std::byte> additional{};
  std::span<const std::byte> octets{};  // encrypted, without ICV
  std::span<const std::byte, kIcvOctets> icv;
};

class Opener {
 public:
  explicit Opener(const SecurityConfig& config);

  // Decrypts it into `out`, which has room for as many octets and is no part of it. Else why it is dropped, and `out` is
  // worthless.
  //
  // The checks that cost little come first; only an authentic packet changes any state.
  std::optional<SecurityDrop> open(const SealedPacket& packet, std::byte* out);

  // Sources of which an authentic packet was received.
  std::size_t sources() const noexcept { return sources_.size(); }

 private:
  struct Keyed {
    KeyName name{};
    Iv mask{};
    AesGcm cipher;
  };
  // One source and association number.
  struct Association {
    std::uint16_t epoch;  // the newest one that was authentic
    ReplayWindow window;
    // Packets around a change of derived keys overtake each other: the key before is kept.
    std::optional<Keyed> current{};
    std::optional<Keyed> before{};
  };
  using Source = std::array<std::optional<Association>, 2>;  // by association number

  Keyed derived(const KeyName& name);
  Keyed* known(const KeyName& name, Association* association) noexcept;

  SecurityConfig config_;
  SessionKeys keys_;
  std::array<std::optional<Keyed>, 2> direct_;  // direct keys, the same for all sources
  std::unordered_map<Identity, Source, IdentityHash> sources_;
};

}  // namespace railyard::uet
