#include "control/report/pause_totals.h"

#include <fmt/format.h>

#include "control/report/report.h"
#include "control/report/units.h"

namespace railyard::report {
namespace {

std::string several(std::uint64_t n, std::string_view what) {
  return fmt::format("{} {}{}", count_text(n), what, n == 1 ? "" : "s");
}

}  // namespace

PauseTotals pause_totals(const Report& r) {
  PauseTotals t;
  for (const PortReport& p : r.ports)
    for (const ClassCounters& c : p.counters.classes) {
      (p.is_switch ? t.xoff_by_switches : t.xoff_by_nics) += c.xoff_sent;
      t.xoff_received += c.xoff_received;
      if (c.paused > Duration{}) ++(p.is_switch ? t.paused_switch_ports : t.paused_nics);
    }
  return t;
}

std::string PauseTotals::text() const {
  if (none()) return "no PFC pause frames were sent";
  std::string sent;
  if (xoff_by_switches > 0) sent = fmt::format("{} sent by switches", several(xoff_by_switches, "XOFF frame"));
  if (xoff_by_nics > 0)
    sent += fmt::format("{}{} sent by NICs", sent.empty() ? "" : ", ", several(xoff_by_nics, "XOFF frame"));
  if (sent.empty()) sent = fmt::format("{} received", several(xoff_received, "XOFF frame"));
  if (paused() == 0) return fmt::format("PFC paused no port ({})", sent);
  if (paused_nics == 0) return fmt::format("PFC paused {} ({})", several(paused_switch_ports, "switch port"), sent);
  if (paused_switch_ports == 0) return fmt::format("PFC paused {} ({})", several(paused_nics, "host NIC"), sent);
  return fmt::format("PFC paused {} and {} ({})", several(paused_switch_ports, "switch port"),
                     several(paused_nics, "host NIC"), sent);
}

}  // namespace railyard::report
