#include "transports/uet/security/opener.h"

#include <utility>

namespace railyard::uet {

Opener::Opener(const SecurityConfig& config) : config_(config), keys_(config) {
  if (config.mode != SecurityMode::kDirect) return;
  for (const bool an : {false, true})
    if (keys_.has(an)) direct_[an] = derived({.an = an});
}

Opener::Keyed Opener::derived(const KeyName& name) {
  const SessionKey key = keys_.key(name);
  return {name, key.mask, AesGcm(AesGcm::Use::kOpen, key.key)};
}

Opener::Keyed* Opener::known(const KeyName& name, Association* association) noexcept {
  if (auto& direct = direct_[name.an]) return &*direct;
  if (association == nullptr) return nullptr;
  for (auto* keyed : {&association->current, &association->before})
    if (*keyed && (*keyed)->name == name) return &**keyed;
  return nullptr;
}

std::optional<SecurityDrop> Opener::open(const SealedPacket& packet, std::byte* out) {
  using enum SecurityDrop;
  const TssValues& tss = packet.tss;
  if (tss.sdi != config_.sdi) return kUnknownDomain;
  if (!keys_.has(tss.an)) return kUnknownAssociation;
  const Identity from = Identity::of(tss.ssi, packet.source);
  const auto source = sources_.find(from);
  Association* association =
      source != sources_.end() && source->second[tss.an] ? &*source->second[tss.an] : nullptr;
  if (tss.epoch < (association != nullptr ? association->epoch : config_.epoch)) return kStaleEpoch;
  const bool same_epoch = association != nullptr && tss.epoch == association->epoch;
  if (same_epoch && !association->window.is_new(tss.counter)) return kReplayed;

  const KeyName name = keys_.name_of_received(tss, packet.source, packet.destination);
  Keyed* keyed = known(name, association);
  std::optional<Keyed> fresh;
  if (keyed == nullptr) [[unlikely]]
    keyed = &fresh.emplace(derived(name));
  keyed->cipher.begin(iv_of(tss, packet.source, keyed->mask), packet.additional);
  keyed->cipher.transform(packet.octets, out);
  if (!keyed->cipher.check(packet.icv)) return kAuthenticationFailed;

  if (association == nullptr) [[unlikely]]
    association = &sources_[from][tss.an].emplace(Association{tss.epoch, ReplayWindow(config_.replay_window)});
  if (tss.epoch != association->epoch) [[unlikely]] {
    association->epoch = tss.epoch;
    association->window.clear();
  }
  if (fresh) [[unlikely]] {
    association->before = std::exchange(association->current, std::nullopt);
    association->current = std::move(fresh);
  }
  association->window.accept(tss.counter);
  return std::nullopt;
}

}  // namespace railyard::uet
