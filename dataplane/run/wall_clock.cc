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
  void set_back(Duration wall) noexcept { epoch_ += wall; }

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

// What to do when there is nothing to do, by the policy of the lab.
//
// Balanced: look again at once, then let others run, then sleep for moments; and when it has been quiet for long, until
// something comes. Idle: the last at once. What does not announce itself is looked for now and then, and waits for that
// long.
class Idle {
 public:
  Idle(Machine& machine, Polling policy) : machine_(machine), policy_(policy) {}

  // `descriptors`: of what announces itself; `all`: nothing else may come.
  void await(std::vector<int> descriptors, bool all) {
    descriptors_ = std::move(descriptors);
    longest_ = all ? 100_ms : 4_ms;
  }
  void worked() noexcept {
    empty_ = 0;
    announced_ = false;
    wait_ = kFirstWait;
  }
  // `left`: wall time until something is due.
  void rest(Duration left) {
    switch (policy_) {
      case Polling::kLatency: return;
      case Polling::kBalanced: return rest_by_and_by(left);
      case Polling::kIdle: return rest_at_once(left);
    }
  }

 private:
  static constexpr Duration kFirstWait{50'000'000};
  static constexpr Duration kLongestUnanswered{1'000'000'000};

  void rest_by_and_by(Duration left) {
    constexpr unsigned kEmptyTurns = 64;
    constexpr unsigned kYields = 4 * kEmptyTurns;
    constexpr unsigned kShortSleeps = 1024;  // 0.1 s, with what a timer adds
    if (++empty_ < kEmptyTurns) return;
    if (empty_ < kYields || left < 100_us)
      machine_.yield();
    else if (empty_ < kYields + kShortSleeps)
      machine_.sleep(50_us);
    else if (announced_)  // but nobody takes it now: a link that is down
      machine_.sleep(std::min(left, kLongestUnanswered));
    else
      announced_ = machine_.wait(std::clamp(left - 100_us, 50_us, longest_), descriptors_);
  }
  // First in short waits, then in waits that grow. Ports announce what comes only after some empty looks, and hosts that
  // take nothing now, or send without saying so, are to be served soon while there is traffic.
  void rest_at_once(Duration left) {
    constexpr Duration kTimerSlack{50'000'000};  // Linux wakes this much later, if nobody asks for less
    constexpr Duration kTooShort{20'000'000};    // packets are on their way
    if (left < kTooShort) return machine_.yield();
    constexpr unsigned kShortWaits = 80;
    const Duration most = std::clamp(left - kTimerSlack, kTooShort, wait_);
    if (announced_)
      machine_.sleep(std::min(most, kLongestUnanswered));
    else
      announced_ = machine_.wait(most, descriptors_);
    if (++empty_ > kShortWaits) wait_ = std::min(2 * wait_, longest_);
  }

  Machine& machine_;
  std::vector<int> descriptors_;
  Duration longest_ = 4_ms;
  Duration wait_ = kFirstWait;
  Polling policy_;
  bool announced_ = false;
  unsigned empty_ = 0;
};

void tell(WallClockLive* live, const WallClockStats& stats, Instant reached) {
  const auto set = [](Counter& counter, Duration d) { counter.set(static_cast<std::uint64_t>(d.ps)); };
  set(live->reached_ps, reached - Instant{});
  set(live->busy_ps, stats.busy);
  set(live->wall_ps, stats.wall);
  set(live->slip_ps, stats.slip);
  live->slips.set(stats.slips);
  live->lateness_p50_ps.set(stats.lateness.percentile(0.5));
  live->lateness_p99_ps.set(stats.lateness.percentile(0.99));
  live->lateness_max_ps.set(stats.lateness.max());
}

}  // namespace

WallClockStats run_wall(Engine& engine, Instant until, const WallClockConfig& config, const std::atomic<bool>& stop,
                        const std::function<void(Instant)>& progress, Machine& machine, WallClockLive* live) {
  constexpr Duration kGap = 50_us;
  constexpr Duration kTellEvery = 250_ms;
  constexpr unsigned kWindowsAtOnce = 16;
  WallClockStats stats;
  if (live != nullptr) live->stats = &stats;
  std::vector<Device*> polled;
  Instant reached = engine.reached();
  const Duration began = machine.time();
  Pace pace(reached, config, began);
  Idle idle(machine, config.polling);
  const auto look_around = [&] {
    polled.clear();
    std::vector<int> descriptors;
    bool announces = true;
    for (const auto& d : engine.fabric().devices()) {
      if (!d->polled()) continue;
      polled.push_back(d.get());
      announces &= d->readable(descriptors);
    }
    if (live != nullptr) descriptors.push_back(live->requests.readable());
    idle.await(std::move(descriptors), announces);
  };
  // Hosts outside come and go by request.
  const auto serve = [&](Instant at) {
    live->requests.serve(engine, at);
    look_around();
  };
  look_around();
  Duration last = began;
  Duration told = began;
  bool worked = false;
  bool was_held = false;
  while (!stop.load(std::memory_order_relaxed)) {
    const Duration wall = machine.time();
    if (was_held) [[unlikely]] {
      pace.set_back(wall - last);
      live->requests.calm();
    } else if (wall - last > kGap) {
      stats.gaps.record(static_cast<std::uint64_t>((wall - last).ps));
    }
    if (worked) stats.busy += wall - last;
    was_held = live != nullptr && live->requests.held();
    if (was_held) [[unlikely]] {
      last = wall;
      worked = false;
      live->requests.calm();
      if (live->requests.any()) serve(reached);
      tell(live, stats, reached);
      const int readable = live->requests.readable();
      machine.wait(100_ms, {&readable, 1});
      continue;
    }
    last = wall;
    ++stats.turns;
    const Instant now = std::max(pace.modelled(wall), reached);
    if (live != nullptr && live->requests.any()) [[unlikely]] {
      live->requests.calm();
      serve(now);
      idle.worked();
    }
    for (Device* d : polled) engine.wake(d->id(), d->poll(now, wall));

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
        pace.set_back(late - config.lag_limit);
        stats.slip += late - config.lag_limit;
        ++stats.slips;
      }
    } else {
      reached = std::max(reached, due);
      if (reached >= until || (next == Instant::never() && polled.empty() && live == nullptr)) break;
      const Duration quiet = pace.to_wall(std::min(next, until) - now);
      const bool tells = progress || live != nullptr;
      idle.rest(tells ? std::min(quiet, std::max(told + kTellEvery + 200_us - wall, Duration{})) : quiet);
      last = machine.time();  // resting is no gap
    }
    if (live != nullptr) live->reached_ps.set(static_cast<std::uint64_t>((reached - Instant{}).ps));
    if (wall - told > kTellEvery) {
      told = wall;
      if (progress) progress(reached);
      stats.wall = wall - began;
      if (live != nullptr) tell(live, stats, reached);
    }
  }
  for (Device* d : polled) d->give_outside(reached);
  engine.settle(reached);
  stats.wall = machine.time() - began;
  if (live != nullptr) live->stats = nullptr;
  return stats;
}

}  // namespace railyard
