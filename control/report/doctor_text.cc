#include "control/report/doctor_text.h"

#include "control/doctor/table.h"

namespace railyard::report {

std::vector<doctor::Found> findings(const Report& report) {
  return doctor::diagnose(doctor::Case(report.value(), report.run.name));
}

std::string doctor_text(const Report& report) {
  constexpr std::size_t kMost = 3;
  const std::vector<doctor::Found> found = findings(report);
  if (found.empty()) return {};
  return "Likely causes (`railyard doctor REPORT.json` has evidence and remedies)\n" + doctor::short_text(found, kMost, "  ");
}

}  // namespace railyard::report
