// Immediate Data Extended Transport Header, roce-and-lossless §2.2: 32 bits for the receiver's completion.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/wire/field.h"

namespace railyard::roce {

//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +---------------------------------------------------------------+
//  |                        Immediate data                         |
//  +---------------------------------------------------------------+
struct ImmDt {
  static constexpr std::size_t kOctets = 4;
  using Immediate = wire::Field<0, 32>;
};
static_assert(wire::tiles<ImmDt::kOctets, ImmDt::Immediate>());

struct ImmDtValues {
  std::uint32_t immediate = 0;  // opaque; the completion has it in wire order

  bool operator==(const ImmDtValues&) const = default;
};

constexpr ImmDtValues read_imm_dt(const std::byte* at) noexcept {
  return {.immediate = wire::read<ImmDt::Immediate>(at)};
}
constexpr void write_imm_dt(std::byte* at, const ImmDtValues& values) noexcept {
  wire::write<ImmDt::Immediate>(at, values.immediate);
}

}  // namespace railyard::roce
