#include "control/report/steady_pauses.h"

#include <algorithm>

#include <fmt/format.h>

namespace railyard::report {
namespace {

std::string name(const std::string& port, std::size_t priority) { return fmt::format("{} class {}", port, priority); }

}  // namespace

std::optional<SteadyPauses> steady_pauses(const Snapshot& warm, const std::vector<DeviceCounters>& end,
                                          const std::function<std::string(std::size_t, std::size_t)>& peer) {
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
        const std::string port = fmt::format("{}:{}", end[d].name, p + 1);
        if (const double share = seconds(after.paused - before.paused) / seconds(time); share > s.share) {
          s.share = share;
          s.share_at = name(port, k);
        }
        const double sent = static_cast<double>(after.xoff_sent - before.xoff_sent) / seconds(time);
        // Attached hosts and capture files do not count what they send; who receives it does.
        const double received = static_cast<double>(after.xoff_received - before.xoff_received) / seconds(time);
        const double rate = std::max(sent, received);
        if (rate <= s.xoff_per_second) continue;
        s.xoff_per_second = rate;
        s.xoff_at = name(sent >= received ? port : peer(d, p), k);
      }
  return s;
}

}  // namespace railyard::report
