#include "control/report/doctor_text.h"

#include <utility>

#include "control/doctor/table.h"
#include "control/report/port_case.h"

namespace railyard::report {

std::vector<doctor::Found> findings(const Report& report, nlohmann::ordered_json rest) {
  std::vector<doctor::PortCase> ports;
  ports.reserve(report.ports.size());
  for (const PortReport& p : report.ports) ports.push_back(port_case(p));
  return doctor::diagnose(doctor::Case(std::move(rest), std::move(ports), report.run.name));
}

std::vector<doctor::Found> findings(const Report& report) { return findings(report, report.value_without_ports()); }

std::string doctor_text(const std::vector<doctor::Found>& found) {
  constexpr std::size_t kMost = 3;
  if (found.empty()) return {};
  return "Likely causes (`railyard doctor REPORT.json` has evidence and remedies)\n" + doctor::short_text(found, kMost, "  ");
}

}  // namespace railyard::report
