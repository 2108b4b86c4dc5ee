// Atomic Extended Transport Header, roce-and-lossless §2.2.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/wire/field.h"

namespace railyard::roce {

//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +---------------------------------------------------------------+
//  |                     Virtual address (high)                    |
//  +---------------------------------------------------------------+
//  |                     Virtual address (low)                     |
//  +---------------------------------------------------------------+
//  |                             R_Key                             |
//  +---------------------------------------------------------------+
//  |                   Swap or add data (high)                     |
//  +---------------------------------------------------------------+
//  |                   Swap or add data (low)                      |
//  +---------------------------------------------------------------+
//  |                     Compare data (high)                       |
//  +---------------------------------------------------------------+
//  |                     Compare data (low)                        |
//  +---------------------------------------------------------------+
// The numbers are sent big-endian; memory holds them in the order of its host.
struct AtomicEth {
  static constexpr std::size_t kOctets = 28;
  using VirtualAddress = wire::Field<0, 64>;  // a multiple of 8
  using RKey = wire::Field<64, 32>;
  using SwapAdd = wire::Field<96, 64>;
  using Compare = wire::Field<160, 64>;
};
static_assert(wire::tiles<AtomicEth::kOctets, AtomicEth::VirtualAddress, AtomicEth::RKey, AtomicEth::SwapAdd,
                          AtomicEth::Compare>());

struct AtomicEthValues {
  std::uint64_t virtual_address = 0;
  std::uint32_t r_key = 0;
  std::uint64_t swap_add = 0;  // CmpSwap: what to put there; FetchAdd: what to add
  std::uint64_t compare = 0;   // CmpSwap only; sent as 0 and ignored in FetchAdd

  bool operator==(const AtomicEthValues&) const = default;
};

constexpr AtomicEthValues read_atomic_eth(const std::byte* at) noexcept {
  return {.virtual_address = wire::read<AtomicEth::VirtualAddress>(at),
          .r_key = wire::read<AtomicEth::RKey>(at),
          .swap_add = wire::read<AtomicEth::SwapAdd>(at),
          .compare = wire::read<AtomicEth::Compare>(at)};
}
constexpr void write_atomic_eth(std::byte* at, const AtomicEthValues& values) noexcept {
  wire::write<AtomicEth::VirtualAddress>(at, values.virtual_address);
  wire::write<AtomicEth::RKey>(at, values.r_key);
  wire::write<AtomicEth::SwapAdd>(at, values.swap_add);
  wire::write<AtomicEth::Compare>(at, values.compare);
}

}  // namespace railyard::roce
