// CP, the control packet: UET page §3.7, after UE-Spec 1.0 table 3-38.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dataplane/wire/field.h"
#include "transports/uet/wire/pds_request.h"
#include "transports/uet/wire/pds_type.h"

namespace railyard::uet {

// In the prologue's place for NextHdr; 10..15 are reserved.
enum class CtlType : std::uint8_t {
  kNoop = 0,
  kAckReq = 1,
  kClearCmd = 2,
  kClearReq = 3,
  kCloseCmd = 4,
  kCloseReq = 5,
  kProbe = 6,
  kCredit = 7,
  kCreditReq = 8,
  kNegotiation = 9,
};

// "CLOSE_CMD"; "" if reserved.
std::string_view name(CtlType type) noexcept;

// Whether a control packet of this type takes a PSN, and is acknowledged and retransmitted as requests are.
constexpr bool consumes_psn(CtlType type) noexcept {
  using enum CtlType;
  return type == kNoop || type == kCloseCmd || type == kCloseReq || type == kNegotiation;
}

//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +-------------------------------+-------------------------------+
//  |           Prologue            |         probe_opaque          |
//  +-------------------------------+-------------------------------+
//  |                              psn                              |
//  +-------------------------------+-------------------------------+
//  |            spdcid             |   dpdcid; with syn: PdcSyn    |
//  +-------------------------------+-------------------------------+
//  |                            payload                            |
//  +---------------------------------------------------------------+
// DEVIATION UE-Spec 1.0 table 3-38: one generator of sample packets leaves the payload out (UET page §13 item 15).
struct PdsCp {
  static constexpr std::size_t kOctets = 16;
  using Word = wire::Field<0, 16>;
  using ProbeOpaque = wire::Field<16, 16>;
  using Psn = wire::Field<32, 32>;
  using Spdcid = wire::Field<64, 16>;
  using Dpdcid = wire::Field<80, 16>;
  using Payload = wire::Field<96, 32>;

  // The payload of a CREDIT and of a CREDIT_REQ.
  using Credit = wire::Field<96, 24>;
  using CccId = wire::Field<96, 8>;
  using CreditTarget = wire::Field<104, 24>;
};
static_assert(wire::tiles<PdsCp::kOctets, PdsCp::Word, PdsCp::ProbeOpaque, PdsCp::Psn, PdsCp::Spdcid, PdsCp::Dpdcid,
                          PdsCp::Payload>());

struct PdsCpValues {
  CtlType ctl_type = CtlType::kNoop;
  bool isrod = false;  // of NOOP and NEGOTIATION: the PDC that they open is for ROD
  bool retx = false;
  bool ar = false;
  bool syn = false;
  std::uint16_t probe_opaque = 0;  // PROBE: comes back in its ACK
  std::uint32_t psn = 0;           // what it takes; of an ACK_REQ the one asked about
  std::uint16_t spdcid = 0;
  std::uint16_t dpdcid = 0;      // without syn
  std::uint8_t pdc_info = 0;     // with syn: 4 bits
  std::uint16_t psn_offset = 0;  // with syn: 12 bits
  std::uint32_t payload = 0;     // by ctl_type

  bool operator==(const PdsCpValues&) const = default;

  constexpr std::uint32_t start_psn() const noexcept { return psn - psn_offset; }
  // Of the payload of a CREDIT: granted, in units of 256 octets.
  constexpr std::uint32_t credit() const noexcept { return payload >> 8; }
  // Of the payload of a CREDIT_REQ.
  constexpr std::uint8_t ccc_id() const noexcept { return static_cast<std::uint8_t>(payload >> 24); }
  constexpr std::uint32_t credit_target() const noexcept { return payload & 0xFF'FFFF; }
  constexpr std::size_t octets() const noexcept { return PdsCp::kOctets; }
};

// Payloads of CREDIT and CREDIT_REQ; `credit` and `credit_target` have 24 bits.
constexpr std::uint32_t credit_payload(std::uint32_t credit) noexcept { return credit << 8; }
constexpr std::uint32_t credit_req_payload(std::uint8_t ccc_id, std::uint32_t credit_target) noexcept {
  return std::uint32_t{ccc_id} << 24 | credit_target;
}

}  // namespace railyard::uet
