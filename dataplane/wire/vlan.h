// The 802.1Q tag, IEEE 802.1Q §9.6.
#pragma once

#include <cstddef>

#include "dataplane/wire/field.h"

namespace railyard::wire {

// What follows the EtherType 0x8100 of the Ethernet header: tag control information, then the EtherType proper.
//
//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +-----+-+-----------------------+-------------------------------+
//  | PCP |D|          VID          |           EtherType           |
//  +-----+-+-----------------------+-------------------------------+
struct Vlan {
  static constexpr std::size_t kOctets = 4;
  using PCP = Field<0, 3>;
  using DEI = Field<3, 1>;
  using VID = Field<4, 12>;  // 0: only a priority, no VLAN
  using EtherType = Field<16, 16>;
};
static_assert(tiles<Vlan::kOctets, Vlan::PCP, Vlan::DEI, Vlan::VID, Vlan::EtherType>());

}  // namespace railyard::wire
