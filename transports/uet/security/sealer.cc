#include "transports/uet/security/sealer.h"

#include "dataplane/base/assert.h"

namespace railyard::uet {

Sealer::Sealer(const SecurityConfig& config)
    : config_(config), keys_(config), an_(config.an), epoch_(config.epoch) {}

// The last epoch is never left: 2^48 packets of it come first.
void Sealer::rotate() noexcept {
  an_ = !an_;
  ++epoch_;
  counter_ = 0;
  ++rotations_;
}

TssValues Sealer::next(Instant now, bool v4) noexcept {
  if (!rotated_in_time_ && now >= config_.rotate_at) [[unlikely]] {
    rotated_in_time_ = true;
    if (can_rotate()) rotate();
  } else if (config_.rotate_after != 0 && counter_ >= config_.rotate_after && can_rotate()) [[unlikely]] {
    rotate();
  }
  RAILYARD_ASSERT(counter_ >> SecurityConfig::kCounterBits == 0, "no counter is used twice");
  TssValues tss{.an = an_, .sdi = config_.sdi, .epoch = epoch_, .counter = counter_++};
  if (!v4) tss.ssi = config_.ssi;
  return tss;
}

AesGcm& Sealer::begin(const TssValues& tss, const wire::IpAddress& source, const wire::IpAddress& destination,
                      std::span<const std::byte> additional) {
  const KeyName name = keys_.name_of_sent(tss, source, destination);
  auto found = ciphers_.find(name.identity);
  if (found == ciphers_.end() || found->second.name != name) [[unlikely]] {
    const SessionKey key = keys_.key(name);
    found = ciphers_.insert_or_assign(name.identity, Keyed{name, key.mask, AesGcm(AesGcm::Use::kSeal, key.key)}).first;
  }
  Keyed& keyed = found->second;
  keyed.cipher.begin(iv_of(tss, source, keyed.mask), additional);
  return keyed.cipher;
}

}  // namespace railyard::uet
