// Events of a device in 64 bits: time, then kind, then port. Comparing keys is comparing order.
#pragma once

#include <cstdint>

#include "dataplane/base/ids.h"
#include "dataplane/base/slot_queue.h"
#include "dataplane/base/time.h"

namespace railyard {

// The order of what happens at one instant. Changes and snapshots come before everything else of their instant (they
// are kept in a queue of their own), transmissions start after everything else of it, in port order.
enum class EventKind : std::uint8_t { kMacControl = 2, kTransmitEnd = 3, kArrival = 4, kTimer = 5 };

// Keys hold time relative to a base that moves along: 48 bits of picoseconds (140 s ahead), 3 bits of kind, 13 of port.
class EventKey {
 public:
  static constexpr std::uint64_t kNone = SlotQueue::kNone;  // later than every event
  static constexpr unsigned kPortBits = 13;
  static constexpr unsigned kTimeShift = kPortBits + 3;
  static constexpr std::size_t kMaxPorts = (std::size_t{1} << kPortBits) - 1;
  // Later than this from the base, an event is only known to be far away; rebase before it matters.
  static constexpr Duration kReach{(std::int64_t{1} << 47) - 1};

  static constexpr std::uint64_t make(Instant base, Instant at, EventKind kind, std::uint32_t port) noexcept {
    if (at == Instant::never()) return kNone;
    const Duration ahead = at - base;
    const auto ticks = static_cast<std::uint64_t>(ahead > kReach ? kReach.ps : ahead.ps);
    return ticks << kTimeShift | static_cast<std::uint64_t>(kind) << kPortBits | port;
  }
  // The same for an instant that is known to be within reach.
  static constexpr std::uint64_t make_near(Instant base, Instant at, EventKind kind, std::uint32_t port) noexcept {
    return static_cast<std::uint64_t>((at - base).ps) << kTimeShift | static_cast<std::uint64_t>(kind) << kPortBits |
           port;
  }
  // The smallest key of instant `at`.
  static constexpr std::uint64_t floor(Instant base, Instant at) noexcept {
    const Duration ahead = at - base;
    return ahead > kReach ? static_cast<std::uint64_t>(kReach.ps) << kTimeShift
                          : static_cast<std::uint64_t>(ahead.ps) << kTimeShift;
  }
  static constexpr Instant time(Instant base, std::uint64_t key) noexcept {
    return key == kNone ? Instant::never() : base + Duration{static_cast<std::int64_t>(key >> kTimeShift)};
  }
  static constexpr std::uint64_t ticks(std::uint64_t key) noexcept { return key >> kTimeShift; }
  static constexpr EventKind kind(std::uint64_t key) noexcept { return static_cast<EventKind>(key >> kPortBits & 7); }
  static constexpr std::uint32_t port(std::uint64_t key) noexcept {
    return static_cast<std::uint32_t>(key & ((1u << kPortBits) - 1));
  }
};

}  // namespace railyard
