#include "transports/uet/security/key_derivation.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "dataplane/base/assert.h"
#include "dataplane/wire/field.h"

namespace railyard::uet {

KeyDerivation::KeyDerivation(const SecurityKey& key, std::string_view label) : cmac_(key) {
  RAILYARD_ASSERT(label.size() == kLabelOctets, "labels have two octets");
  std::memcpy(label_.data(), label.data(), kLabelOctets);
}

SessionKey KeyDerivation::derive(std::span<const std::byte> context) noexcept {
  RAILYARD_ASSERT(context.size() <= kMostContextOctets, "an epoch, a re-key counter and an identity");
  constexpr std::size_t kDerived = kKeyOctets + kIvOctets;
  constexpr std::size_t kBlocks = (kDerived + AesCmac::kOctets - 1) / AesCmac::kOctets;
  constexpr std::size_t kContextAt = 4 + kLabelOctets + 1;
  std::array<std::byte, kContextAt + kMostContextOctets + 4> input{};
  std::ranges::copy(label_, input.begin() + 4);
  std::ranges::copy(context, input.begin() + kContextAt);
  const std::size_t length_at = kContextAt + context.size();
  wire::write<wire::Field<0, 32>>(input.data() + length_at, static_cast<std::uint32_t>(kDerived * 8));
  std::array<std::byte, kBlocks * AesCmac::kOctets> out;
  for (std::size_t i = 0; i < kBlocks; ++i) {
    wire::write<wire::Field<0, 32>>(input.data(), static_cast<std::uint32_t>(i + 1));
    cmac_.compute(std::span(input).first(length_at + 4),
                  std::span(out).subspan(i * AesCmac::kOctets).first<AesCmac::kOctets>());
  }
  SessionKey derived;
  std::copy_n(out.begin(), kKeyOctets, derived.key.begin());
  std::copy_n(out.begin() + kKeyOctets, kIvOctets, derived.mask.begin());
  return derived;
}

}  // namespace railyard::uet
