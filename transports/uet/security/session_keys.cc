#include "transports/uet/security/session_keys.h"

#include <algorithm>
#include <array>

namespace railyard::uet {

SessionKeys::SessionKeys(const SecurityConfig& config) : config_(config) {
  if (config.mode == SecurityMode::kDirect) return;
  const std::string_view label = config.mode == SecurityMode::kCluster ? kClusterLabel : kClientServerLabel;
  first_.emplace(config.key, label);
  if (config.rotates()) second_.emplace(config.next_key.value_or(config.key), label);
}

KeyName SessionKeys::name(const TssValues& tss, const Identity& identity) const {
  if (config_.mode == SecurityMode::kDirect) return {.an = tss.an};
  const bool rekeys = config_.rekey_bits < SecurityConfig::kCounterBits;
  return {.an = tss.an,
          .epoch = tss.epoch,
          .rekeyed = rekeys ? static_cast<std::uint32_t>(tss.counter >> config_.rekey_bits) : 0,
          .identity = identity};
}

// DEVIATION: a client is known by its IP address in both directions. Packets to a client do not have its SSI.
KeyName SessionKeys::name_of_sent(const TssValues& tss, const wire::IpAddress& source,
                                  const wire::IpAddress& destination) const {
  if (config_.mode == SecurityMode::kServer) return name(tss, Identity::of(destination));
  return name(tss, config_.mode == SecurityMode::kClient ? Identity::of(source) : Identity::of(tss.ssi, source));
}

KeyName SessionKeys::name_of_received(const TssValues& tss, const wire::IpAddress& source,
                                      const wire::IpAddress& destination) const {
  if (config_.mode == SecurityMode::kClient) return name(tss, Identity::of(destination));
  return name(tss, config_.mode == SecurityMode::kServer ? Identity::of(source) : Identity::of(tss.ssi, source));
}

SessionKey SessionKeys::key(const KeyName& name) {
  const bool first = name.an == config_.an;
  if (config_.mode == SecurityMode::kDirect) return {first ? config_.key : config_.next_key.value_or(config_.key), {}};
  // Context: epoch 2, re-key counter 4, identity 4 or 16 octets.
  std::array<std::byte, KeyDerivation::kMostContextOctets> context{};
  wire::write<wire::Field<0, 16>>(context.data(), name.epoch);
  wire::write<wire::Field<0, 32>>(context.data() + 2, name.rekeyed);
  std::ranges::copy(name.identity.span(), context.begin() + 6);
  return (first ? first_ : second_)->derive(std::span(context).first(6u + name.identity.octets));
}

}  // namespace railyard::uet
