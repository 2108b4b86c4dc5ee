// The IPv6 header and its extension headers, RFC 8200 §3, §4.
#pragma once

#include <cstddef>

#include "dataplane/wire/address.h"
#include "dataplane/wire/field.h"

namespace railyard::wire {

//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +-------+-----------+---+---------------------------------------+
//  |Version|   DSCP    |ECN|              Flow label               |
//  +-------+-----------+---+-------+---------------+---------------+
//  |        Payload length         |  Next header  |   Hop limit   |
//  +-------------------------------+---------------+---------------+
//  |                     Source, 16 octets                         |
//  +---------------------------------------------------------------+
//  |                  Destination, 16 octets                       |
//  +---------------------------------------------------------------+
struct Ipv6 {
  static constexpr std::size_t kOctets = 40;
  using Version = Field<0, 4>;
  using DSCP = Field<4, 6>;  // RFC 2474 §3
  using ECN = Field<10, 2>;  // RFC 3168 §5
  using FlowLabel = Field<12, 20>;
  using PayloadLength = Field<32, 16>;  // of what follows this header
  using NextHeader = Field<48, 8>;
  using HopLimit = Field<56, 8>;
  using Source = OctetField<64, IpAddress>;
  using Destination = OctetField<192, IpAddress>;

  using TrafficClass = Field<4, 8>;  // DSCP and ECN
};
static_assert(tiles<Ipv6::kOctets, Ipv6::Version, Ipv6::DSCP, Ipv6::ECN, Ipv6::FlowLabel, Ipv6::PayloadLength,
                    Ipv6::NextHeader, Ipv6::HopLimit, Ipv6::Source, Ipv6::Destination>());

// Hop-by-hop options, routing and destination options headers begin alike (RFC 8200 §4.3, §4.4, §4.6).
//
//  +---------------+---------------+-------------------------------+
//  |  Next header  |  Hdr ext len  |  8 * (Hdr ext len + 1) - 2    |
//  +---------------+---------------+  octets                       |
struct Ipv6Extension {
  static constexpr std::size_t kOctets = 8;  // the shortest
  using NextHeader = Field<0, 8>;
  using HdrExtLen = Field<8, 8>;  // in units of 8 octets, not counting the first
  using Content = Field<16, 48>;
};
static_assert(
    tiles<Ipv6Extension::kOctets, Ipv6Extension::NextHeader, Ipv6Extension::HdrExtLen, Ipv6Extension::Content>());

// Fragment header, RFC 8200 §4.5.
//
//  +---------------+---------------+-------------------------+---+-+
//  |  Next header  |   Reserved    |     Fragment offset     |Res|M|
//  +---------------+---------------+-------------------------+---+-+
//  |                        Identification                         |
//  +---------------------------------------------------------------+
struct Ipv6Fragment {
  static constexpr std::size_t kOctets = 8;
  using NextHeader = Field<0, 8>;
  using Reserved = Field<8, 8>;
  using FragmentOffset = Field<16, 13>;  // in units of 8 octets
  using Res = Field<29, 2>;
  using M = Field<31, 1>;
  using Identification = Field<32, 32>;
};
static_assert(tiles<Ipv6Fragment::kOctets, Ipv6Fragment::NextHeader, Ipv6Fragment::Reserved,
                    Ipv6Fragment::FragmentOffset, Ipv6Fragment::Res, Ipv6Fragment::M, Ipv6Fragment::Identification>());

}  // namespace railyard::wire
