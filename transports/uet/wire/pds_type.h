// What a packet is to the packet delivery sublayer (PDS), and which header of the semantic sublayer (SES) follows it:
// UET page §2, after UE-Spec 1.0 tables 3-32 and 3-16.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dataplane/wire/field.h"

namespace railyard::uet {

// 0 and 15..31 are reserved.
enum class PdsType : std::uint8_t {
  kTss = 1,  // a security header, with the PDS header encrypted behind it: tss.h
  kRudReq = 2,
  kRodReq = 3,
  kRudiReq = 4,
  kRudiResp = 5,
  kUudReq = 6,
  kAck = 7,
  kAckCc = 8,
  kAckCcx = 9,
  kNack = 10,
  kCp = 11,
  kNackCcx = 12,
  kRudCcReq = 13,
  kRodCcReq = 14,
};

// "RUD_REQ"; "" if reserved.
std::string_view name(PdsType type) noexcept;

// 7..15 are reserved.
enum class NextHdr : std::uint8_t {
  kNone = 0,
  kRequestSmall = 1,   // optimized non-matching
  kRequestMedium = 2,  // small message, small RMA
  kRequestStd = 3,
  kResponse = 4,
  kResponseData = 5,
  kResponseDataSmall = 6,
};

// "REQUEST_STD"; "" if reserved.
std::string_view name(NextHdr next_hdr) noexcept;

// Delivery modes, UET page §5.1.
enum class DeliveryMode : std::uint8_t {
  kRud,   // reliable, unordered, over a PDC
  kRod,   // reliable, ordered, over a PDC
  kRudi,  // reliable, unordered, idempotent operations only, without a PDC
  kUud,   // unreliable, unordered, without a PDC
};

// "RUD".
std::string_view name(DeliveryMode mode) noexcept;

// The word that every PDS header begins with, UE-Spec 1.0 table 3-32.
//
//   0                   1
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5
//  +---------+-------+-------------+
//  |  Type   |NextHdr|    Flags    |
//  +---------+-------+-------------+
struct Prologue {
  static constexpr std::size_t kOctets = 2;
  using Type = wire::Field<0, 5>;
  using NextHdr = wire::Field<5, 4>;  // of a CP: CtlType
  using Flags = wire::Field<9, 7>;
};
static_assert(wire::tiles<Prologue::kOctets, Prologue::Type, Prologue::NextHdr, Prologue::Flags>());

// The flags, by type; the bits that a type does not use are sent as 0 and ignored.
namespace flag {
inline constexpr std::uint8_t kExpectedPsn = 0x40;  // ACK: Dialect::expected_psn_in_ack
inline constexpr std::uint8_t kIsRod = 0x20;        // CP
inline constexpr std::uint8_t kM = 0x20;            // ACK, NACK, RUDI_RESP
inline constexpr std::uint8_t kRetx = 0x10;         // all but UUD_REQ
inline constexpr std::uint8_t kAr = 0x08;           // requests, CP
inline constexpr std::uint8_t kP = 0x08;            // ACK
inline constexpr std::uint8_t kNt = 0x08;           // NACK
inline constexpr std::uint8_t kSyn = 0x04;          // requests, CP
inline constexpr std::uint8_t kReq = 0x06;          // ACK: AckRequest, shifted by 1
}  // namespace flag

// Where a signed 16-bit offset leads from `psn`, modulo 2^32.
constexpr std::uint32_t psn_at(std::uint32_t psn, std::int16_t offset) noexcept {
  return psn + static_cast<std::uint32_t>(std::int32_t{offset});
}

}  // namespace railyard::uet
