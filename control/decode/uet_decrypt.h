// Decrypts a secured UET packet of a capture.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "control/decode/uet_json.h"
#include "transports/uet/wire/tss.h"

namespace railyard::decode {

struct DecryptedUet {
  std::vector<std::byte> octets{};  // from the PDS header on, as much as there is
  std::size_t packet_octets = 0;    // how many they are when all are there; without ICV
  std::optional<bool> icv_ok{};     // nothing: the ICV was not captured, and nothing vouches for the octets
};

// nullopt: there is no key of its domain and association number. Runs with elided payload encrypt only the headers, and
// have the ICV behind them (transports/uet/uet_endpoint_security.cc): both forms are tried.
std::optional<DecryptedUet> decrypt(const UetOctets& packet, const uet::TssValues& tss, const UetOptions& options);

}  // namespace railyard::decode
