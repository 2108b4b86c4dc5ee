// XRC Extended Transport Header (roce-and-lossless §2.2): the first one behind the BTH in XRC requests.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/wire/field.h"

namespace railyard::roce {

//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +---------------+-----------------------------------------------+
//  |   Reserved    |                    XRC SRQ                    |
//  +---------------+-----------------------------------------------+
struct XrcEth {
  static constexpr std::size_t kOctets = 4;
  using Reserved = wire::Field<0, 8>;
  using XrcSrq = wire::Field<8, 24>;
};
static_assert(wire::tiles<XrcEth::kOctets, XrcEth::Reserved, XrcEth::XrcSrq>());

struct XrcEthValues {
  std::uint8_t reserved = 0;  // sent as 0, ignored on receipt
  std::uint32_t xrc_srq = 0;  // 24 bits

  bool operator==(const XrcEthValues&) const = default;
};

constexpr XrcEthValues read_xrc_eth(const std::byte* at) noexcept {
  return {.reserved = wire::read<XrcEth::Reserved>(at), .xrc_srq = wire::read<XrcEth::XrcSrq>(at)};
}
constexpr void write_xrc_eth(std::byte* at, const XrcEthValues& values) noexcept {
  wire::write<XrcEth::Reserved>(at, values.reserved);
  wire::write<XrcEth::XrcSrq>(at, values.xrc_srq);
}

}  // namespace railyard::roce
