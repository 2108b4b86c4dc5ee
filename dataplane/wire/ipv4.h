// The IPv4 header, RFC 791 §3.1.
#pragma once

#include <cstddef>

#include "dataplane/wire/field.h"

namespace railyard::wire {

//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +-------+-------+-----------+---+-------------------------------+
//  |Version|  IHL  |   DSCP    |ECN|         Total length          |
//  +-------+-------+-----------+---+-+-+-+-------------------------+
//  |        Identification         |0|D|M|     Fragment offset     |
//  +---------------+---------------+-+-+-+-------------------------+
//  |      TTL      |   Protocol    |        Header checksum        |
//  +---------------+---------------+-------------------------------+
//  |                            Source                             |
//  +---------------------------------------------------------------+
//  |                          Destination                          |
//  +---------------------------------------------------------------+
//  |                  Options, 4 * (IHL - 5) octets                |
struct Ipv4 {
  static constexpr std::size_t kOctets = 20;  // without options
  using Version = Field<0, 4>;
  using IHL = Field<4, 4>;   // in units of 4 octets
  using DSCP = Field<8, 6>;  // RFC 2474 §3
  using ECN = Field<14, 2>;  // RFC 3168 §5
  using TotalLength = Field<16, 16>;
  using Identification = Field<32, 16>;
  using Reserved = Field<48, 1>;
  using DF = Field<49, 1>;
  using MF = Field<50, 1>;
  using FragmentOffset = Field<51, 13>;  // in units of 8 octets
  using TTL = Field<64, 8>;
  using Protocol = Field<72, 8>;
  using HeaderChecksum = Field<80, 16>;
  using Source = Field<96, 32>;
  using Destination = Field<128, 32>;

  using TrafficClass = Field<8, 8>;  // DSCP and ECN: the former TOS octet
};
static_assert(tiles<Ipv4::kOctets, Ipv4::Version, Ipv4::IHL, Ipv4::DSCP, Ipv4::ECN, Ipv4::TotalLength,
                    Ipv4::Identification, Ipv4::Reserved, Ipv4::DF, Ipv4::MF, Ipv4::FragmentOffset, Ipv4::TTL,
                    Ipv4::Protocol, Ipv4::HeaderChecksum, Ipv4::Source, Ipv4::Destination>());

}  // namespace railyard::wire
