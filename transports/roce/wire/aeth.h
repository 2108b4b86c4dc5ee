// ACK Extended Transport Header, roce-and-lossless §2.2: what a responder says of what it has received.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/wire/field.h"

namespace railyard::roce {

//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +---------------+-----------------------------------------------+
//  |   Syndrome    |                      MSN                      |
//  +---------------+-----------------------------------------------+
struct Aeth {
  static constexpr std::size_t kOctets = 4;
  using Syndrome = wire::Field<0, 8>;  // syndrome.h
  using MSN = wire::Field<8, 24>;
};
static_assert(wire::tiles<Aeth::kOctets, Aeth::Syndrome, Aeth::MSN>());

struct AethValues {
  std::uint8_t syndrome = 0;  // syndrome.h says what it means
  std::uint32_t msn = 0;      // 24 bits: request messages that the responder has completed

  bool operator==(const AethValues&) const = default;
};

constexpr AethValues read_aeth(const std::byte* at) noexcept {
  return {.syndrome = wire::read<Aeth::Syndrome>(at), .msn = wire::read<Aeth::MSN>(at)};
}
constexpr void write_aeth(std::byte* at, const AethValues& values) noexcept {
  wire::write<Aeth::Syndrome>(at, values.syndrome);
  wire::write<Aeth::MSN>(at, values.msn);
}

}  // namespace railyard::roce
