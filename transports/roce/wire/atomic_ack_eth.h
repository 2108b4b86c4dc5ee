// Atomic ACK Extended Transport Header, roce-and-lossless §2.2; it follows an AETH.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/wire/field.h"

namespace railyard::roce {

//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +---------------------------------------------------------------+
//  |                 Original remote data (high)                   |
//  +---------------------------------------------------------------+
//  |                 Original remote data (low)                    |
//  +---------------------------------------------------------------+
struct AtomicAckEth {
  static constexpr std::size_t kOctets = 8;
  using Original = wire::Field<0, 64>;
};
static_assert(wire::tiles<AtomicAckEth::kOctets, AtomicAckEth::Original>());

struct AtomicAckEthValues {
  std::uint64_t original = 0;  // what was there before

  bool operator==(const AtomicAckEthValues&) const = default;
};

constexpr AtomicAckEthValues read_atomic_ack_eth(const std::byte* at) noexcept {
  return {.original = wire::read<AtomicAckEth::Original>(at)};
}
constexpr void write_atomic_ack_eth(std::byte* at, const AtomicAckEthValues& values) noexcept {
  wire::write<AtomicAckEth::Original>(at, values.original);
}

}  // namespace railyard::roce
