#include "control/bench/page.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "control/bench/result_parts.h"
#include "control/report/html/comparison_table.h"
#include "control/report/html/markup.h"
#include "control/report/html/style.h"
#include "control/report/metrics/metric.h"

namespace railyard::bench {
namespace {

using report::escaped_html;
using report::paragraph;

constexpr std::pair<const char*, const char*> kCategories[] = {{"C1", "RDMA transport"},
                                                               {"C2", "UET against RoCEv2"},
                                                               {"C3", "Congestion management"},
                                                               {"C4", "Load balancing"},
                                                               {"C5", "Collectives"},
                                                               {"C6", "Job completion time"},
                                                               {"C7", "Scale and convergence"},
                                                               {"C8", "Soak"}};

constexpr const char* kBenchStyle = R"(
details { margin: .5rem 0; } summary { cursor: pointer; color: var(--c0); } h3 { margin-top: 1.8rem; }
.status { font-weight: 400; color: var(--quiet); } ul { margin: .3rem 0; padding-left: 1.3rem; } li { margin: .15rem 0; }
)";

// "1,234,567": thousands apart.
std::string grouped(std::string digits) {
  const std::size_t first = digits.starts_with('-') ? 1 : 0;
  std::size_t end = digits.find('.');
  if (digits.find_first_not_of("-.0123456789") != std::string::npos) return digits;
  if (end == std::string::npos) end = digits.size();
  while (end > first + 3) digits.insert(end -= 3, ",");
  return digits;
}

std::string figure(const Value& v) { return grouped(cell(v)); }

std::string list_html(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += fmt::format("<li>{}</li>\n", escaped_html(line));
  return out.empty() ? out : "<ul>\n" + out + "</ul>\n";
}

std::string meaning_of(const Kpi& k) {
  if (const KpiFunction* f = find_function(k.function); f != nullptr) return f->meaning;
  const report::Metric* const m = report::find_metric(k.figure);
  return m == nullptr ? k.figure : std::string(m->help);
}

// The first parameter that has several values: these stand side by side.
std::size_t axis_of(const ClauseResult& r) {
  const auto& params = r.plan.cases.front().params;
  for (std::size_t p = 0; p < params.size(); ++p)
    if (std::ranges::any_of(r.plan.cases, [&](const Case& c) { return c.params[p] != params[p]; })) return p;
  return 0;
}

// Cases that differ in the parameter at the axis only.
struct Group {
  std::string name;  // the others: "message 4KB, load idle"
  std::vector<const CaseResult*> cases;
};
std::vector<Group> groups_of(const ClauseResult& r, std::size_t axis) {
  std::vector<Group> all;
  for (const CaseResult& c : r.cases) {
    const std::string name = fmt::format("{}", fmt::join(other_params(r.plan.cases[c.index], axis), ", "));
    const auto at = std::ranges::find(all, name, &Group::name);
    Group& group = at == all.end() ? all.emplace_back(Group{name, {}}) : *at;
    group.cases.push_back(&c);
  }
  return all;
}

std::vector<std::string> columns_of(const ClauseResult& r, const Group& group, std::size_t axis) {
  std::vector<std::string> names;
  for (const CaseResult* c : group.cases) {
    const auto& params = r.plan.cases[c->index].params;
    names.push_back(params.empty() ? "all" : short_name(params[axis]));
  }
  return names;
}

// Values of one KPI; their bars compare with the largest of the row.
std::vector<report::ComparisonTable::Cell> cells(const Group& group, std::size_t kpi) {
  double most = 0;
  for (const CaseResult* c : group.cases) most = std::max(most, std::abs(c->values[kpi].value.value_or(0)));
  std::vector<report::ComparisonTable::Cell> out;
  for (const CaseResult* c : group.cases) {
    const Value& v = c->values[kpi];
    report::ComparisonTable::Cell& cell = out.emplace_back();
    if (!v.value) continue;
    cell.value = figure(v);
    cell.length = most > 0 ? std::abs(*v.value) / most : 0;
    if (v.cv()) cell.change = fmt::format("CV {}", cv_text(v));
  }
  return out;
}

std::string all_kpis(const ClauseResult& r, const Group& group, std::size_t axis) {
  report::ComparisonTable table(columns_of(r, group, axis));
  for (std::size_t k = 0; k < r.clause->kpis.size(); ++k)
    table.row(head(r.clause->kpis[k]), meaning_of(r.clause->kpis[k]), cells(group, k));
  return table.html();
}

std::size_t primary_index(const Clause& c) {
  return static_cast<std::size_t>(std::ranges::find(c.kpis, true, &Kpi::primary) - c.kpis.begin());
}

// The main KPI of all cases in one table; all KPIs below it, folded away where they are many.
std::string tables_html(const ClauseResult& r) {
  const std::size_t axis = axis_of(r);
  const std::vector<Group> groups = groups_of(r, axis);
  const auto& params = r.plan.cases.front().params;
  const std::string side_by_side = params.empty() ? "" : fmt::format("Columns: {}. ", escaped_html(params[axis].first));
  const std::string note = paragraph(side_by_side + "CV: standard deviation / mean of the repetitions.", "note");
  if (groups.size() == 1)
    return (groups[0].name.empty() ? "" : paragraph(escaped_html(groups[0].name), "note")) + all_kpis(r, groups[0], axis) + note;
  const std::size_t primary = primary_index(*r.clause);
  const Kpi& kpi = r.clause->kpis[primary];
  report::ComparisonTable main(columns_of(r, groups[0], axis));
  for (const Group& g : groups) main.row(g.name, meaning_of(kpi), cells(g, primary));
  std::string out = fmt::format("<p><b>{}</b></p>\n", escaped_html(head(kpi))) + main.html() + note;
  std::string rest;
  for (const Group& g : groups) rest += fmt::format("<p><b>{}</b></p>\n", escaped_html(g.name)) + all_kpis(r, g, axis);
  return out + fmt::format("<details><summary>All {} KPIs of {} cases</summary>\n{}</details>\n", r.clause->kpis.size(),
                           r.cases.size(), rest);
}

std::string references_html(const Clause& c) {
  std::vector<std::string> lines;
  for (const Kpi& k : c.kpis)
    if (!k.reference.empty()) lines.push_back(fmt::format("{}: {}", k.name, k.reference));
  return lines.empty() ? std::string() : paragraph("Reference values of the draft, annotations only:") + list_html(lines);
}

std::vector<std::string> excluded_lines(const ClauseResult& r) {
  std::vector<std::string> lines;
  for (const CaseResult& c : r.cases)
    for (const auto& [seed, why] : c.excluded)
      lines.push_back(fmt::format("{}, seed {}: {}",
                                  fmt::join(other_params(r.plan.cases[c.index], r.plan.cases[c.index].params.size()), ", "), seed,
                                  why));
  return lines;
}

std::string settings_html(const ClauseResult& r) {
  std::vector<std::string> lines{fmt::format("Fabric: {}", all_of(r, [](const Case& x) { return topology_text(x.fabric); }))};
  for (const std::string& column : r.clause->columns) {
    const auto x = std::ranges::find_if(
        r.plan.cases, [&](const Case& of) { return !of.params.empty() && of.params.front().second == column; });
    if (x != r.plan.cases.end()) lines.push_back(fmt::format("Column {}: {}", column, transport_text(*x)));
  }
  if (r.clause->columns.empty()) lines.push_back(fmt::format("Transport: {}", all_of(r, transport_text)));
  for (const std::string& a : algorithms_of(r)) lines.push_back("Algorithm that ran: " + a);
  if (r.plan.search) lines.push_back("Search: " + r.plan.search->text());
  for (const std::string& d : disclosures_of(r)) lines.push_back(d);
  return paragraph("<b>Configuration and disclosures</b>") + list_html(lines);
}

std::string anchor(const Clause& c) { return "clause-" + c.id; }

std::string clause_html(const ClauseResult& r) {
  const Clause& c = *r.clause;
  std::string out = fmt::format("<h3 id=\"{}\">{} {} <span class=\"status\">section {}, {}</span></h3>\n", anchor(c), c.id,
                                escaped_html(c.title), escaped_html(c.section), word(c.status));
  if (!r.not_run.empty()) return out + paragraph("Not run: " + escaped_html(r.not_run) + ".");
  out += tables_html(r) + references_html(c) + settings_html(r);
  std::vector<std::string> deviations = deviations_of(r);
  if (!c.reason.empty()) deviations.insert(deviations.begin(), c.reason);
  if (!deviations.empty()) out += paragraph("<b>Deviations from the draft</b>") + list_html(deviations);
  const std::vector<std::string> excluded = excluded_lines(r);
  if (!excluded.empty()) out += paragraph("<b>Excluded trials</b>") + list_html(excluded);
  return out;
}

std::size_t trials_of(const ClauseResult& r, bool included) {
  std::size_t n = 0;
  for (const CaseResult& c : r.cases) n += c.attempted - (included ? c.excluded.size() : 0);
  return n;
}

// "12.1 to 97.9 Gb/s" of the main KPI over all cases, and the greatest spread of repetitions.
std::pair<std::string, std::string> headline(const ClauseResult& r) {
  const Kpi& kpi = r.clause->kpis[primary_index(*r.clause)];
  const Value *least = nullptr, *most = nullptr;
  std::optional<double> cv;
  for (const CaseResult& c : r.cases) {
    const Value& v = primary_of(r, c);
    if (v.cv()) cv = std::max(cv.value_or(0), *v.cv());
    if (!v.value) continue;
    if (least == nullptr || *v.value < *least->value) least = &v;
    if (most == nullptr || *v.value > *most->value) most = &v;
  }
  const std::string spread = cv ? fmt::format("{:.1f} %", *cv * 100) : "-";
  if (least == nullptr) return {kpi.name + ": -", spread};
  const std::string range = figure(*least) == figure(*most) ? figure(*least) : fmt::format("{} to {}", figure(*least), figure(*most));
  return {fmt::format("{}: {} {}", kpi.name, range, kpi.unit), spread};
}

std::string overview(const Result& a) {
  std::string rows;
  for (const ClauseResult& r : a.clauses) {
    const Clause& c = *r.clause;
    const auto [range, spread] = r.not_run.empty() ? headline(r) : std::pair<std::string, std::string>("not run", "-");
    rows += fmt::format(
        "<tr><td class=\"t\"><a href=\"#{}\">{}</a></td><td class=\"t long\">{}</td><td class=\"t\">{}</td><td class=\"t "
        "long\">{}</td><td>{}</td><td>{}</td><td>{} of {}</td></tr>\n",
        anchor(c), c.id, escaped_html(c.title), word(c.status), escaped_html(range), spread, r.cases.size(), trials_of(r, true),
        trials_of(r, false));
  }
  return "<div class=\"wide\"><table><thead><tr><th class=\"t\">clause</th><th class=\"t\">test</th><th class=\"t\">status</th>"
         "<th class=\"t\">main KPI, all cases</th><th>largest CV</th><th>cases</th><th>trials included</th></tr></thead><tbody>\n" +
         rows + "</tbody></table></div>\n";
}

std::string tile(const std::string& value, const std::string& name) {
  return fmt::format("<div class=\"tile\"><b>{}</b><span>{}</span></div>\n", escaped_html(value), escaped_html(name));
}

std::string tiles(const Result& a) {
  const auto ran = std::ranges::count_if(a.clauses, [](const ClauseResult& r) { return r.not_run.empty(); });
  const auto partly = std::ranges::count_if(
      a.clauses, [](const ClauseResult& r) { return r.not_run.empty() && r.clause->status == Status::kDeviation; });
  return "<div class=\"tiles\">\n" + tile(fmt::format("{} of {}", ran, a.clauses.size()), "clauses run") +
         tile(fmt::format("{}", partly), "of these deviate in more than size") +
         tile(fmt::format("{} of {}", a.included(), a.attempted()), "trials included") +
         tile(word(a.profile), "profile") +
         "</div>\n";
}

std::string reading(const Result& a) {
  return list_html({
      "The draft measures and reports. It sets no limits, so this page has no verdict. Reference values are annotations.",
      fmt::format("Profile {}: {}. Each clause lists how its sizes, repetitions and durations differ from the draft.",
                  word(a.profile), label(a.profile)),
      "A trial is one run. Trials of a case differ in their seed: hashes, phases, jitter. A value is the mean of the trials, or of "
      "all their samples together. CV is their standard deviation / mean.",
      "Each KPI names where it is observed: [a] NIC ports, [b] counters of switches, [c] endpoints, [x] the model only. Values of "
      "different points are not merged.",
      "Bars compare the values of one row. Longer is larger, not better.",
  });
}

std::string method(const Result& a) {
  report::Table table({{"", true}, {"", true}});
  table.row({"Methodology", fmt::format("{}-{}", kDraft, kDraftRevision)});
  table.row({"Terminology", fmt::format("revision {}", kTerminologyRevision)});
  table.row({"Device under test", "emulated switches and links, NIC port to NIC port"});
  table.row({"Fabric", a.fabric.empty() ? "each clause has its own" : a.fabric});
  table.row({"Endpoints, collective library", "built into railyard; no NIC firmware, driver or host system in the path"});
  table.row({"Version", "railyard " + a.version});
  table.row({"Clock", "virtual; rates are not scaled"});
  return table.html() + paragraph("<b>Deviations of every result</b>") + list_html(standing_deviations());
}

}  // namespace

std::string page(const Result& a) {
  std::string body = report::section("reading", "How to read this report", reading(a)) +
                     report::section("overview", "Overview", overview(a)) +
                     report::section("method", "Device under test and method", method(a));
  for (const auto& [id, title] : kCategories) {
    std::string content;
    for (const ClauseResult& r : a.clauses)
      if (r.clause->category == id) content += clause_html(r);
    body += report::section(id, fmt::format("{}: {}", id, title), content);
  }
  std::string others;
  for (const ClauseResult& r : a.clauses)
    if (std::ranges::find(kCategories, r.clause->category, &std::pair<const char*, const char*>::first) == std::end(kCategories))
      others += clause_html(r);
  body += report::section("others", "Other clauses", others);
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>AI fabric benchmark · Railyard</title>\n"
      "<style>{}{}{}</style>\n</head>\n<body>\n<h1>AI fabric benchmark</h1>\n{}{}{}</body>\n</html>\n",
      report::kStyle, report::kComparisonStyle, kBenchStyle,
      paragraph(fmt::format("Emulated fabric, tested by {}-{}, profile {}: {}.", kDraft, kDraftRevision, word(a.profile), label(a.profile)), "lead"),
      tiles(a), body);
}

}  // namespace railyard::bench
