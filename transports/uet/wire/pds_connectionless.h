// RUDI_REQ, RUDI_RESP and UUD_REQ, which belong to no PDC: UET page §3.8, §3.9, after UE-Spec 1.0 tables 3-39 and 3-42.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/wire/field.h"
#include "transports/uet/wire/pds_type.h"

namespace railyard::uet {

//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +-------------------------------+-------------------------------+
//  |           Prologue            |           reserved            |
//  +-------------------------------+-------------------------------+
//  |                            pkt_id                             |
//  +---------------------------------------------------------------+
// DEVIATION UE-Spec 1.0 table 3-39: 6 octets in some sources (UET page §13 item 10).
struct PdsRudi {
  static constexpr std::size_t kOctets = 8;
  using Word = wire::Field<0, 16>;
  using Reserved = wire::Field<16, 16>;
  using PktId = wire::Field<32, 32>;
};
static_assert(wire::tiles<PdsRudi::kOctets, PdsRudi::Word, PdsRudi::Reserved, PdsRudi::PktId>());

struct PdsRudiValues {
  PdsType type = PdsType::kRudiReq;         // kRudiReq, kRudiResp
  NextHdr next_hdr = NextHdr::kRequestStd;  // a request; of a RUDI_RESP a response
  bool m = false;                           // RUDI_RESP: the request came with a congestion mark
  bool retx = false;                        // a retransmission, or the answer to one
  std::uint32_t pkt_id = 0;                 // chosen by the initiator, echoed in the response

  bool operator==(const PdsRudiValues&) const = default;

  constexpr std::size_t octets() const noexcept { return PdsRudi::kOctets; }
};

//  +-------------------------------+-------------------------------+
//  |           Prologue            |           reserved            |
//  +-------------------------------+-------------------------------+
struct PdsUud {
  static constexpr std::size_t kOctets = 4;
  using Word = wire::Field<0, 16>;
  using Reserved = wire::Field<16, 16>;
};
static_assert(wire::tiles<PdsUud::kOctets, PdsUud::Word, PdsUud::Reserved>());

struct PdsUudValues {
  NextHdr next_hdr = NextHdr::kRequestStd;

  bool operator==(const PdsUudValues&) const = default;

  constexpr std::size_t octets() const noexcept { return PdsUud::kOctets; }
};

}  // namespace railyard::uet
