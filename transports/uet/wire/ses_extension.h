// What follows the header of some requests: UET page §4.7, §4.11, after UE-Spec 1.0 figures 3-15..3-17 and tables 3-21
// and 3-22.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dataplane/wire/field.h"

namespace railyard::uet {

// 0x15..0xDF and 0xFF are reserved, 0xE0..0xFE for vendors.
enum class AtomicOpcode : std::uint8_t {
  kMin = 0x00,
  kMax = 0x01,
  kSum = 0x02,
  kDiff = 0x03,
  kProd = 0x04,
  kLor = 0x05,
  kLand = 0x06,
  kBor = 0x07,
  kBand = 0x08,
  kLxor = 0x09,
  kBxor = 0x0A,
  kRead = 0x0B,
  kWrite = 0x0C,
  kCswap = 0x0D,
  kCswapNe = 0x0E,
  kCswapLe = 0x0F,
  kCswapLt = 0x10,
  kCswapGe = 0x11,
  kCswapGt = 0x12,
  kMswap = 0x13,
  kInval = 0x14,
};

// "CSWAP_NE"; "VENDOR" of 0xE0..0xFE; "" if reserved.
std::string_view name(AtomicOpcode opcode) noexcept;

// Whether both operands are in the extension: the comparing swaps, and the masked one, whose mask is the compare_value.
// DEVIATION: of MSWAP it is a guess, after how libfabric has it (fi_atomic: FI_MSWAP is a compare operation).
constexpr bool is_compare_and_swap(AtomicOpcode opcode) noexcept {
  return opcode >= AtomicOpcode::kCswap && opcode <= AtomicOpcode::kMswap;
}

// 0x12..0xDF and 0xFF are reserved, 0xE0..0xFE for vendors.
enum class AtomicDatatype : std::uint8_t {
  kInt8 = 0x00,
  kUint8 = 0x01,
  kInt16 = 0x02,
  kUint16 = 0x03,
  kInt32 = 0x04,
  kUint32 = 0x05,
  kInt64 = 0x06,
  kUint64 = 0x07,
  kInt128 = 0x08,
  kUint128 = 0x09,
  kFloat = 0x0A,
  kDouble = 0x0B,
  kFloatComplex = 0x0C,
  kDoubleComplex = 0x0D,
  kLongDouble = 0x0E,
  kLongDoubleComplex = 0x0F,
  kBf16 = 0x10,
  kFp16 = 0x11,
};

// "UINT64"; "VENDOR" of 0xE0..0xFE; "" if reserved.
std::string_view name(AtomicDatatype datatype) noexcept;

// Bits of semantic_control.
// DEVIATION UE-Spec 1.0 figure 3-16: 0x80 and 0x40 in another source (UET page §13 item 13).
inline constexpr std::uint8_t kAtomicCacheable = 0x01;
inline constexpr std::uint8_t kAtomicCpuCoherent = 0x02;

//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +---------------+---------------+---------------+---------------+
//  | atomic_opcode |atomic_datatype|semantic_contrl|   reserved    |
//  +---------------+---------------+---------------+---------------+
//  |        compare_value, 16 octets                               |  compare-and-swap only
//  |        swap_value, 16 octets                                  |
//  +---------------------------------------------------------------+
struct AtomicExt {
  static constexpr std::size_t kOctets = 4;
  using Opcode = wire::Field<0, 8>;
  using Datatype = wire::Field<8, 8>;
  using SemanticControl = wire::Field<16, 8>;
  using Reserved = wire::Field<24, 8>;
};
static_assert(wire::tiles<AtomicExt::kOctets, AtomicExt::Opcode, AtomicExt::Datatype, AtomicExt::SemanticControl,
                          AtomicExt::Reserved>());

struct CompareAndSwapExt {
  static constexpr std::size_t kOctets = 36;
  using CompareHigh = wire::Field<32, 64>;
  using CompareLow = wire::Field<96, 64>;
  using SwapHigh = wire::Field<160, 64>;
  using SwapLow = wire::Field<224, 64>;
};
static_assert(wire::tiles<CompareAndSwapExt::kOctets, wire::Field<0, 32>, CompareAndSwapExt::CompareHigh,
                          CompareAndSwapExt::CompareLow, CompareAndSwapExt::SwapHigh, CompareAndSwapExt::SwapLow>());

// 128 bits. A shorter operand is right-justified: in the low-order bits, 0 above.
struct Operand128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  bool operator==(const Operand128&) const = default;
};

struct AtomicExtValues {
  AtomicOpcode opcode = AtomicOpcode::kMin;
  AtomicDatatype datatype = AtomicDatatype::kInt8;
  std::uint8_t semantic_control = 0;
  Operand128 compare_value{};  // is_compare_and_swap()
  Operand128 swap_value{};

  bool operator==(const AtomicExtValues&) const = default;

