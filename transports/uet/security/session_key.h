// What packets are encrypted with: UET page §11.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dataplane/wire/address.h"
#include "dataplane/wire/field.h"
#include "transports/uet/security/security_config.h"
#include "transports/uet/wire/tss.h"

namespace railyard::uet {

inline constexpr std::size_t kIvOctets = 12;
using Iv = std::array<std::byte, kIvOctets>;

// A derived key comes with a mask for the IV: 44 octets. A direct key has none, which is a mask of zeros.
struct SessionKey {
  SecurityKey key{};
  Iv mask{};

  bool operator==(const SessionKey&) const = default;
};

// 96 bits: 32 of the source (its SSI, or its IPv4 address, or for IPv6 the SDI), then the tsc; XOR the mask.
inline Iv iv_of(const TssValues& tss, const wire::IpAddress& source, const Iv& mask) noexcept {
  Iv iv;
  const std::uint32_t prefix = tss.ssi ? *tss.ssi : source.is_v4() ? source.v4() : tss.sdi;
  wire::write<wire::Field<0, 32>>(iv.data(), prefix);
  wire::write<wire::Field<0, 64>>(iv.data() + 4, std::uint64_t{tss.epoch} << 48 | tss.counter);
  for (std::size_t i = 0; i < iv.size(); ++i) iv[i] ^= mask[i];
  return iv;
}

}  // namespace railyard::uet
