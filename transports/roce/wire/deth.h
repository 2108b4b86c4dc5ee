// Datagram Extended Transport Header, roce-and-lossless §2.2: from whom a UD packet is.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/wire/field.h"

namespace railyard::roce {

//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +---------------------------------------------------------------+
//  |                             Q_Key                             |
//  +---------------+-----------------------------------------------+
//  |   Reserved    |                   Source QP                   |
//  +---------------+-----------------------------------------------+
struct Deth {
  static constexpr std::size_t kOctets = 8;
  using QKey = wire::Field<0, 32>;
  using Reserved = wire::Field<32, 8>;
  using SourceQP = wire::Field<40, 24>;
};
static_assert(wire::tiles<Deth::kOctets, Deth::QKey, Deth::Reserved, Deth::SourceQP>());

struct DethValues {
  std::uint32_t q_key = 0;
  std::uint8_t reserved = 0;    // sent as 0, ignored on receipt
  std::uint32_t source_qp = 0;  // 24 bits

  bool operator==(const DethValues&) const = default;
};

constexpr DethValues read_deth(const std::byte* at) noexcept {
  return {.q_key = wire::read<Deth::QKey>(at),
          .reserved = wire::read<Deth::Reserved>(at),
          .source_qp = wire::read<Deth::SourceQP>(at)};
}
constexpr void write_deth(std::byte* at, const DethValues& values) noexcept {
  wire::write<Deth::QKey>(at, values.q_key);
  wire::write<Deth::Reserved>(at, values.reserved);
  wire::write<Deth::SourceQP>(at, values.source_qp);
}

// What packets to the GSI (QP 1) carry.
inline constexpr std::uint32_t kGsiQKey = 0x80010000;

}  // namespace railyard::roce
