// Selective Repeat Extended Transport Header, ours (selective_repeat.h): where in which message a packet is. In every
// SEND and WRITE packet of such a QP, directly after the BTH.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/wire/field.h"

namespace railyard::roce {

//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +---------------+-----------------------------------------------+
//  |   Reserved    |                 Packet Index                  |
//  +---------------+-----------------------------------------------+
//  |   Reserved    |                Receive Number                 |
//  +---------------+-----------------------------------------------+
struct SrEth {
  static constexpr std::size_t kOctets = 8;
  using Reserved1 = wire::Field<0, 8>;
  using PacketIndex = wire::Field<8, 24>;
  using Reserved2 = wire::Field<32, 8>;
  using ReceiveNumber = wire::Field<40, 24>;
};
static_assert(
    wire::tiles<SrEth::kOctets, SrEth::Reserved1, SrEth::PacketIndex, SrEth::Reserved2, SrEth::ReceiveNumber>());

struct SrEthValues {
  std::uint8_t reserved1 = 0;      // sent as 0, ignored on receipt
  std::uint32_t packet_index = 0;  // 24 bits: packets of the message before this one
  std::uint8_t reserved2 = 0;
  std::uint32_t receive_number = 0;  // 24 bits: messages before this one that take a receive request (recv_WQE_SN)

  bool operator==(const SrEthValues&) const = default;
};

constexpr SrEthValues read_sr_eth(const std::byte* at) noexcept {
  return {.reserved1 = wire::read<SrEth::Reserved1>(at),
          .packet_index = wire::read<SrEth::PacketIndex>(at),
          .reserved2 = wire::read<SrEth::Reserved2>(at),
          .receive_number = wire::read<SrEth::ReceiveNumber>(at)};
}
constexpr void write_sr_eth(std::byte* at, const SrEthValues& values) noexcept {
  wire::write<SrEth::Reserved1>(at, values.reserved1);
  wire::write<SrEth::PacketIndex>(at, values.packet_index);
  wire::write<SrEth::Reserved2>(at, values.reserved2);
  wire::write<SrEth::ReceiveNumber>(at, values.receive_number);
}

}  // namespace railyard::roce
