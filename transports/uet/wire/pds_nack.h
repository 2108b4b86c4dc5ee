// NACK and NACK_CCX: UET page §3.6, after UE-Spec 1.0 tables 3-40 and 3-41. Consumes no PSN, is neither retransmitted
// nor acknowledged.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/wire/field.h"
#include "transports/uet/wire/nack_code.h"
#include "transports/uet/wire/pds_type.h"

namespace railyard::uet {

//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +-------------------------------+---------------+---------------+
//  |           Prologue            |   nack_code   |  vendor_code  |
//  +-------------------------------+---------------+---------------+
//  |                    nack_psn, nack_pkt_id                      |
//  +-------------------------------+-------------------------------+
//  |            spdcid             |            dpdcid             |
//  +-------------------------------+-------------------------------+
//  |                            payload                            |
//  +---------------------------------------------------------------+
struct PdsNack {
  static constexpr std::size_t kOctets = 16;
  using Word = wire::Field<0, 16>;
  using Code = wire::Field<16, 8>;
  using VendorCode = wire::Field<24, 8>;
  using NackPsn = wire::Field<32, 32>;
  using Spdcid = wire::Field<64, 16>;
  using Dpdcid = wire::Field<80, 16>;
  using Payload = wire::Field<96, 32>;
};
static_assert(wire::tiles<PdsNack::kOctets, PdsNack::Word, PdsNack::Code, PdsNack::VendorCode, PdsNack::NackPsn,
                          PdsNack::Spdcid, PdsNack::Dpdcid, PdsNack::Payload>());

// DEVIATION UE-Spec 1.0 table 3-41: 24, 28 or 32 octets, as sources have it (UET page §13 item 9); we take 32.
struct PdsNackCcx {
  static constexpr std::size_t kOctets = 32;
  using NccxType = wire::Field<128, 4>;
  using NccxStateHigh = wire::Field<132, 60>;
  using NccxStateLow = wire::Field<192, 64>;
};

struct PdsNackValues {
  PdsType type = PdsType::kNack;  // kNack, kNackCcx
  bool m = false;                 // the packet that is answered came with a congestion mark
  bool retx = false;              // the packet that is answered was a retransmission
  bool nt = false;                // of RUDI: nack_psn is a pkt_id
  NackCode code = NackCode::kNoResource;
  std::uint8_t vendor_code = 0;
  std::uint32_t nack_psn = 0;  // of the packet that is answered; with nt its pkt_id
  std::uint16_t spdcid = 0;    // 0 if there is none
  std::uint16_t dpdcid = 0;    // the spdcid of the packet that is answered; 0 of RUDI
  std::uint32_t payload = 0;   // by code

  // NACK_CCX; nothing standard uses it.
  std::uint8_t nccx_type = 0;         // 4 bits
  std::uint64_t nccx_state_high = 0;  // 60 bits
  std::uint64_t nccx_state_low = 0;

  bool operator==(const PdsNackValues&) const = default;

  constexpr std::size_t octets() const noexcept {
    return type == PdsType::kNackCcx ? PdsNackCcx::kOctets : PdsNack::kOctets;
  }
};

}  // namespace railyard::uet
