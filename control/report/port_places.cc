#include "control/report/port_places.h"

#include "control/report/drop_places.h"

namespace railyard::report {

std::vector<PortPlace> port_places(const Report& r) {
  std::vector<PortPlace> out;
  for (const PortReport& p : r.ports)
    for (std::size_t k = 0; k < kPriorities; ++k) out.push_back({&p, k, &p.counters.classes[k]});
  return out;
}

bool is_of_interest(const ClassCounters& c) {
  constexpr std::uint64_t kFew = 2;  // frames
  if (c.ecn_marked > 0 || c.paused > Duration{} || c.stalled > Duration{} || egress_drops(c) > 0) return true;
  return c.tx_packets > 0 && c.max_depth_octets > kFew * (c.tx_octets / c.tx_packets);
}

std::vector<PortPlace> used_queues(const Report& r) {
  return worst_places(
      r, [](const PortPlace& p) { return p.port->is_switch && p.counters->max_depth_octets > 0; },
      [](const PortPlace& p) { return p.counters->max_depth_octets; });
}

}  // namespace railyard::report
