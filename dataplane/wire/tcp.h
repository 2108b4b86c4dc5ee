// The TCP header, RFC 9293 §3.1.
#pragma once

#include <cstddef>

#include "dataplane/wire/field.h"

namespace railyard::wire {

//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +-------------------------------+-------------------------------+
//  |          Source port          |       Destination port        |
//  +-------------------------------+-------------------------------+
//  |                        Sequence number                        |
//  +---------------------------------------------------------------+
//  |                     Acknowledgment number                     |
//  +-------+-------+---------------+-------------------------------+
//  |DOffset| Rsrvd |C E U A P R S F|            Window             |
//  +-------+-------+---------------+-------------------------------+
//  |           Checksum            |        Urgent pointer         |
//  +-------------------------------+-------------------------------+
//  |               Options, 4 * (DOffset - 5) octets               |
struct Tcp {
  static constexpr std::size_t kOctets = 20;  // without options
  using SourcePort = Field<0, 16>;
  using DestinationPort = Field<16, 16>;
  using SequenceNumber = Field<32, 32>;
  using AcknowledgmentNumber = Field<64, 32>;
  using DataOffset = Field<96, 4>;  // in units of 4 octets
  using Reserved = Field<100, 4>;
  using Flags = Field<104, 8>;
  using Window = Field<112, 16>;
  using Checksum = Field<128, 16>;
  using UrgentPointer = Field<144, 16>;
};
static_assert(tiles<Tcp::kOctets, Tcp::SourcePort, Tcp::DestinationPort, Tcp::SequenceNumber, Tcp::AcknowledgmentNumber,
                    Tcp::DataOffset, Tcp::Reserved, Tcp::Flags, Tcp::Window, Tcp::Checksum, Tcp::UrgentPointer>());

}  // namespace railyard::wire
