// Who a key is derived for: a source identifier (SSI) or an IP address. UET page §11: 4 octets, or for IPv6 16.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "dataplane/base/hash.h"
#include "dataplane/wire/address.h"
#include "dataplane/wire/field.h"

namespace railyard::uet {

struct Identity {
  std::array<std::byte, 16> value{};  // zeros behind `octets`
  std::uint8_t octets = 0;
  bool is_ssi = false;

  static Identity of(std::uint32_t ssi) noexcept {
    Identity i{.octets = 4, .is_ssi = true};
    wire::write<wire::Field<0, 32>>(i.value.data(), ssi);
    return i;
  }
  static Identity of(const wire::IpAddress& address) noexcept {
    Identity i{.octets = address.is_v4() ? std::uint8_t{4} : std::uint8_t{16}};
    std::memcpy(i.value.data(), address.octets.data() + (16 - i.octets), i.octets);
    return i;
  }
  // Of a packet's source: its SSI if it has one.
  static Identity of(const std::optional<std::uint32_t>& ssi, const wire::IpAddress& source) noexcept {
    return ssi ? of(*ssi) : of(source);
  }

  std::span<const std::byte> span() const noexcept { return std::span(value).first(octets); }
  bool operator==(const Identity&) const = default;
};

struct IdentityHash {
  std::size_t operator()(const Identity& i) const noexcept {
    using High = wire::Field<0, 64>;
    const std::uint64_t high = wire::read<High>(i.value.data());
    const std::uint64_t low = wire::read<High>(i.value.data() + 8);
    return static_cast<std::size_t>(mix64(high ^ mix64(low + i.octets + (i.is_ssi ? 64u : 0u))));
  }
};

}  // namespace railyard::uet
