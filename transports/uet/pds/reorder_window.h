// How long a packet may be under way before it is lost and not only late (RACK, RFC 8985 §6.2): as long as any has
// lately been until it was heard of, and a reordering window more.
//
//   sent ---- longest lately ---- + reordering window: as long again ---- lost
//
// DEVIATION: RFC 8985 takes the round trip of the packet that was heard of last, and a quarter of the shortest one for
// the window, which grows by as much with each packet that was sent again for nothing. Packets that are sprayed have as
// many round trips as there are paths: here it is the longest of the last two periods, not below that of the longest
// path when it is empty, nor below what one took that was sent again for nothing. Their queues grow while nothing is
// heard of those that wait in them, so the window is as long again; and where switches trim, and all that congestion
// takes is told, three times as long.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "dataplane/base/time.h"

namespace railyard::uet {

class ReorderWindow {
 public:
  ReorderWindow() = default;
  // `base_rtt`: unloaded, of the longest path; 0: not known. `told`: switches trim, so that what is lost in silence is
  // lost by a fault.
  explicit ReorderWindow(Duration base_rtt, bool told = false) noexcept : base_rtt_(base_rtt), told_(told) {}

  // A packet that was sent only once was heard of `took` (> 0) after that.
  void heard(Instant now, Duration took) noexcept {
    shortest_ = known() ? std::min(shortest_, took) : took;
    if (now >= turn_at_) turn(now);
    longest_ = std::max(longest_, took);
  }
  // One that was taken for lost came after all, `took` after it was sent for the first time.
  void came_after_all(Duration took) noexcept {
    late_ = std::max(late_, took);
    rounds_ = 0;
  }
  // Packets were taken for lost: after 16 such times and none that came after all that is forgotten (§6.2.1).
  void lost() noexcept {
    constexpr std::uint8_t kPersist = 16;
    if (late_.ps == 0 || ++rounds_ < kPersist) return;
    late_ = {};
    rounds_ = 0;
  }
  // Of a packet that went again: whether it was heard of too soon for that one to have come.
  bool is_too_soon(Duration took) const noexcept { return took < shortest_; }

  // Whether anything was heard at all.
  bool known() const noexcept { return shortest_.ps > 0; }
  // What a packet is waited for.
  Duration patience() const noexcept {
    if (known()) return longest() * (told_ ? 4 : 2);
    return base_rtt_.ps > 0 ? first_patience() : Duration{std::numeric_limits<std::int64_t>::max()};
  }
  // Before anything was heard, as for a first timeout (RFC 6298 §2.2): three round trips. 0: not known. The answers to
  // a first window that takes 3/2 of one to send, 5/2 where switches trim, are there before.
  Duration first_patience() const noexcept { return base_rtt_ * (told_ ? 6 : 3); }

 private:
  static constexpr std::int64_t kPeriod = 16;  // in shortest round trips

  Duration longest() const noexcept { return std::max({longest_, before_, base_rtt_, late_}); }
  void turn(Instant now) noexcept {
    before_ = longest_;
    longest_ = {};
    turn_at_ = now + shortest_ * kPeriod;
  }

  Duration base_rtt_{};
  bool told_ = false;
  Duration shortest_{};
  Duration longest_{};  // in this period
  Duration before_{};   // in the one before
  Duration late_{};     // of what came after all
  Instant turn_at_{};
  std::uint8_t rounds_ = 0;
};

}  // namespace railyard::uet
