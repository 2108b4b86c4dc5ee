#include "control/report/doctor_text.h"

#include <utility>

#include "control/doctor/table.h"

namespace railyard::report {

std::vector<doctor::Found> findings(nlohmann::ordered_json value, const std::string& name) {
  return doctor::diagnose(doctor::Case(std::move(value), name));
}

std::vector<doctor::Found> findings(const Report& report) { return findings(report.value(), report.run.name); }

std::string doctor_text(const std::vector<doctor::Found>& found) {
  constexpr std::size_t kMost = 3;
  if (found.empty()) return {};
  return "Likely causes (`railyard doctor REPORT.json` has evidence and remedies)\n" + doctor::short_text(found, kMost, "  ");
}

}  // namespace railyard::report
