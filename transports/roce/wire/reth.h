// RDMA Extended Transport Header, roce-and-lossless §2.2: which memory a WRITE or READ is about.
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
//  |                          DMA length                           |
//  +---------------------------------------------------------------+
struct Reth {
  static constexpr std::size_t kOctets = 16;
  using VirtualAddress = wire::Field<0, 64>;
  using RKey = wire::Field<64, 32>;
  using DmaLength = wire::Field<96, 32>;  // octets
};
static_assert(wire::tiles<Reth::kOctets, Reth::VirtualAddress, Reth::RKey, Reth::DmaLength>());

struct RethValues {
  std::uint64_t virtual_address = 0;
  std::uint32_t r_key = 0;
  std::uint32_t dma_length = 0;  // octets of the whole message, not of this packet; at most kMaxMessageOctets

  bool operator==(const RethValues&) const = default;
};

constexpr RethValues read_reth(const std::byte* at) noexcept {
  return {.virtual_address = wire::read<Reth::VirtualAddress>(at),
          .r_key = wire::read<Reth::RKey>(at),
          .dma_length = wire::read<Reth::DmaLength>(at)};
}
constexpr void write_reth(std::byte* at, const RethValues& values) noexcept {
  wire::write<Reth::VirtualAddress>(at, values.virtual_address);
  wire::write<Reth::RKey>(at, values.r_key);
  wire::write<Reth::DmaLength>(at, values.dma_length);
}

// The longest message of all transports but UD.
inline constexpr std::uint32_t kMaxMessageOctets = std::uint32_t{1} << 31;

}  // namespace railyard::roce
