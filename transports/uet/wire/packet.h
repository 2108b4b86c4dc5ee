// A whole UET packet, after UDP or the entropy header: checked once when it is decoded, put together again from the
// same values.
//
//   PDS header | SES header | extension | payload
//
// Behind it is a CRC (encapsulation.h); a packet with a TSS header in front is encrypted (tss.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>

#include "transports/uet/wire/pds.h"
#include "transports/uet/wire/ses.h"

namespace railyard::uet {

struct Packet {
  Pds pds{};
  Ses ses{};  // form(ses) == next_hdr(pds)
  std::uint32_t payload_octets = 0;

  bool operator==(const Packet&) const = default;

  // Octets of all headers: where the payload begins.
  std::size_t header_octets() const noexcept { return uet::octets(pds) + uet::octets(ses); }
  // Without the trailer.
  std::size_t octets() const noexcept { return header_octets() + payload_octets; }
};

// The most octets the headers of a packet have.
inline constexpr std::size_t kMostPacketHeaderOctets = kMostPdsOctets + kMostSesOctets;

// Decodes a packet of `packet_octets` octets, without trailer, of which at least the headers lie in `octets`, its first
// ones: payload that is a promise only (PayloadRef) need not be there. The payload's length is not held against the
// headers: see has_right_length() and runs_on().
[[nodiscard]] std::expected<Packet, Malformed> decode(std::span<const std::byte> octets, std::size_t packet_octets,
                                                      const Dialect& dialect = kStandard) noexcept;
// The same, into `packet`, which holds nothing of use if this returns why it could not.
[[nodiscard]] std::optional<Malformed> decode_into(std::span<const std::byte> octets, std::size_t packet_octets,
                                                   Packet& packet, const Dialect& dialect = kStandard) noexcept;
// The same for a packet in one piece.
[[nodiscard]] inline std::expected<Packet, Malformed> decode(std::span<const std::byte> packet,
                                                             const Dialect& dialect = kStandard) noexcept {
  return decode(packet, packet.size(), dialect);
}

// Writes PDS and SES header; returns their octets. 0, with nothing written, if they do not fit `out`. Values fit their
// fields, and the PDS header announces the SES header.
std::size_t encode_headers(std::span<std::byte> out, const Packet& packet, const Dialect& dialect = kStandard) noexcept;

// Whether octets follow the headers of a packet that answers or controls and brings no data: NACK, control packet, ACK
// or RUDI response without RESPONSE_DATA (UET page §3, §4). Nothing answers such a packet, so the engine drops it as
// Malformed::kBadPayloadLength; a request of a wrong length is answered by its return code.
bool runs_on(const Packet& packet) noexcept;

// Whether there is as much payload as the SES header says, at this Payload MTU; true if it does not say.
bool has_right_length(const Packet& packet, std::size_t payload_mtu) noexcept;

}  // namespace railyard::uet