  constexpr std::size_t octets() const noexcept {
    return is_compare_and_swap(opcode) ? CompareAndSwapExt::kOctets : AtomicExt::kOctets;
  }
};

constexpr AtomicExtValues read_atomic_ext(const std::byte* at) noexcept {  // without the operands
  return {.opcode = static_cast<AtomicOpcode>(wire::read<AtomicExt::Opcode>(at)),
          .datatype = static_cast<AtomicDatatype>(wire::read<AtomicExt::Datatype>(at)),
          .semantic_control = wire::read<AtomicExt::SemanticControl>(at)};
}
constexpr void read_operands(const std::byte* at, AtomicExtValues& values) noexcept {  // of a compare-and-swap
  using E = CompareAndSwapExt;
  values.compare_value = {.high = wire::read<E::CompareHigh>(at), .low = wire::read<E::CompareLow>(at)};
  values.swap_value = {.high = wire::read<E::SwapHigh>(at), .low = wire::read<E::SwapLow>(at)};
}
constexpr void write_atomic_ext(std::byte* at, const AtomicExtValues& values) noexcept {
  using E = CompareAndSwapExt;
  wire::write<AtomicExt::Opcode>(at, static_cast<std::uint8_t>(values.opcode));
  wire::write<AtomicExt::Datatype>(at, static_cast<std::uint8_t>(values.datatype));
  wire::write<AtomicExt::SemanticControl>(at, values.semantic_control);
  wire::write<AtomicExt::Reserved>(at, 0);
  if (!is_compare_and_swap(values.opcode)) return;
  wire::write<E::CompareHigh>(at, values.compare_value.high);
  wire::write<E::CompareLow>(at, values.compare_value.low);
  wire::write<E::SwapHigh>(at, values.swap_value.high);
  wire::write<E::SwapLow>(at, values.swap_value.low);
}

//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +---------------------------------------------------------------+
//  |                         eager_length                          |
//  +---------------+-----------------------+-----------------------+
//  | ri_generation |      pid_on_fep       |    resource_index     |
//  +---------------+-----------------------+-----------------------+
//  |                     read_offset, 8 octets                     |
//  |                   read_memory_key, 8 octets                   |
//  +---------------------------------------------------------------+
// DEVIATION UE-Spec 1.0 figure 3-15: one source ends after the first 8 octets (UET page §13 item 11).
struct RendezvousExt {
  static constexpr std::size_t kOctets = 24;
  using EagerLength = wire::Field<0, 32>;
  using RiGeneration = wire::Field<32, 8>;
  using PidOnFep = wire::Field<40, 12>;
  using ResourceIndex = wire::Field<52, 12>;
  using ReadOffset = wire::Field<64, 64>;
  using ReadMemoryKey = wire::Field<128, 64>;
};
static_assert(wire::tiles<RendezvousExt::kOctets, RendezvousExt::EagerLength, RendezvousExt::RiGeneration,
                          RendezvousExt::PidOnFep, RendezvousExt::ResourceIndex, RendezvousExt::ReadOffset,
                          RendezvousExt::ReadMemoryKey>());

// How the target reads what the message did not bring along.
struct RendezvousExtValues {
  std::uint32_t eager_length = 0;  // octets of the message that come with it
  std::uint8_t ri_generation = 0;
  std::uint16_t pid_on_fep = 0;      // 12 bits
  std::uint16_t resource_index = 0;  // 12 bits
  std::uint64_t read_offset = 0;
  std::uint64_t read_memory_key = 0;

  bool operator==(const RendezvousExtValues&) const = default;
};

constexpr RendezvousExtValues read_rendezvous_ext(const std::byte* at) noexcept {
  return {.eager_length = wire::read<RendezvousExt::EagerLength>(at),
          .ri_generation = wire::read<RendezvousExt::RiGeneration>(at),
          .pid_on_fep = wire::read<RendezvousExt::PidOnFep>(at),
          .resource_index = wire::read<RendezvousExt::ResourceIndex>(at),
          .read_offset = wire::read<RendezvousExt::ReadOffset>(at),
          .read_memory_key = wire::read<RendezvousExt::ReadMemoryKey>(at)};
}
constexpr void write_rendezvous_ext(std::byte* at, const RendezvousExtValues& values) noexcept {
  wire::write<RendezvousExt::EagerLength>(at, values.eager_length);
  wire::write<RendezvousExt::RiGeneration>(at, values.ri_generation);
  wire::write<RendezvousExt::PidOnFep>(at, values.pid_on_fep);
  wire::write<RendezvousExt::ResourceIndex>(at, values.resource_index);
  wire::write<RendezvousExt::ReadOffset>(at, values.read_offset);
  wire::write<RendezvousExt::ReadMemoryKey>(at, values.read_memory_key);
}

}  // namespace railyard::uet
