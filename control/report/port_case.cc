#include "control/report/port_case.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "control/report/port_json.h"

namespace railyard::report {
namespace {

doctor::Drops drops_of(const DropCounts& counts) {
  doctor::Drops out;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > 0) out.emplace(name(static_cast<DropReason>(i)), counts[i]);
  return out;
}

std::optional<std::int64_t> known(Instant at) {
  return at == Instant::never() ? std::nullopt : std::optional(nanoseconds(at - Instant{}));
}

doctor::ClassCase class_case(std::size_t k, const PortReport& p) {
  const ClassCounters& c = p.counters.classes[k];
  doctor::ClassCase out{.rx = c.rx_packets,
                        .tx = c.tx_packets,
                        .marked = c.ecn_marked,
                        .trimmed = c.trimmed,
                        .xoff_sent = c.xoff_sent,
                        .xoff_received = c.xoff_received,
                        .pfc_received = c.xoff_received + c.xon_received,
                        .pfc_not_enabled = c.pfc_not_enabled,
                        .pause_share = p.pause_share[k],
                        .paused_ns = static_cast<std::uint64_t>(nanoseconds(c.paused)),
                        .deepest = c.max_depth_octets,
                        .drops = drops_of(c.drops)};
  if (!p.is_switch) return out;
  out.headroom_cells = c.max_headroom_cells;
  out.first_ce = known(c.first_ce);
  out.first_xoff = known(c.first_xoff);
  out.storms = c.storms_detected;
  return out;
}

}  // namespace

doctor::PortCase port_case(const PortReport& p) {
  doctor::PortCase out{.node = p.node,
                       .number = p.port,
                       .peer = p.peer,
                       .rate_bps = static_cast<double>(p.rate_bps),
                       .slot_bps = p.slot_bps > 0 ? static_cast<double>(p.slot_bps) : 0,
                       .propagation_ns = static_cast<double>(nanoseconds(p.propagation)),
                       .utilisation = p.utilisation,
                       .link_downs = p.polled.downs,
                       .busy = p.polled.busy,
                       .slow = p.polled.slow,
                       .drops = drops_of(p.counters.drops)};
  if (p.polled.slow > 0)
    out.slow_bps = static_cast<double>(p.polled.slow_octets) * 8 / std::max(1e-12, seconds(p.polled.slow_time));
  for (std::size_t k = 0; k < kPriorities; ++k) {
    if (!touched(p.counters.classes[k])) continue;
    out.classes[k] = class_case(k, p);
    out.is_switch |= p.is_switch;  // who reads JSON tells switches by counters that only they have
  }
  return out;
}

}  // namespace railyard::report
