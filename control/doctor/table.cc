#include "control/doctor/table.h"

#include <algorithm>

#include <fmt/format.h>

#include "control/base/text_table.h"

namespace railyard::doctor {

std::string text(const std::string& name, const std::vector<Found>& found, std::size_t most) {
  if (found.empty()) return fmt::format("{}: nothing found. {} rules looked at it.\n", name, all_rules().size());
  std::string out = fmt::format("{}: {} finding{}\n", name, found.size(), found.size() == 1 ? "" : "s");
  for (std::size_t i = 0; i < std::min(found.size(), most); ++i) {
    const auto& [rule, d] = found[i];
    out += fmt::format("\n{}. {} at {} ({:.0f} % sure)\n   {}\n", i + 1, rule->id, d.element, d.confidence * 100,
                       rule->finds);
    for (const std::string& line : d.evidence) out += fmt::format("     {}\n", line);
    out += fmt::format("   What to do: {}\n   It is something else if: {}\n", rule->remedy, rule->refutes);
  }
  if (found.size() > most) out += fmt::format("\nand {} more (--most)\n", found.size() - most);
  return out;
}

nlohmann::ordered_json json(const std::string& name, const std::vector<Found>& found) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const auto& [rule, d] : found)
    all.push_back({{"rule", rule->id},
                   {"element", d.element},
                   {"confidence", d.confidence},
                   {"finds", rule->finds},
                   {"evidence", d.evidence},
                   {"remedy", rule->remedy},
                   {"refuted_by", rule->refutes}});
  return {{"schema", "railyard-diagnosis/1"}, {"name", name}, {"findings", std::move(all)}};
}

std::string rules_text() {
  std::vector<std::vector<std::string>> rows{{"rule", "what it finds"}};
  for (const Rule* r : all_rules()) rows.push_back({r->id, r->finds});
  return text_table(rows, 2);
}

}  // namespace railyard::doctor
