// A RoCEv2 datagram as JSON.
#pragma once

#include <cstddef>
#include <span>

#include "control/decode/decode_frame.h"

namespace railyard::decode {

// A datagram in a frame that parse_frame() has accepted, with a BTH.
struct RoceOctets {
  std::span<const std::byte> octets{};  // from the BTH on, as much as was captured
  std::size_t datagram_octets = 0;      // of the UDP payload, ICRC included
  std::span<const std::byte> ip{};      // the whole IP packet, if it is all there
};

// Adds proto, bth, the extension headers, payload, mad (to QP 1), icrc, icrc_ok, and error.
void add_roce(Json& out, const RoceOctets& datagram);

}  // namespace railyard::decode
