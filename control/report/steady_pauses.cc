#include "control/report/steady_pauses.h"

#include <fmt/format.h>

namespace railyard::report {

std::optional<SteadyPauses> steady_pauses(const Snapshot& warm, const std::vector<DeviceCounters>& end) {
  if (warm.empty() || warm.size() != end.size()) return std::nullopt;
  const Duration time = end[0].at - warm[0].at;
  if (time <= Duration{}) return std::nullopt;
  SteadyPauses s;
  s.from_ns = nanoseconds(warm[0].at - Instant{});
  s.to_ns = nanoseconds(end[0].at - Instant{});
  for (std::size_t d = 0; d < end.size(); ++d)
    for (std::size_t p = 0; p < end[d].ports.size(); ++p)
      for (std::size_t k = 0; k < kPriorities; ++k) {
        const ClassCounters& before = warm[d].ports[p].classes[k];
        const ClassCounters& after = end[d].ports[p].classes[k];
        const auto where = [&] { return fmt::format("{}:{} class {}", end[d].name, p + 1, k); };
        if (const double share = seconds(after.paused - before.paused) / seconds(time); share > s.share) {
          s.share = share;
          s.share_at = where();
        }
        const double rate = static_cast<double>(after.xoff_sent - before.xoff_sent) / seconds(time);
        if (rate > s.xoff_per_second) {
          s.xoff_per_second = rate;
          s.xoff_at = where();
        }
      }
  return s;
}

}  // namespace railyard::report
