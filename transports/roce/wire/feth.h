// FLUSH Extended Transport Header (roce-and-lossless §2.2): what is to have become of earlier writes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/wire/field.h"

namespace railyard::roce {

//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +---------------------------------------------------+---+-------+
//  |                     Reserved                      |Sel|  PLT  |
//  +---------------------------------------------------+---+-------+
struct Feth {
  static constexpr std::size_t kOctets = 4;
  using Reserved = wire::Field<0, 26>;
  using Selectivity = wire::Field<26, 2>;  // 0: the range of the RETH, 1: the whole memory region
  using PlacementType = wire::Field<28, 4>;
};
static_assert(wire::tiles<Feth::kOctets, Feth::Reserved, Feth::Selectivity, Feth::PlacementType>());

struct FethValues {
  std::uint32_t reserved = 0;  // 26 bits; sent as 0, ignored on receipt
  std::uint8_t selectivity = 0;
  std::uint8_t placement_type = 0;  // bit 0: global visibility, bit 1: persistence

  bool operator==(const FethValues&) const = default;
};

constexpr FethValues read_feth(const std::byte* at) noexcept {
  return {.reserved = wire::read<Feth::Reserved>(at),
          .selectivity = wire::read<Feth::Selectivity>(at),
          .placement_type = wire::read<Feth::PlacementType>(at)};
}
constexpr void write_feth(std::byte* at, const FethValues& values) noexcept {
  wire::write<Feth::Reserved>(at, values.reserved);
  wire::write<Feth::Selectivity>(at, values.selectivity);
  wire::write<Feth::PlacementType>(at, values.placement_type);
}

}  // namespace railyard::roce
