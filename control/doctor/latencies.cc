#include "control/doctor/latencies.h"

#include <algorithm>

#include "control/doctor/values.h"

namespace railyard::doctor {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

Latencies latencies_of(const Case& c) {
  constexpr std::uint64_t kLeast = 20;
  Latencies out;
  std::vector<double> all;
  for (const auto& f : c.flows()) {
    const auto& latency = below(f, "latency_ns");
    if (latency.empty() || count(f, "delivered_packets") < kLeast) continue;
    const double p50 = number(latency, "p50");
    all.push_back(p50);
    out.nics[text(f, "src")].from.push_back(p50);
    out.nics[text(f, "dst")].to.push_back(p50);
  }
  out.usual = median(all);
  return out;
}

double longest_queue_ns(const Case& c) {
  double longest = 0;
  for (const PortCase& p : c.ports())
    if (p.is_switch && p.rate_bps > 0) longest = std::max(longest, static_cast<double>(p.deepest()) * 8e9 / p.rate_bps);
  return longest;
}

}  // namespace railyard::doctor
