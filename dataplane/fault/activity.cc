#include "dataplane/fault/activity.h"

#include <algorithm>

namespace railyard {

std::optional<Interval> Activity::next() {
  if (config_.listed) {
    if (passed_ == config_.listed->size()) return std::nullopt;
    return (*config_.listed)[passed_++];
  }
  if (config_.chance.is_never()) return std::nullopt;
  const std::uint64_t occurrences = config_.every > Duration{} ? config_.count : 1;
  while (occurrences == 0 || passed_ < occurrences) {
    const auto n = static_cast<std::int64_t>(passed_++);
    const Int128 begin = static_cast<Int128>(config_.every.ps) * n + config_.first.ps;
    if (begin >= config_.until.ps) break;
    if (!config_.chance.happens(rng_)) continue;
    const Instant at{static_cast<std::int64_t>(begin)};
    // Those that touch are apart: one ends before the next one begins, at the same instant.
    const Duration lasts = config_.every > Duration{} ? std::min(config_.lasts, config_.every) : config_.lasts;
    return Interval{at, std::min(config_.until, config_.lasts > Duration{} ? at + lasts : Instant::never())};
  }
  return std::nullopt;
}

}  // namespace railyard
