#include "control/bench/clause_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/base/text_table.h"
#include "control/sweep/plan.h"

namespace railyard::bench {

std::string clause_table() {
  std::vector<std::vector<std::string>> lines{{"clause", "status", "title", "reason"}};
  std::size_t runs = 0;
  for (const Clause& c : clauses()) {
    lines.push_back({c.id, word(c.status), c.title, c.reason});
    runs += c.runs() ? 1 : 0;
  }
  return text_table(lines, 4) +
         fmt::format("\n{} clauses of {}-{}; {} run\n", clauses().size(), kDraft, kDraftRevision, runs);
}

std::string markdown_row(const Clause& c) {
  return fmt::format("| `{}` | {} | {} | {} |", c.id, c.title, word(c.status), c.reason);
}

std::string run_table(Profile profile) {
  std::vector<std::vector<std::string>> lines{{"clause", "cases", "runs", "KPIs"}};
  for (const Clause& c : clauses()) {
    if (!c.runs()) continue;
    std::size_t cases = c.columns.empty() ? 1 : c.columns.size();
    for (const Sweep& s : c.sweep) cases *= s.values(profile).size();
    const std::size_t runs = cases * sweep::parse_seeds(c.reduction(profile).seeds).size();
    std::vector<std::string> names;
    for (const Kpi& k : c.kpis) names.push_back(k.name);
    lines.push_back({c.id, fmt::format("{}", cases), fmt::format("{}{}", runs, c.search ? " searches" : ""),
                     fmt::format("{}", fmt::join(names, ", "))});
  }
  return text_table(lines, 4);
}

}  // namespace railyard::bench
