// Registered memory: what peers may read and write by a key, as verbs' memory regions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <map>
#include <string_view>
#include <vector>

#include "dataplane/base/ids.h"

namespace railyard {

using ProtectionDomain = Id<struct ProtectionDomainTag, std::uint32_t>;

// What a region may be used for, as bits; the values are those of verbs. Local reads always may.
enum class Access : std::uint8_t {
  kLocalWrite = 1,
  kRemoteWrite = 2,
  kRemoteRead = 4,
  kRemoteAtomic = 8,
  kBindWindow = 16  // memory windows may be bound to it (IBTA Vol 1 §10.6.7)
};
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
  std::uint32_t user = 0;       // the only QP number that may use it: of windows of type 2; 0: all of the domain
};

// What a memory window is bound to: a piece of a region of the same domain.
struct WindowBinding {
  std::uint32_t region = 0;   // its key
  std::uint64_t address = 0;  // of the piece, as the region has it
  std::uint64_t octets = 0;   // 0: to nothing
  AccessSet access{};         // remote ones
  bool zero_based = false;    // peers name the first octet 0
  std::uint32_t user = 0;     // as MemoryRegion::user
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
  // Puts another region in the place of one, under the same key. On error nothing changes. The key is one of a region.
  std::expected<void, RegisterError> replace(Key key, const MemoryRegion& region);
  // Whether there was such a region or window.
  bool remove(Key key) noexcept;

  // A memory window that is bound to nothing: nobody may use it.
  std::expected<Key, RegisterError> add_window(ProtectionDomain domain);
  // Binds the window whose key differs from `key` in the low octet at most; from then on its key is `key`. On error
  // nothing changes: kUnknownKey no such window or region, kOtherDomain, kOutOfRange, kNotPermitted the region has not
  // kBindWindow, or lacks local writes for a window with remote writes or atomics.
  std::expected<void, AccessError> bind(Key key, const WindowBinding& binding);
  // A window, whatever its key is now; `key` differs in the low octet at most. Whether there was one.
  bool remove_window(Key key) noexcept;
  // What a SEND with Invalidate does, and a local invalidation: a region is removed, a window bound to nothing. False,
  // and nothing changes: there is none; windows are bound to the region (IBTA Vol 1 §10.6.7.2.6); or the window is bound
  // for all QPs of its domain (type 1), so only a bind unbinds it (§10.6.7.2.2, o10-37.2.26).
  bool invalidate(Key key) noexcept;
  // Whether windows are bound to this region: it must stay.
  bool has_windows(Key key) const noexcept;

  // Where an access goes.
  struct Place {
    std::byte* memory = nullptr;  // nullptr: a promise only
    std::uint64_t offset = 0;     // in the region
    std::uint64_t stream = 0;     // MemoryRegion::stream
  };
  // Whether the owner of `domain` may have `octets` from `address` for all of `access` (none: a local read), through QP
  // `user`. Changes nothing. Without octets neither key nor address is looked at.
  std::expected<Place, AccessError> check(Key key, ProtectionDomain domain, std::uint64_t address, std::uint64_t octets,
                                          AccessSet access, std::uint32_t user = 0) const noexcept;

  // nullptr: there is no such region. Holds until regions are added or removed.
  const MemoryRegion* region(Key key) const noexcept {
    const Slot* const slot = find(key);
    return slot == nullptr ? nullptr : &slot->region;
  }

  // The domain of the window whose key differs from `key` in the low octet at most; nullptr: there is none.
  const ProtectionDomain* domain_of_window(Key key) const noexcept {
    const std::uint32_t slot = key >> 8;
    return slot < slots_.size() && slots_[slot].used && slots_[slot].window ? &slots_[slot].region.domain : nullptr;
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
    bool window = false;
  };
  const Slot* find(Key key) const noexcept;
  std::expected<Key, RegisterError> take_slot();

  std::vector<Slot> slots_{1};      // the first one is nobody's
  std::deque<std::uint32_t> free_;  // the one that is longest free first
  std::size_t used_ = 0;
  std::map<std::uint32_t, Key> bound_;  // windows' slots, and the regions that they are bound to
};

}  // namespace railyard
