// Selective Acknowledgement Extended Transport Header, ours (selective_repeat.h): behind the AETH of an Acknowledge.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/wire/field.h"

namespace railyard::roce {

//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +---------------+-----------------------------------------------+
//  |   Reserved    |                      PSN                      |
//  +---------------+-----------------------------------------------+
struct SackEth {
  static constexpr std::size_t kOctets = 4;
  using Reserved = wire::Field<0, 8>;
  using PSN = wire::Field<8, 24>;
};
static_assert(wire::tiles<SackEth::kOctets, SackEth::Reserved, SackEth::PSN>());

struct SackEthValues {
  std::uint8_t reserved = 0;  // sent as 0, ignored on receipt
  std::uint32_t psn = 0;      // 24 bits: of the request that came and is kept

  bool operator==(const SackEthValues&) const = default;
};

constexpr SackEthValues read_sack_eth(const std::byte* at) noexcept {
  return {.reserved = wire::read<SackEth::Reserved>(at), .psn = wire::read<SackEth::PSN>(at)};
}
constexpr void write_sack_eth(std::byte* at, const SackEthValues& values) noexcept {
  wire::write<SackEth::Reserved>(at, values.reserved);
  wire::write<SackEth::PSN>(at, values.psn);
}

}  // namespace railyard::roce
