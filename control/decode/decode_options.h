// What a capture does not say of itself, and its reader has to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "control/decode/uet_key.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/udp.h"
#include "transports/uet/wire/carrier.h"
#include "transports/uet/wire/dialect.h"
#include "transports/uet/wire/tss.h"

namespace railyard::decode {

enum class UetCrc : std::uint8_t { kNone, kMsbFirst, kLsbFirst };

// Of Ultra Ethernet, UET page §1: what its packets are found by, and what stands behind them.
struct UetOptions {
  std::uint16_t udp_port = wire::kUetPort;
  std::uint8_t ip_protocol = wire::ip_protocol::kUetNative;  // of packets without UDP
  UetCrc crc = UetCrc::kMsbFirst;                            // at the end of packets that are not encrypted
  std::size_t icv_octets = uet::kIcvOctets;                  // at the end of those that are
  // What else carries it, as the capture says (carrier.h); not if its reader says how.
  std::vector<uet::Carrier> carriers{};
  bool as_capture_says = true;
  std::optional<std::uint8_t> trimmed_dscp{};  // of packets that were cut; with UDP the lengths say so, too
  uet::Dialect dialect = uet::kStandard;
  std::vector<UetKey> keys{};  // encrypted packets of their domains are decrypted
};

struct DecodeOptions {
  UetOptions uet{};
};

}  // namespace railyard::decode
