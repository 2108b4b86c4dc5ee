// The packet delivery sublayer's headers of Ultra Ethernet, UE-Spec 1.0 §3.5.10: the prologue and what requests have
// behind it.
#pragma once

#include <cstddef>

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

}  // namespace railyard::wire
