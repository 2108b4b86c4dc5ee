// Reaction to received PFC frames, one per port (IEEE 802.1Q clause 36, IEEE 802.3 annex 31D).
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "dataplane/base/counter.h"
#include "dataplane/base/ids.h"
#include "dataplane/base/time.h"

namespace railyard {

// For each priority the instant until which it is paused. A received time replaces the running one; it expires by
// itself. Whether a priority is paused is a question of `now` alone, never of whether some timer ran.
class PauseState {
 public:
  // The frame's content takes effect: for each priority in `enable`, paused for `quanta` x `quantum` from `now`.
  void receive(Instant now, PriorityMask enable, const std::array<std::uint16_t, kPriorities>& quanta,
               Duration quantum) noexcept {
    for (unsigned m = enable; m != 0; m &= m - 1) {
      const auto p = static_cast<std::size_t>(std::countr_zero(m));
      if ((unsigned{enabled_} >> p & 1u) == 0) [[unlikely]] {
        not_enabled_[p].increment();
        continue;
      }
      if (ignored_) [[unlikely]] {
        (quanta[p] > 0 ? xoff_ : xon_)[p].increment();
        continue;
      }
      settle(p, now);
      if (until_[p] <= now) standing_[p] = now;
      until_[p] = now + quantum * quanta[p];
      since_[p] = now;
      if (quanta[p] > 0) {
        xoff_[p].increment();
        touched_ = static_cast<PriorityMask>(touched_ | (1u << p));
      } else {
        xon_[p].increment();
        touched_ = static_cast<PriorityMask>(touched_ & ~(1u << p));
      }
    }
  }

  // The priorities that are paused at `now`.
  PriorityMask paused(Instant now) noexcept {
    if (touched_ == 0) [[likely]]
      return 0;
    return paused_slow(now);
  }

  // The priorities that may be paused: what paused() starts from.
  PriorityMask touched() const noexcept { return touched_; }

  // When the first of the paused priorities in `of` runs out; Instant::never() if none is paused. After paused(now).
  Instant first_expiry(PriorityMask of) const noexcept {
    Instant first = Instant::never();
    for (unsigned m = touched_ & of; m != 0; m &= m - 1) {
      const auto p = static_cast<std::size_t>(std::countr_zero(m));
      if (until_[p] < first) first = until_[p];
    }
    return first;
  }

  // Link down: nothing is paused any more (engine rule).
  void clear(Instant now) noexcept {
    for (std::size_t p = 0; p < kPriorities; ++p) {
      settle(p, now);
      until_[p] = now;
    }
    touched_ = 0;
  }

  // Until when priority `p` was last told to pause; in the past: it is not.
  Instant until(Priority p) const noexcept { return until_[p.index()]; }

  // PFC is enabled for the priorities in `enabled` from now on; requests for others are counted and ignored, and a
  // pause of one of them that stands ends now (IEEE 802.1Q 36.1.3.2).
  void enable(Instant now, PriorityMask enabled) noexcept {
    for (unsigned m = enabled_ & ~unsigned{enabled}; m != 0; m &= m - 1) {
      const auto p = static_cast<std::size_t>(std::countr_zero(m));
      settle(p, now);
      until_[p] = until_[p] < now ? until_[p] : now;
    }
    touched_ = static_cast<PriorityMask>(touched_ & enabled);
    enabled_ = enabled;
  }
  PriorityMask enabled() const noexcept { return enabled_; }

  // What comes is counted and has no effect, as of now and of what came before, too.
  void ignore(Instant now, bool ignored) noexcept {
    clear(now);
    ignored_ = ignored;
  }

  // How long priority `p` has been paused in all, up to `now`.
  Duration paused_time(Priority p, Instant now) const noexcept {
    Duration total = settled_time(p);
    const Instant end = until_[p.index()] < now ? until_[p.index()] : now;
    if (end > since_[p.index()]) total += end - since_[p.index()];
    return total;
  }
  // The same up to the last time that something was heard of it, or that its end was noticed. Any thread may ask.
  Duration settled_time(Priority p) const noexcept {
    return {static_cast<std::int64_t>(total_ps_[p.index()].read())};
  }
  // Since when priority `p` has been paused without a break; Instant::never() if it is not paused at `now`.
  Instant paused_since(Priority p, Instant now) const noexcept {
    return until_[p.index()] > now ? standing_[p.index()] : Instant::never();
  }
  std::uint64_t xoff_received(Priority p) const noexcept { return xoff_[p.index()].read(); }
  std::uint64_t xon_received(Priority p) const noexcept { return xon_[p.index()].read(); }
  // Requests, to pause or to go on, for a priority for which PFC was not enabled; in none of the two above.
  std::uint64_t not_enabled(Priority p) const noexcept { return not_enabled_[p.index()].read(); }

 private:
  PriorityMask paused_slow(Instant now) noexcept {
    for (unsigned m = touched_; m != 0; m &= m - 1) {
      const auto p = static_cast<std::size_t>(std::countr_zero(m));
      if (until_[p] > now) continue;
      settle(p, now);
      touched_ = static_cast<PriorityMask>(touched_ & ~(1u << p));
    }
    return touched_;
  }
  // Closes the interval that began at since_[p].
  void settle(std::size_t p, Instant now) noexcept {
    const Instant end = until_[p] < now ? until_[p] : now;
    if (end > since_[p]) total_ps_[p].add(static_cast<std::uint64_t>((end - since_[p]).ps));
    since_[p] = now;
  }

  bool ignored_ = false;
  PriorityMask enabled_ = 0xFF;
  PriorityMask touched_ = 0;  // may be paused; exact after paused()
  std::array<Instant, kPriorities> until_{};
  std::array<Instant, kPriorities> since_{};
  std::array<Instant, kPriorities> standing_{};  // beginning of the pause that stands
  std::array<Counter, kPriorities> total_ps_{};
  std::array<Counter, kPriorities> xoff_{};
  std::array<Counter, kPriorities> xon_{};
  std::array<Counter, kPriorities> not_enabled_{};
};

}  // namespace railyard
