#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/base/text_table.h"
#include "control/bench/result_parts.h"

namespace railyard::bench {
namespace {

using Line = std::vector<std::string>;

// Each KPI is a line, each case a column: for clauses that want them side by side, and for those of few cases.
std::string across(const ClauseResult& r, const std::vector<const CaseResult*>& cases, const std::string& first) {
  std::vector<Line> lines(r.clause->kpis.size() + 2);
  lines[0].push_back(first);
  for (std::size_t k = 0; k < r.clause->kpis.size(); ++k) lines[k + 1].push_back(head(r.clause->kpis[k]));
  lines.back().emplace_back("CV of the primary KPI");
  for (const CaseResult* c : cases) {
    const auto& params = r.plan.cases[c->index].params;
    lines[0].push_back(params.empty() ? "all" : short_name(params.front()));
    for (std::size_t k = 0; k < c->values.size(); ++k) lines[k + 1].push_back(cell(c->values[k]));
    lines.back().push_back(cv_text(primary_of(r, *c)));
  }
  return text_table(lines, 1, "  ");
}

// Cases that differ in their first parameter only are side by side.
std::string tables(const ClauseResult& r) {
  std::string out;
  std::vector<Line> done;
  const auto rest_of = [&](const CaseResult& c) { return other_params(r.plan.cases[c.index], 0); };
  for (const CaseResult& c : r.cases) {
    const Line rest = rest_of(c);
    if (std::ranges::find(done, rest) != done.end()) continue;
    done.push_back(rest);
    std::vector<const CaseResult*> side_by_side;
    for (const CaseResult& other : r.cases)
      if (rest_of(other) == rest) side_by_side.push_back(&other);
    const auto& params = r.plan.cases[c.index].params;
    if (!rest.empty()) out += fmt::format("  {}:\n", fmt::join(rest, ", "));
    out += across(r, side_by_side, params.empty() ? "" : params.front().first);
  }
  return out;
}

std::string clause_text(const ClauseResult& r) {
  const Clause& c = *r.clause;
  std::string out = fmt::format("\n{} {} (section {}): {}\n", c.id, c.title, c.section, word(c.status));
  if (!r.not_run.empty()) return out + fmt::format("  not run: {}\n", r.not_run);
  if (!c.reason.empty()) out += fmt::format("  {}\n", c.reason);
  out += fmt::format("  Fabric: {}\n", all_of(r, [](const Case& x) { return topology_text(x.fabric); }));
  for (const std::string& column : c.columns) {
    const auto x = std::ranges::find_if(
        r.plan.cases, [&](const Case& of) { return !of.params.empty() && of.params.front().second == column; });
    if (x != r.plan.cases.end()) out += fmt::format("  Column {}: {}\n", column, transport_text(*x));
  }
  if (c.columns.empty()) out += fmt::format("  Transport: {}\n", all_of(r, transport_text));
  for (const std::string& a : algorithms_of(r)) out += fmt::format("  Algorithm that ran: {}\n", a);
  if (r.plan.search) out += fmt::format("  Search: {}\n", r.plan.search->text());
  out += tables(r);
  for (const Kpi& k : c.kpis)
    if (!k.reference.empty()) out += fmt::format("  Reference, non-normative: {} {}\n", k.name, k.reference);
  for (const std::string& d : disclosures_of(r)) out += fmt::format("  {}\n", d);
  for (const std::string& d : deviations_of(r)) out += fmt::format("  Deviation: {}\n", d);
  for (const CaseResult& x : r.cases)
    for (const auto& [seed, why] : x.excluded) {
      Line params;
      for (const auto& [name, value] : r.plan.cases[x.index].params) params.push_back(name + " " + value);
      out +=
          fmt::format("  Excluded: {}{}seed {}: {}\n", fmt::join(params, ", "), params.empty() ? "" : ", ", seed, why);
    }
  return out;
}

}  // namespace

std::string text(const Result& a) {
  std::string out = fmt::format(
      "Benchmark by {}-{} (terminology {})\n"
      "Profile {}: {}. The draft measures and reports; there is no verdict.\n"
      "DUT: emulated switches and links, NIC port to NIC port; railyard {}{}\n"
      "Endpoints and collective library: built into railyard; no NIC firmware, driver or host system in the path\n"
      "Clock: virtual. Repetitions differ in the seed: hashes, phases, jitter.\n"
      "Observed at: [a] NIC ports, [b] counters of switches, [c] endpoints, [x] the model only\n",
      kDraft, kDraftRevision, kTerminologyRevision, word(a.profile), label(a.profile), a.version,
      a.fabric.empty() ? "" : fmt::format("; fabric of {}", a.fabric));
  for (const std::string& d : standing_deviations()) out += fmt::format("Deviation: {}\n", d);
  for (const ClauseResult& r : a.clauses) out += clause_text(r);
  return out + fmt::format("\nTrials: {} attempted, {} included\n", a.attempted(), a.included());
}

}  // namespace railyard::bench
