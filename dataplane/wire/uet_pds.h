// The packet delivery sublayer's headers of Ultra Ethernet, UE-Spec 1.0 §3.5.10: the prologue and what requests have
// behind it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/wire/field.h"

namespace railyard::wire {

//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +---------+-------+-------------+-------------------------------+
//  |  Type   |NextHdr|    Flags    |           by type             |
//  +---------+-------+-------------+-------------------------------+
//  |                      PSN; of an ACK: CACK_PSN                 |
//  +-------------------------------+-------------------------------+
//  |            SPDCID             |            DPDCID             |
//  +-------------------------------+-------------------------------+
struct UetPds {
  static constexpr std::size_t kPrologueOctets = 2;
  static constexpr std::size_t kOctets = 12;
  using Type = Field<0, 5>;
  using NextHdr = Field<5, 4>;
  using Flags = Field<9, 7>;
  using ByType = Field<16, 16>;
  using PSN = Field<32, 32>;
  using SPDCID = Field<64, 16>;
  using DPDCID = Field<80, 16>;
};
static_assert(tiles<UetPds::kOctets, UetPds::Type, UetPds::NextHdr, UetPds::Flags, UetPds::ByType, UetPds::PSN,
                    UetPds::SPDCID, UetPds::DPDCID>());

// Types (table 3-32), and the flag that says that the sender does not know the PDC's number at the other end yet.
namespace uet_type {
inline constexpr std::uint8_t kRudReq = 2;
inline constexpr std::uint8_t kRodReq = 3;
inline constexpr std::uint8_t kRudiReq = 4;
inline constexpr std::uint8_t kUudReq = 6;
inline constexpr std::uint8_t kAck = 7;
inline constexpr std::uint8_t kAckCc = 8;
inline constexpr std::uint8_t kAckCcx = 9;
inline constexpr std::uint8_t kNack = 10;
inline constexpr std::uint8_t kCp = 11;
inline constexpr std::uint8_t kNackCcx = 12;
inline constexpr std::uint8_t kRudCcReq = 13;
inline constexpr std::uint8_t kRodCcReq = 14;
}  // namespace uet_type
inline constexpr std::uint8_t kUetSyn = 0x04;

// What the semantic sublayer's headers have in common as far as they have a message id, UE-Spec 1.0 §3.4.2.
struct UetSesCommon {
  static constexpr std::size_t kOctets = 4;
  using Reserved = Field<0, 2>;  // of responses: list
  using Opcode = Field<2, 6>;
  using Flags = Field<8, 8>;  // of responses: version and return code
  using MessageId = Field<16, 16>;
};
static_assert(tiles<UetSesCommon::kOctets, UetSesCommon::Reserved, UetSesCommon::Opcode, UetSesCommon::Flags,
                    UetSesCommon::MessageId>());

// Whom a request is for, and of whom: fields of the headers of requests, UE-Spec 1.0 table 3-8.
struct UetSesAddress {
  static constexpr std::size_t kOctets = 12;  // of all requests
  using JobId = Field<40, 24>;
  using PidOnFep = Field<68, 12>;
  static constexpr std::size_t kStdOctets = 44;
  using Initiator = Field<160, 32>;  // of REQUEST_STD
};
inline constexpr std::uint8_t kUetRequestSmall = 1, kUetRequestStd = 3;  // of UetPds::NextHdr: REQUEST_MEDIUM between

}  // namespace railyard::wire
