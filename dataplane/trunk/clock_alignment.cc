#include "dataplane/trunk/clock_alignment.h"

#include <algorithm>
#include <cstdlib>

namespace railyard {

const ClockAlignment::Sample& ClockAlignment::best() const noexcept {
  return *std::min_element(samples_.begin(), samples_.begin() + static_cast<std::ptrdiff_t>(count_),
                           [](const Sample& a, const Sample& b) { return a.round_trip < b.round_trip; });
}

void ClockAlignment::add(const PingExchange& e) noexcept {
  Sample s{((e.peer_received - e.sent) + (e.peer_sent - e.received)) / 2,
           (e.received - e.sent) - (e.peer_sent - e.peer_received), e.received};
  // A round trip of less than nothing: a clock was set back in between (modelled time slipped). What it says of the
  // offset is worth nothing, and as the shortest of all it would be believed; the next one will tell.
  if (s.round_trip < Duration{} - kRounding) return;
  s.round_trip = std::max(s.round_trip, Duration{});
  bool jumped = false;
  if (known()) {
    const Sample& b = best();
    const Duration drift = (s.at - b.at) / (1'000'000 / kDriftPpm);
    const Duration possible = (s.round_trip + b.round_trip) / 2 + drift + kRounding;
    jumped = std::abs((s.offset - b.offset).ps) > possible.ps;
  }
  if (jumped) {
    ++jumps_;
    forget();
  }
  if (count_ == 0) next_ = 0;
  samples_[next_] = s;
  next_ = (next_ + 1) % kSamples;
  count_ = std::min(count_ + 1, kSamples);
}

}  // namespace railyard
