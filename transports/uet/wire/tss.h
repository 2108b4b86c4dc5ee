// The header of the transport security sublayer (TSS), between UDP or the entropy header and the PDS header: UET page
// §11. Behind it everything is encrypted up to the 16 octets of the ICV at the end; there is no CRC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "dataplane/wire/field.h"
#include "transports/uet/wire/pds_type.h"

namespace railyard::uet {

//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +---------+-+-+-+-----------------------------------------------+
//  |  Type   |S|r|A|                      sdi                      |
//  +---------+-+-+-+-----------------------------------------------+
//  |                         ssi, with sp                          |
//  +-------------------------------+-------------------------------+
//  |             epoch             |                               |
//  +-------------------------------+            counter            +
//  |                                                               |
//  +---------------------------------------------------------------+
struct Tss {
  static constexpr std::size_t kOctets = 12;  // without ssi
  static constexpr std::size_t kSsiOctets = 4;
  using Type = wire::Field<0, 5>;
  using Sp = wire::Field<5, 1>;
  using Reserved = wire::Field<6, 1>;
  using An = wire::Field<7, 1>;
  using Sdi = wire::Field<8, 24>;
  using Ssi = wire::Field<32, 32>;
  using Tsc = wire::Field<32, 64>;  // behind the ssi, if there is one
};
static_assert(wire::tiles<Tss::kOctets, Tss::Type, Tss::Sp, Tss::Reserved, Tss::An, Tss::Sdi, Tss::Tsc>());

inline constexpr std::size_t kIcvOctets = 16;

struct TssValues {
  bool an = false;                     // association number: which of two keys
  std::uint32_t sdi = 0;               // 24 bits: security domain
  std::optional<std::uint32_t> ssi{};  // source identifier
  std::uint16_t epoch = 0;             // of the tsc
  std::uint64_t counter = 0;           // of the tsc, 48 bits

  bool operator==(const TssValues&) const = default;

  constexpr std::size_t octets() const noexcept { return Tss::kOctets + (ssi ? Tss::kSsiOctets : 0); }
};

// Whether `packet`, as long as it may be, begins with a TSS header.
constexpr bool is_secured(std::span<const std::byte> packet) noexcept {
  return !packet.empty() && wire::read<Tss::Type>(packet.data()) == static_cast<std::uint8_t>(PdsType::kTss);
}

// The TSS header at the beginning of `packet`, which is_secured(); nothing if it ends within it.
constexpr std::optional<TssValues> decode_tss(std::span<const std::byte> packet) noexcept {
  if (packet.size() < Tss::kOctets || !is_secured(packet)) return std::nullopt;
  const std::byte* const at = packet.data();
  const bool sp = wire::read<Tss::Sp>(at) != 0;
  const std::size_t ssi_octets = sp ? Tss::kSsiOctets : 0;
  if (packet.size() < Tss::kOctets + ssi_octets) return std::nullopt;
  const std::uint64_t tsc = wire::read<Tss::Tsc>(at + ssi_octets);
  TssValues v{.an = wire::read<Tss::An>(at) != 0,
              .sdi = wire::read<Tss::Sdi>(at),
              .epoch = static_cast<std::uint16_t>(tsc >> 48),
              .counter = tsc & 0xFFFF'FFFF'FFFF};
  if (sp) v.ssi = wire::read<Tss::Ssi>(at);
  return v;
}

// Writes it; returns its octets, 0 if they do not fit `out`.
constexpr std::size_t encode_tss(std::span<std::byte> out, const TssValues& v) noexcept {
  if (out.size() < v.octets()) return 0;
  std::byte* const at = out.data();
  wire::write<Tss::Type>(at, static_cast<std::uint8_t>(PdsType::kTss));
  wire::write<Tss::Sp>(at, v.ssi ? 1 : 0);
  wire::write<Tss::Reserved>(at, 0);
  wire::write<Tss::An>(at, v.an ? 1 : 0);
  wire::write<Tss::Sdi>(at, v.sdi);
  if (v.ssi) wire::write<Tss::Ssi>(at, *v.ssi);
  wire::write<Tss::Tsc>(at + (v.ssi ? Tss::kSsiOctets : 0), std::uint64_t{v.epoch} << 48 | v.counter);
  return v.octets();
}

}  // namespace railyard::uet
