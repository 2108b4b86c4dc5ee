// Registered memory: what peers may read and write by a key, as verbs' memory regions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <string_view>
#include <vector>

#include "dataplane/base/ids.h"

namespace railyard {

using ProtectionDomain = Id<struct ProtectionDomainTag, std::uint32_t>;

// What a region may be used for, as bits; the values are those of verbs. Local reads always may.
enum class Access : std::uint8_t { kLocalWrite = 1, kRemoteWrite = 2, kRemoteRead = 4, kRemoteAtomic = 8 };
class AccessSet {
 public:
  constexpr AccessSet() noexcept = default;
  constexpr AccessSet(Access access) noexcept : bits_(static_cast<std::uint8_t>(access)) {}
  constexpr bool has(Access access) const noexcept { return (bits_ & static_cast<unsigned>(access)) != 0; }
  friend constexpr AccessSet operator|(AccessSet a, AccessSet b) noexcept {
    a.bits_ = static_cast<std::uint8_t>(a.bits_ | b.bits_);
    return a;
  }
  // Whether all of `other` are among these.
  constexpr bool includes(AccessSet other) const noexcept { return (other.bits_ & ~bits_) == 0; }
  bool operator==(const AccessSet&) const = default;

 private:
  std::uint8_t bits_ = 0;
};
constexpr AccessSet operator|(Access a, Access b) noexcept { return AccessSet(a) | AccessSet(b); }

struct MemoryRegion {
  std::uint64_t address = 0;  // as peers name its first octet
  std::uint64_t octets = 0;
  AccessSet access{};
  ProtectionDomain domain{};
  std::byte* memory = nullptr;  // where it is; nullptr: its contents are a promise only (PayloadRef)
  std::uint64_t stream = 0;     // of a promise: octet i of the region is octet i of this stream
};

// Why a region cannot be registered.
enum class RegisterError : std::uint8_t {
  kEmpty,
  kWraps,            // reaches beyond the greatest address
  kNeedsLocalWrite,  // remote writes or atomics without local ones
  kTooMany           // there are no more keys
};
// Why an access is refused. A responder answers all of them alike: NAK remote access error.
enum class AccessError : std::uint8_t { kUnknownKey, kOtherDomain, kNotPermitted, kOutOfRange };
std::string_view name(RegisterError error) noexcept;
std::string_view name(AccessError error) noexcept;

// The regions of one NIC. A key is both L_Key and R_Key, and never 0; it stays refused for long after its region is
// gone.
class MemoryRegions {
 public:
  using Key = std::uint32_t;

  std::expected<Key, RegisterError> add(const MemoryRegion& region);
  // Whether there was such a region; what a SEND with Invalidate does, too.
  bool remove(Key key) noexcept;

  // Where an access goes.
  struct Place {
    std::byte* memory = nullptr;  // nullptr: a promise only
    std::uint64_t offset = 0;     // in the region
    std::uint64_t stream = 0;     // MemoryRegion::stream
  };
  // Whether the owner of `domain` may have `octets` from `address` for all of `access` (none: a local read). Changes
  // nothing. Without octets neither key nor address is looked at.
  std::expected<Place, AccessError> check(Key key, ProtectionDomain domain, std::uint64_t address, std::uint64_t octets,
                                          AccessSet access) const noexcept;

  // nullptr: there is no such region. Holds until regions are added or removed.
  const MemoryRegion* region(Key key) const noexcept {
    const Slot* const slot = find(key);
    return slot == nullptr ? nullptr : &slot->region;
  }

  std::size_t size() const noexcept { return used_; }

  // An access comes soon: the first few regions, which is all that most NICs have.
  void prefetch() const noexcept {
    for (std::size_t i = 1; i < 3; ++i) __builtin_prefetch(slots_.data() + i);
  }

 private:
  // A key is the slot's number and, in its low octet, how often the slot was used before.
  static constexpr std::uint32_t kMostSlots = (1u << 24) - 1;
  // Slots that stay free, so that a key comes again after 256 times as many others at the earliest.
  static constexpr std::size_t kFreeKept = 64;
  struct alignas(64) Slot {
    MemoryRegion region;
    std::uint8_t generation = 0;
    bool used = false;
  };
  const Slot* find(Key key) const noexcept;

  std::vector<Slot> slots_{1};      // the first one is nobody's
  std::deque<std::uint32_t> free_;  // the one that is longest free first
  std::size_t used_ = 0;
};

}  // namespace railyard
