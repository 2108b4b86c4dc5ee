// A frame's octets where somebody needs all of them: synthetic payload and the pending CRC are made real here.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dataplane/base/path_telemetry.h"
#include "dataplane/base/payload_ref.h"
#include "dataplane/packet/packet.h"

namespace railyard {

// Puts the frame with these headers and this payload into `out`, from the Ethernet header to the last octet before the
// FCS. `icrc`: a CRC follows the payload (crc_trailer.h). `corrupted`: the payload is (corruption.h), after the ICRC was made.
// Frames shorter than the minimum are padded.
void assemble(std::span<const std::byte> header, const PayloadRef& payload, bool icrc, std::vector<std::byte>& out,
              bool corrupted = false);

// The same for a packet, with the in-band telemetry that it carries.
void assemble(const Packet& packet, std::vector<std::byte>& out);

// Puts in-band telemetry behind a frame that has been assembled.
void append_telemetry(const PathTelemetry& telemetry, std::vector<std::byte>& out);

}  // namespace railyard
