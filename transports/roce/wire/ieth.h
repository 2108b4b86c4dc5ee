// Invalidate Extended Transport Header, roce-and-lossless §2.2.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/wire/field.h"

namespace railyard::roce {

//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +---------------------------------------------------------------+
//  |                             R_Key                             |
//  +---------------------------------------------------------------+
struct Ieth {
  static constexpr std::size_t kOctets = 4;
  using RKey = wire::Field<0, 32>;
};
static_assert(wire::tiles<Ieth::kOctets, Ieth::RKey>());

struct IethValues {
  std::uint32_t r_key = 0;  // to be invalidated by the responder

  bool operator==(const IethValues&) const = default;
};

constexpr IethValues read_ieth(const std::byte* at) noexcept { return {.r_key = wire::read<Ieth::RKey>(at)}; }
constexpr void write_ieth(std::byte* at, const IethValues& values) noexcept {
  wire::write<Ieth::RKey>(at, values.r_key);
}

}  // namespace railyard::roce
