// An Ultra Ethernet packet as JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "control/decode/decode_frame.h"
#include "control/decode/decode_options.h"
#include "dataplane/wire/address.h"

namespace railyard::decode {

// A packet in a frame that parse_frame() has accepted.
struct UetOctets {
  std::span<const std::byte> octets{};  // from the TSS or PDS header on, as much as was captured
  std::size_t packet_octets = 0;        // with its CRC or ICV
  std::uint16_t entropy = 0;
  bool trimmed = false;             // cut by a switch: only the PDS header counts
  std::span<const std::byte> ip{};  // the whole IP packet, if it is all there
  // What an ICV covers in front of it; the headers are all there.
  const std::byte* ip_header = nullptr;
  const std::byte* l4 = nullptr;  // UDP or the entropy header
  wire::IpAddress source{};
  wire::IpAddress destination{};
};

// Adds proto, uet with the headers nested in it, payload, crc, crc_ok, and error.
void add_uet(Json& out, const UetOctets& packet, const UetOptions& options);

}  // namespace railyard::decode
