#include "control/blast/timing.h"

#include <algorithm>

namespace railyard::blast {

Duration convergence(const spec::Lab& lab) {
  const spec::RoutingSpec& r = lab.routing;
  constexpr int kHops = 5;
  const Duration bfd = r.bfd ? r.bfd->interval * r.bfd->multiplier : Duration{};
  return r.carrier_delay + bfd + (r.processing + r.message_delay) * kHops + r.fib_delay;
}

Duration longest_silence(const spec::Lab& lab) {
  Duration longest{};
  for (const spec::TrafficSpec& t : lab.traffic)
    for (const auto& [name, host] : lab.hosts) {
      // IBTA 11.6.2: 4.096 us x 2^n.
      if (t.is_roce()) longest = std::max(longest, Duration{4'096'000} * (std::int64_t{1} << host.roce.ack_timeout));
      if (t.is_uet()) longest = std::max(longest, host.uet.rto);
    }
  return longest * 2;
}

}  // namespace railyard::blast
