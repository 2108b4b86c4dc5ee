#include "transports/base/memory_regions.h"

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

std::expected<MemoryRegions::Key, RegisterError> MemoryRegions::add(const MemoryRegion& region) {
  if (region.octets == 0) return std::unexpected(RegisterError::kEmpty);
  if (region.octets - 1 > std::numeric_limits<std::uint64_t>::max() - region.address)
    return std::unexpected(RegisterError::kWraps);
  const bool written_from_afar = region.access.has(Access::kRemoteWrite) || region.access.has(Access::kRemoteAtomic);
  if (written_from_afar && !region.access.has(Access::kLocalWrite))
    return std::unexpected(RegisterError::kNeedsLocalWrite);

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
  slots_[slot].region = region;
  slots_[slot].used = true;
  ++used_;
  return slot << 8 | slots_[slot].generation;
}

bool MemoryRegions::remove(Key key) noexcept {
  if (find(key) == nullptr) return false;
  Slot& slot = slots_[key >> 8];
  slot.used = false;
  ++slot.generation;
  free_.push_back(key >> 8);
  --used_;
  return true;
}

const MemoryRegions::Slot* MemoryRegions::find(Key key) const noexcept {
  const std::uint32_t slot = key >> 8;
  if (slot >= slots_.size() || !slots_[slot].used || slots_[slot].generation != (key & 0xFF)) return nullptr;
  return &slots_[slot];
}

std::expected<MemoryRegions::Place, AccessError> MemoryRegions::check(Key key, ProtectionDomain domain,
                                                                      std::uint64_t address, std::uint64_t octets,
                                                                      AccessSet access) const noexcept {
  if (octets == 0) return Place{};
  const Slot* const slot = find(key);
  if (slot == nullptr) return std::unexpected(AccessError::kUnknownKey);
  const MemoryRegion& region = slot->region;
  if (region.domain != domain) return std::unexpected(AccessError::kOtherDomain);
  if (!region.access.includes(access)) return std::unexpected(AccessError::kNotPermitted);
  // Differences, because sums may wrap.
  if (address < region.address || octets > region.octets || address - region.address > region.octets - octets)
    return std::unexpected(AccessError::kOutOfRange);
  const std::uint64_t offset = address - region.address;
  return Place{region.memory == nullptr ? nullptr : region.memory + offset, offset, region.stream};
}

}  // namespace railyard
