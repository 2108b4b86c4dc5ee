// When a fault is active: intervals of modelled time, known before they come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "dataplane/base/rng.h"
#include "dataplane/base/time.h"
#include "dataplane/fault/chance.h"

namespace railyard {

// Half-open: [begin, end).
struct Interval {
  Instant begin;
  Instant end = Instant::never();

  bool operator==(const Interval&) const = default;
};

struct ActivityConfig {
  Instant first{};                   // when the first occurrence begins
  Duration every{};                  // from begin to begin; 0: there is one occurrence
  Duration lasts{};                  // each; 0: it does not end (and `every` is 0)
  std::uint64_t count = 0;           // occurrences; 0: no end
  Instant until = Instant::never();  // nothing begins at or after it, and what has begun ends
  Chance chance = Chance::always();  // that an occurrence happens
  // In the place of all this: exactly these, in order and apart. For what has happened once and is to happen again.
  std::optional<std::vector<Interval>> listed = {};
};

// Occurrences one after the other. A copy goes on by itself and says the same.
class Activity {
 public:
  Activity() = default;
  // `rng` draws which occurrences happen.
  Activity(ActivityConfig config, RngStream rng) : config_(std::move(config)), rng_(rng) {}

  // The next one; nothing: there is none any more.
  std::optional<Interval> next();

  // One more occurrence, after all others; for those that nobody could know of before. Only with `listed`.
  void add(Interval interval) { config_.listed->push_back(interval); }

 private:
  ActivityConfig config_;
  RngStream rng_;
  std::uint64_t passed_ = 0;
};

}  // namespace railyard
