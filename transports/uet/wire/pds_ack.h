// ACK, ACK_CC and ACK_CCX: UET page §3.3..§3.5, after UE-Spec 1.0 tables 3-35..3-37. What has been received, and behind
// it the response of the semantic sublayer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "dataplane/wire/field.h"
#include "transports/uet/wire/cc_state.h"
#include "transports/uet/wire/pds_type.h"

namespace railyard::uet {

//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +-------------------------------+-------------------------------+
//  |           Prologue            | ack_psn_offset, probe_opaque  |
//  +-------------------------------+-------------------------------+
//  |                           cack_psn                            |
//  +-------------------------------+-------------------------------+
//  |            spdcid             |            dpdcid             |
//  +-------+-------+---------------+-------------------------------+
struct PdsAck {
  static constexpr std::size_t kOctets = 12;
  using Word = wire::Field<0, 16>;
  using AckPsnOffset = wire::Field<16, 16>;  // with p: probe_opaque
  using CackPsn = wire::Field<32, 32>;
  using Spdcid = wire::Field<64, 16>;
  using Dpdcid = wire::Field<80, 16>;
};
static_assert(wire::tiles<PdsAck::kOctets, PdsAck::Word, PdsAck::AckPsnOffset, PdsAck::CackPsn, PdsAck::Spdcid,
                          PdsAck::Dpdcid>());

// Behind an ACK with flag 0x40, if the dialect has it.
struct PdsAckExpectedPsn {
  static constexpr std::size_t kOctets = 16;
  using ExpectedPsn = wire::Field<96, 32>;
};

//  +-------+-------+---------------+-------------------------------+
//  |cc_type|cc_flgs|      mpr      |        sack_psn_offset        |
//  +-------+-------+---------------+-------------------------------+
//  |                          sack_bitmap                          |
//  |                                                               |
//  +---------------------------------------------------------------+
//  |        ack_cc_state, 8 octets; ack_ccx_state, 16 octets       |
//  |                                                               |
//  +---------------------------------------------------------------+
struct PdsAckCc {
  static constexpr std::size_t kOctets = 32;
  using CcType = wire::Field<96, 4>;
  using CcFlags = wire::Field<100, 4>;
  using Mpr = wire::Field<104, 8>;
  using SackPsnOffset = wire::Field<112, 16>;
  using SackBitmap = wire::Field<128, 64>;
  using CcState = wire::Field<192, 64>;
};
// DEVIATION UE-Spec 1.0 table 3-37: 32, 40 or 44 octets, as sources have it (UET page §13 item 8); we take 40.
struct PdsAckCcx {
  static constexpr std::size_t kOctets = 40;
  using CcxStateLow = wire::Field<256, 64>;
};

inline constexpr std::uint32_t kMprPsns = 128;  // the unit of mpr
inline constexpr std::uint32_t kSackPsns = 64;  // how many a bitmap covers

// What a target asks of an initiator; 3 is reserved.
enum class AckRequest : std::uint8_t { kNone = 0, kReqClear = 1, kReqClose = 2 };

// "REQ_CLEAR"; "" of none and if reserved.
std::string_view name(AckRequest request) noexcept;

struct PdsAckValues {
  PdsType type = PdsType::kAck;           // kAck, kAckCc, kAckCcx
  NextHdr next_hdr = NextHdr::kResponse;  // a response; kNone of the ACK of a control packet
  bool m = false;                         // the packet that is answered came with a congestion mark
  bool retx = false;                      // the packet that is answered was a retransmission
  bool p = false;                         // answers a PROBE
  AckRequest req = AckRequest::kNone;
  std::int16_t ack_psn_offset = 0;  // without p: of ACK_PSN from cack_psn
  std::uint16_t probe_opaque = 0;   // with p
  std::uint32_t cack_psn = 0;       // received, and cleared, up to and including this
  std::uint16_t spdcid = 0;
  std::uint16_t dpdcid = 0;
  // Of an ACK in a dialect with expected_psn_in_ack: where the target wants the next secure PDC to start.
  std::optional<std::uint32_t> expected_psn{};

  // ACK_CC and ACK_CCX.
  std::uint8_t cc_type = 0;          // 4 bits: CcType; of an ACK_CCX ccx_type
  std::uint8_t cc_flags = 0;         // 4 bits, reserved
  std::uint8_t mpr = 0;              // the most PSNs ahead of CACK_PSN, in units of 128; 0: not said
  std::int16_t sack_psn_offset = 0;  // of the PSN of bit 0 from cack_psn
  std::uint64_t sack_bitmap = 0;     // bit i: PSN sack_base() + i was received; 0 says nothing
  std::uint64_t cc_state = 0;        // nscc_state(), credit_state(); of an ACK_CCX the first half of its state
  std::uint64_t ccx_state_low = 0;   // the second half

  bool operator==(const PdsAckValues&) const = default;

  constexpr bool has_cc() const noexcept { return type != PdsType::kAck; }
  // The PSN of the packet that is answered, without p.
  constexpr std::uint32_t ack_psn() const noexcept { return psn_at(cack_psn, ack_psn_offset); }
  constexpr std::uint32_t sack_base() const noexcept { return psn_at(cack_psn, sack_psn_offset); }
  constexpr std::size_t octets() const noexcept {
    if (type == PdsType::kAckCc) return PdsAckCc::kOctets;
    if (type == PdsType::kAckCcx) return PdsAckCcx::kOctets;
    return expected_psn ? PdsAckExpectedPsn::kOctets : PdsAck::kOctets;
  }
};

}  // namespace railyard::uet
