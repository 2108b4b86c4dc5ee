#include "control/doctor/table.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/base/text_table.h"

namespace railyard::doctor {
namespace {

// Rules that were not asked, by the first input that they want.
std::map<Input, std::vector<std::string>> blind_rules(const Case& c) {
  std::map<Input, std::vector<std::string>> out;
  for (const Rule* r : all_rules()) {
    const auto missing = std::ranges::find_if(r->needs, [&](Input input) { return !c.has(input); });
    if (missing != r->needs.end() && !is_extra(*missing)) out[*missing].emplace_back(r->id);
  }
  return out;
}

std::string blind_text(const Case& c) {
  std::string out;
  for (const auto& [input, rules] : blind_rules(c))
    out += fmt::format("  {}: {}\n", words(input), fmt::join(rules, ", "));
  return out.empty() ? out : "Not looked at, for lack of:\n" + out;
}

// "  ethtool: since ...".
std::string since_text(const Case& c) {
  std::string out;
  for (const std::string& line : c.since()) out += fmt::format("  {}\n", line);
  return out.empty() ? out : "Counters:\n" + out;
}

std::string heading(const Found& f) {
  return fmt::format("{} at {} ({:.0f} % sure)", f.rule->id, f.what.element, f.what.confidence * 100);
}

}  // namespace

std::string text(const Case& c, const std::string& name, const std::vector<Found>& found, std::size_t most) {
  const std::string blind = blind_text(c);
  if (found.empty()) {
    const auto asked = std::ranges::count_if(all_rules(), [&](const Rule* r) { return can_look(*r, c); });
    return fmt::format("{}: nothing found. {} rules looked at it.\n{}{}", name, asked, since_text(c), blind);
  }
  std::string out = fmt::format("{}: {} finding{}\n", name, found.size(), found.size() == 1 ? "" : "s");
  for (std::size_t i = 0; i < std::min(found.size(), most); ++i) {
    const auto& [rule, d] = found[i];
    out += fmt::format("\n{}. {}\n   {}\n", i + 1, heading(found[i]), rule->finds);
    for (const std::string& line : d.evidence) out += fmt::format("     {}\n", line);
    out += fmt::format("   What to do: {}\n   It is something else if: {}\n", rule->remedy, rule->refutes);
  }
  if (found.size() > most) out += fmt::format("\nand {} more (--most)\n", found.size() - most);
  if (const std::string since = since_text(c); !since.empty()) out += "\n" + since;
  return blind.empty() ? out : out + "\n" + blind;
}

std::string short_text(const std::vector<Found>& found, std::size_t most, const std::string& indent) {
  std::string out;
  for (std::size_t i = 0; i < std::min(found.size(), most); ++i)
    out += fmt::format("{}{}: {}\n", indent, heading(found[i]), found[i].rule->finds);
  if (found.size() > most) out += fmt::format("{}and {} more\n", indent, found.size() - most);
  return out;
}

nlohmann::ordered_json json(const Case& c, const std::string& name, const std::vector<Found>& found) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array(), blind = nlohmann::ordered_json::array();
  for (const auto& [rule, d] : found)
    all.push_back({{"rule", rule->id},
                   {"element", d.element},
                   {"confidence", d.confidence},
                   {"finds", rule->finds},
                   {"evidence", d.evidence},
                   {"remedy", rule->remedy},
                   {"refuted_by", rule->refutes}});
  for (const auto& [input, rules] : blind_rules(c))
    for (const std::string& rule : rules) blind.push_back({{"rule", rule}, {"needs", words(input)}});
  nlohmann::ordered_json out{{"schema", "railyard-diagnosis/1"}, {"name", name}, {"findings", std::move(all)}, {"not_looked_at", std::move(blind)}};
  if (const auto since = c.since(); !since.empty()) out["counters"] = since;
  return out;
}

std::string rules_text() {
  std::vector<std::vector<std::string>> rows{{"rule", "what it finds"}};
  for (const Rule* r : all_rules()) rows.push_back({r->id, r->finds});
  return text_table(rows, 2);
}

}  // namespace railyard::doctor
