#include "transports/base/memory_regions.h"

#include <algorithm>
#include <limits>

namespace railyard {

std::string_view name(RegisterError error) noexcept {
  switch (error) {
    case RegisterError::kEmpty:
      return "empty";
    case RegisterError::kWraps:
      return "wraps";
    case RegisterError::kNeedsLocalWrite:
      return "needs_local_write";
    case RegisterError::kTooMany:
      return "too_many";
  }
  return "";
}

std::string_view name(AccessError error) noexcept {
  switch (error) {
    case AccessError::kUnknownKey:
      return "unknown_key";
    case AccessError::kOtherDomain:
      return "other_domain";
    case AccessError::kNotPermitted:
      return "not_permitted";
    case AccessError::kOutOfRange:
      return "out_of_range";
  }
  return "";
}

namespace {

std::expected<void, RegisterError> valid(const MemoryRegion& region) noexcept {
  if (region.octets == 0) return std::unexpected(RegisterError::kEmpty);
  if (region.octets - 1 > std::numeric_limits<std::uint64_t>::max() - region.address)
    return std::unexpected(RegisterError::kWraps);
  const bool written_from_afar = region.access.has(Access::kRemoteWrite) || region.access.has(Access::kRemoteAtomic);
  if (written_from_afar && !region.access.has(Access::kLocalWrite))
    return std::unexpected(RegisterError::kNeedsLocalWrite);
  return {};
}

}  // namespace

std::expected<MemoryRegions::Key, RegisterError> MemoryRegions::add(const MemoryRegion& region) {
  if (const auto ok = valid(region); !ok) return std::unexpected(ok.error());
  const auto key = take_slot();
  if (key) slots_[*key >> 8].region = region;
  return key;
}

std::expected<void, RegisterError> MemoryRegions::replace(Key key, const MemoryRegion& region) {
  if (const auto ok = valid(region); !ok) return ok;
  slots_[key >> 8].region = region;
  return {};
}

std::expected<MemoryRegions::Key, RegisterError> MemoryRegions::take_slot() {
  std::uint32_t slot = 0;
  // New slots first: a key that has gone comes again as late as can be.
  if (slots_.size() <= kMostSlots && free_.size() < kFreeKept) {
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  } else if (!free_.empty()) {
    slot = free_.front();
    free_.pop_front();
  } else {
    return std::unexpected(RegisterError::kTooMany);
  }
  slots_[slot].used = true;
  slots_[slot].window = false;
  ++used_;
  return slot << 8 | slots_[slot].generation;
}

bool MemoryRegions::remove(Key key) noexcept {
  if (find(key) == nullptr) return false;
  Slot& slot = slots_[key >> 8];
  if (slot.window) bound_.erase(key >> 8);
  slot.used = false;
  ++slot.generation;
  free_.push_back(key >> 8);
  --used_;
  return true;
}

std::expected<MemoryRegions::Key, RegisterError> MemoryRegions::add_window(ProtectionDomain domain) {
  const auto key = take_slot();
  if (!key) return key;
  slots_[*key >> 8].region = {.domain = domain};
  slots_[*key >> 8].window = true;
  return key;
}

std::expected<void, AccessError> MemoryRegions::bind(Key key, const WindowBinding& b) {
  const std::uint32_t at = key >> 8;
  if (at >= slots_.size() || !slots_[at].used || !slots_[at].window) return std::unexpected(AccessError::kUnknownKey);
  MemoryRegion bound{.domain = slots_[at].region.domain};
  if (b.octets > 0) {
    const Slot* const slot = find(b.region);
    if (slot == nullptr || slot->window) return std::unexpected(AccessError::kUnknownKey);
    const bool writes = b.access.has(Access::kRemoteWrite) || b.access.has(Access::kRemoteAtomic);
    const auto place = check(b.region, bound.domain, b.address, b.octets,
                             writes ? Access::kBindWindow | Access::kLocalWrite : AccessSet(Access::kBindWindow));
    if (!place) return std::unexpected(place.error());
    if (place->memory == nullptr) return std::unexpected(AccessError::kNotPermitted);  // of promises there are no pieces
    bound.address = b.zero_based ? 0 : b.address;
    bound.octets = b.octets;
    bound.access = b.access;
    bound.memory = place->memory;
    bound.user = b.user;
    bound_[at] = b.region;
  } else {
    bound_.erase(at);
  }
  slots_[at].region = bound;
  slots_[at].generation = static_cast<std::uint8_t>(key);
  return {};
}

bool MemoryRegions::remove_window(Key key) noexcept {
  const std::uint32_t at = key >> 8;
  return domain_of_window(key) != nullptr && remove(at << 8 | slots_[at].generation);
}

bool MemoryRegions::invalidate(Key key) noexcept {
  const Slot* const slot = find(key);
  if (slot == nullptr) return false;
  if (!slot->window) return !has_windows(key) && remove(key);
  if (slot->region.octets > 0 && slot->region.user == 0) return false;
  slots_[key >> 8].region = {.domain = slot->region.domain};
  bound_.erase(key >> 8);
  return true;
}

bool MemoryRegions::has_windows(Key key) const noexcept {
  return std::ranges::any_of(bound_, [key](const auto& b) { return b.second == key; });
}

const MemoryRegions::Slot* MemoryRegions::find(Key key) const noexcept {
  const std::uint32_t slot = key >> 8;
  if (slot >= slots_.size() || !slots_[slot].used || slots_[slot].generation != (key & 0xFF)) return nullptr;
  return &slots_[slot];
}

std::expected<MemoryRegions::Place, AccessError> MemoryRegions::check(Key key, ProtectionDomain domain,
                                                                      std::uint64_t address, std::uint64_t octets,
                                                                      AccessSet access,
                                                                      std::uint32_t user) const noexcept {
  if (octets == 0) return Place{};
  const Slot* const slot = find(key);
  if (slot == nullptr) return std::unexpected(AccessError::kUnknownKey);
  const MemoryRegion& region = slot->region;
  if (region.domain != domain || (region.user != 0 && region.user != user))
    return std::unexpected(AccessError::kOtherDomain);
  // A window's key is an R_Key only.
  if (!region.access.includes(access) || (slot->window && access == AccessSet{}))
    return std::unexpected(AccessError::kNotPermitted);
  // Differences, because sums may wrap.
  if (address < region.address || octets > region.octets || address - region.address > region.octets - octets)
    return std::unexpected(AccessError::kOutOfRange);
  const std::uint64_t offset = address - region.address;
  return Place{region.memory == nullptr ? nullptr : region.memory + offset, offset, region.stream};
}

}  // namespace railyard
