#include "dataplane/run/wall_clock.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace railyard {

using namespace literals;

namespace {

// Modelled time from wall time.
class Pace {
 public:
  Pace(Instant begin, const WallClockConfig& config, Duration epoch) noexcept
      : begin_(begin), config_(config), epoch_(epoch) {}

  Instant modelled(Duration wall) const noexcept { return begin_ + to_modelled(wall - epoch_); }
  Duration to_modelled(Duration wall) const noexcept {
    return scaled(wall, config_.scale_numerator, config_.scale_denominator);
  }
  Duration to_wall(Duration modelled) const noexcept {
    return scaled(modelled, config_.scale_denominator, config_.scale_numerator);
  }
  // Modelled time is set back by `wall`.
  void slip(Duration wall) noexcept { epoch_ += wall; }

 private:
  // Saturates: what is never due stays far away.
  static Duration scaled(Duration d, std::int64_t up, std::int64_t down) noexcept {
    if (up == down) [[likely]]
      return d;
    constexpr Int128 kMost = std::numeric_limits<std::int64_t>::max();
    return Duration{static_cast<std::int64_t>(std::min(static_cast<Int128>(d.ps) * up / down, kMost))};
  }

  Instant begin_;
  WallClockConfig config_;
  Duration epoch_;
};

// What to do when there is nothing to do.
class Idle {
 public:
  Idle(Machine& machine, bool busy) noexcept : machine_(machine), busy_(busy) {}

  void worked() noexcept { empty_ = 0; }
  // `left`: wall time until something is due.
  void rest(Duration left) {
    constexpr unsigned kEmptyTurns = 64;
    if (busy_ || ++empty_ < kEmptyTurns) return;
    if (empty_ < 4 * kEmptyTurns || left < 100_us)
      machine_.yield();
    else
      machine_.sleep(50_us);
  }

 private:
  Machine& machine_;
  bool busy_;
  unsigned empty_ = 0;
};

}  // namespace

WallClockStats run_wall(Engine& engine, Instant until, const WallClockConfig& config, const std::atomic<bool>& stop,
                        const std::function<void(Instant)>& progress, Machine& machine) {
  constexpr Duration kGap = 50_us;
  constexpr Duration kTellEvery = 250_ms;
  constexpr unsigned kWindowsAtOnce = 16;
  WallClockStats stats;
  std::vector<Device*> polled;
  for (const auto& d : engine.fabric().devices())
    if (d->polled()) polled.push_back(d.get());

  Instant reached = engine.reached();
  const Duration began = machine.time();
  Pace pace(reached, config, began);
  Idle idle(machine, config.busy_poll);
  Duration last = began;
  Duration told = began;
  bool worked = false;
  while (!stop.load(std::memory_order_relaxed)) {
    const Duration wall = machine.time();
    if (wall - last > kGap) stats.gaps.record(static_cast<std::uint64_t>((wall - last).ps));
    if (worked) stats.busy += wall - last;
    last = wall;
    ++stats.turns;
    const Instant now = std::max(pace.modelled(wall), reached);
    for (Device* d : polled) engine.wake(d->id(), d->poll(now));

    Instant next = engine.next();
    worked = next <= now;
    const Instant due = std::min(now, until);
    if (next < due) {
      // Several windows between two looks outside, when there is so much to do: looking costs as much as a few packets.
      unsigned windows = 0;
      do {
        reached = std::min(next + engine.window(), due);
        next = engine.step(reached);
      } while (next < due && ++windows < kWindowsAtOnce);
      idle.worked();
      const Duration late = machine.time() - wall + pace.to_wall(now - reached);
      stats.lateness.record(static_cast<std::uint64_t>(std::max<std::int64_t>(late.ps, 0)));
      if (late > config.lag_limit) {
        pace.slip(late - config.lag_limit);
        stats.slip += late - config.lag_limit;
        ++stats.slips;
      }
    } else {
      reached = std::max(reached, due);
      if (reached >= until || (next == Instant::never() && polled.empty())) break;
      idle.rest(pace.to_wall(std::min(next, until) - now));
    }
    if (progress && wall - told > kTellEvery) {
      told = wall;
      progress(reached);
    }
  }
  for (Device* d : polled) d->give_outside(reached);
  engine.settle(reached);
  stats.wall = machine.time() - began;
  return stats;
}

}  // namespace railyard
