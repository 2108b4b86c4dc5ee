// The UDP header, RFC 768.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/wire/field.h"

namespace railyard::wire {

//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +-------------------------------+-------------------------------+
//  |          Source port          |       Destination port        |
//  +-------------------------------+-------------------------------+
//  |            Length             |           Checksum            |
//  +-------------------------------+-------------------------------+
struct Udp {
  static constexpr std::size_t kOctets = 8;
  using SourcePort = Field<0, 16>;
  using DestinationPort = Field<16, 16>;
  using Length = Field<32, 16>;    // of header and payload
  using Checksum = Field<48, 16>;  // 0: none
};
static_assert(tiles<Udp::kOctets, Udp::SourcePort, Udp::DestinationPort, Udp::Length, Udp::Checksum>());

inline constexpr std::uint16_t kRoceV2Port = 4791;  // IBTA Vol 1 Annex A17
inline constexpr std::uint16_t kUetPort = 4793;     // UE-Spec 1.0 §3.5.10

}  // namespace railyard::wire
