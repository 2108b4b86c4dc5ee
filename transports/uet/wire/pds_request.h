// RUD_REQ, ROD_REQ and their forms with congestion control, RUD_CC_REQ and ROD_CC_REQ: UET page §3.1, §3.2, after
// UE-Spec 1.0 tables 3-33 and 3-34. Requests carry messages, and read data that a target sends.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/wire/field.h"
#include "transports/uet/wire/pds_type.h"

namespace railyard::uet {

//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +-------------------------------+-------------------------------+
//  |           Prologue            |        clear_psn_offset       |
//  +-------------------------------+-------------------------------+
//  |                              psn                              |
//  +-------------------------------+-------------------------------+
//  |            spdcid             |   dpdcid; with syn: PdcSyn    |
//  +---------------+---------------+-------------------------------+
//  |    ccc_id     |                 credit_target                 |  _CC_REQ only
//  +---------------+-----------------------------------------------+
struct PdsRequest {
  static constexpr std::size_t kOctets = 12;
  using Word = wire::Field<0, 16>;
  using ClearPsnOffset = wire::Field<16, 16>;
  using Psn = wire::Field<32, 32>;
  using Spdcid = wire::Field<64, 16>;
  using Dpdcid = wire::Field<80, 16>;
};
static_assert(wire::tiles<PdsRequest::kOctets, PdsRequest::Word, PdsRequest::ClearPsnOffset, PdsRequest::Psn,
                          PdsRequest::Spdcid, PdsRequest::Dpdcid>());

struct PdsRequestCc {
  static constexpr std::size_t kOctets = 16;
  using CccId = wire::Field<96, 8>;
  using CreditTarget = wire::Field<104, 24>;
};

// What stands in place of the dpdcid as long as the destination's is not known, in requests and control packets.
struct PdcSyn {
  using PdcInfo = wire::Field<80, 4>;
  using PsnOffset = wire::Field<84, 12>;
};
static_assert(PdcSyn::PdcInfo::kFirstBit == PdsRequest::Dpdcid::kFirstBit);
static_assert(PdcSyn::PsnOffset::kEndBit == PdsRequest::Dpdcid::kEndBit);

// In pdc_info: the PDC is to be taken from the reserved pool.
// DEVIATION UE-Spec 1.0 table 3-33: which of the four bits it is, sources do not agree on (UET page §13 item 4). We set
// the first, the reference provider the last; any counts when received.
inline constexpr std::uint8_t kUseRsvPdc = 0x8;
inline constexpr std::uint8_t kUseRsvPdcRefProv = 0x1;

struct PdsRequestValues {
  PdsType type = PdsType::kRudReq;          // kRudReq, kRodReq, kRudCcReq, kRodCcReq
  NextHdr next_hdr = NextHdr::kRequestStd;  // a request, or kResponseData.. of a target
  bool retx = false;                        // a retransmission
  bool ar = false;                          // acknowledge now
  bool syn = false;                         // the destination's PDCID is not known yet
  std::int16_t clear_psn_offset = 0;        // of CLEAR_PSN from psn; never positive
  std::uint32_t psn = 0;
  std::uint16_t spdcid = 0;
  std::uint16_t dpdcid = 0;         // without syn
  std::uint8_t pdc_info = 0;        // with syn: 4 bits, kUseRsvPdc
  std::uint16_t psn_offset = 0;     // with syn: 12 bits, psn - Start_PSN
  std::uint8_t ccc_id = 0;          // _CC_REQ: congestion control context
  std::uint32_t credit_target = 0;  // _CC_REQ: 24 bits, the sender's demand in units of 256 octets

  bool operator==(const PdsRequestValues&) const = default;

  constexpr bool is_rod() const noexcept { return type == PdsType::kRodReq || type == PdsType::kRodCcReq; }
  constexpr bool has_cc() const noexcept { return type == PdsType::kRudCcReq || type == PdsType::kRodCcReq; }
  constexpr DeliveryMode mode() const noexcept { return is_rod() ? DeliveryMode::kRod : DeliveryMode::kRud; }
  // Everything up to and including it has been answered, and needs no longer be kept by the target.
  constexpr std::uint32_t clear_psn() const noexcept { return psn_at(psn, clear_psn_offset); }
  // Of the PDC, with syn.
  constexpr std::uint32_t start_psn() const noexcept { return psn - psn_offset; }
  constexpr std::size_t octets() const noexcept { return has_cc() ? PdsRequestCc::kOctets : PdsRequest::kOctets; }
};

}  // namespace railyard::uet
