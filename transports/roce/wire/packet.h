// A whole RoCEv2 datagram, after UDP: checked once when it is decoded, put together again from the same values.
//
//   BTH | extension headers | payload | 0..3 pad octets | ICRC
//
// The ICRC covers the IP header, too: dataplane/wire/icrc.h computes and checks it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string_view>

#include "dataplane/wire/icrc.h"
#include "transports/roce/wire/bth_values.h"
#include "transports/roce/wire/opcode.h"

namespace railyard::roce {

// Why a datagram is no RoCEv2 packet. All of these are dropped in silence and counted (roce-and-lossless §4, steps 2..4
// and §5.6); none is answered by a NAK.
enum class Malformed : std::uint8_t {
  kTooShort,          // no room for a BTH and an ICRC
  kBadVersion,        // TVer is not 0
  kUnknownOpcode,     // reserved, or of RD
  kHeadersCut,        // ends within an extension header that its opcode announces
  kBadPadding,        // more pad octets than there are behind the headers
  kReservedSyndrome,  // an AETH that is neither ACK, RNR NAK nor NAK
  kBadPayloadLength,  // octets behind a response that has none: runs_on()
  kCount
};
inline constexpr std::size_t kMalformedReasons = static_cast<std::size_t>(Malformed::kCount);

// The name in reports, e.g. "unknown_opcode".
std::string_view name(Malformed reason) noexcept;

// What a packet says. Of the extension headers those of its opcode count; the others are as constructed.
struct Packet {
  BthValues bth{};
  XrcEthValues xrc_eth{};
  DethValues deth{};
  FethValues feth{};
  SrEthValues sr_eth{};
  RethValues reth{};
  AtomicEthValues atomic_eth{};
  AethValues aeth{};
  SackEthValues sack_eth{};
  AtomicAckEthValues atomic_ack_eth{};
  ImmDtValues imm_dt{};
  IethValues ieth{};
  CnpReserved cnp_reserved{};
  std::uint32_t payload_octets = 0;  // without padding

  bool operator==(const Packet&) const = default;

  constexpr const OpcodeInfo& info() const noexcept { return kOpcodes[bth.opcode]; }
  // Octets of BTH and extension headers: where the payload begins.
  constexpr std::size_t header_octets() const noexcept { return info().header_octets; }
  // Of the whole datagram, ICRC included.
  constexpr std::size_t octets() const noexcept {
    return header_octets() + payload_octets + bth.pad_cnt + wire::kIcrcOctets;
  }
};

// Decodes a datagram of `datagram_octets` octets, ICRC included, of which at least the headers lie in `octets`, its
// first ones: payload that is a promise only (PayloadRef) need not be there. Neither the payload's length nor padding
// is held against the opcode: a wrong request is answered by a NAK, see has_right_lengths(); a wrong response is dropped,
// see runs_on().
[[nodiscard]] std::expected<Packet, Malformed> decode(std::span<const std::byte> octets,
                                                      std::size_t datagram_octets) noexcept;
// The same into `packet`, which must be as constructed; nullopt: it is decoded. For every packet that comes: a Packet is
// several cache lines, and is not copied this way.
[[nodiscard]] std::optional<Malformed> decode(std::span<const std::byte> octets, std::size_t datagram_octets,
                                              Packet& packet) noexcept;
// The same for a datagram in one piece.
[[nodiscard]] inline std::expected<Packet, Malformed> decode(std::span<const std::byte> datagram) noexcept {
  return decode(datagram, datagram.size());
}

// Writes BTH and extension headers; returns their octets, 0 if they do not fit `out` or the opcode is unknown. Values
// fit their fields.
std::size_t encode_headers(std::span<std::byte> out, const Packet& packet) noexcept;

// Writes everything before the ICRC: headers, `payload` (of packet.payload_octets octets) and packet.bth.pad_cnt zeros.
// Returns the octets, 0 as above.
std::size_t encode(std::span<std::byte> out, const Packet& packet, std::span<const std::byte> payload) noexcept;

// Whether payload and padding are as the opcode wants them (PayloadRule) at this path MTU, octets. A responder answers
// one that has not with NAK invalid request.
constexpr bool has_right_lengths(const Packet& packet, std::size_t path_mtu) noexcept {
  return payload_fits(packet.info().payload, packet.payload_octets, path_mtu) &&
         packet.bth.pad_cnt == pad_octets(packet.payload_octets);
}

// Whether octets follow the headers of a response that has no payload: an ACK, an atomic ACK, or a CNP, which is 16
// octets behind its BTH and no more (IBTA Vol 1 Annex A17). The engine drops it as kBadPayloadLength.
constexpr bool runs_on(const Packet& packet) noexcept {
  return packet.info().response && packet.info().payload == PayloadRule::kNone &&
         (packet.payload_octets != 0 || packet.bth.pad_cnt != 0);
}

}  // namespace railyard::roce
