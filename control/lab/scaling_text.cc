#include "control/lab/scaling_text.h"

#include <iterator>

#include <fmt/format.h>

#include "control/report/units.h"

namespace railyard::lab {

std::string scaling_text(const ScalingProfile& profile) {
  std::string out = fmt::format("\nExpected with more workers (estimated from this run; workers meet in {} per window):\n",
                                report::time_text(profile.meeting()));
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "  {:>7} {:>8} {:>17} {:>10} {:>20}\n", "workers", "speedup", "parallel windows", "imbalance", "frames that cross");
  for (const ScalingEstimate& e : profile.estimates())
    fmt::format_to(to, "  {:>7} {:>8} {:>17} {:>10.2f} {:>20}\n", e.workers, fmt::format("x{:.2f}", e.speedup),
                   report::percent_text(e.parallel_windows), e.imbalance, report::percent_text(e.crossing));
  return out;
}

nlohmann::ordered_json scaling_json(const ScalingProfile& profile) {
  nlohmann::ordered_json out{{"meeting_ns", static_cast<double>(profile.meeting().ps) / 1000},
                             {"workers", nlohmann::ordered_json::array()}};
  for (const ScalingEstimate& e : profile.estimates())
    out["workers"].push_back({{"workers", e.workers},
                              {"speedup", e.speedup},
                              {"parallel_windows", e.parallel_windows},
                              {"imbalance", e.imbalance},
                              {"crossing", e.crossing}});
  return out;
}

}  // namespace railyard::lab
