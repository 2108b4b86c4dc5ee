#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/bench/clause.h"
#include "control/bench/definition_parts.h"
#include "control/bench/phase.h"
#include "control/bench/read_kpi.h"
#include "control/bench/shipped.h"
#include "control/spec/column.h"
#include "control/spec/load.h"
#include "control/spec/spec_error.h"
#include "control/spec/value.h"
#include "control/spec/yaml/parse.h"
#include "control/spec/yaml/print.h"
#include "control/sweep/plan.h"
#include "control/sweep/search_plan.h"

namespace railyard::bench {
namespace {

using spec::Tree;

Status status_of(const Tree& at) {
  const std::string& said = at.as_text("implemented, deviation or not-applicable");
  if (said == "implemented") return Status::kImplemented;
  if (said == "deviation") return Status::kDeviation;
  if (said == "not-applicable") return Status::kNotApplicable;
  at.fail(fmt::format("unknown status '{}'; expected implemented, deviation or not-applicable", said));
}

std::vector<SweepValue> values_of(const Tree& list) {
  constexpr std::string_view kArrow = " => ";
  std::vector<SweepValue> out;
  for (const std::string& s : texts(&list)) {
    const std::size_t at = s.find(kArrow);
    out.push_back(at == std::string::npos ? SweepValue{s, s}
                                          : SweepValue{s.substr(0, at), s.substr(at + kArrow.size())});
  }
  return out;
}

// Behind the one that warms up.
std::optional<std::size_t> iteration_of(const Tree* t) {
  if (t == nullptr) return std::nullopt;
  const int n = std::atoi(t->as_text("a number").c_str());
  if (n < 3) t->fail(fmt::format("found '{}'; expected 3 or more: iterations before it are the steady ones", t->text));
  return static_cast<std::size_t>(n);
}

Sweep sweep_of(const Tree& t) {
  refuse_others(t, {"name", "key", "draft", "ci", "lab", "iteration"});
  Sweep s{text_of(t, "name"), text_of(t, "key"), texts(t.find("draft")), values_of(required(t, "ci")),
          values_of(required(t, "lab")), iteration_of(t.find("iteration"))};
  for (const std::vector<SweepValue>* values : {&s.ci, &s.lab}) {
    if (values->empty()) t.fail(fmt::format("'{}' has no value in a profile; expected at least one", s.name));
    for (const SweepValue& v : *values)
      if (s.iteration) {
        if (const auto phase = parse_phase(v.value); !phase) t.fail(phase.error());
      } else {
        static_cast<void>(s.sets(v));
      }
  }
  return s;
}

Reduction reduction_of(const Tree* t) {
  Reduction r;
  if (t == nullptr) return r;
  refuse_others(*t, {"seeds", "set", "deviations"});
  r.seeds = text_or(*t, "seeds", r.seeds);
  if (const Tree* seeds = t->find("seeds")) checked(*seeds, [&] { return sweep::parse_seeds(r.seeds); });
  r.sets = texts(t->find("set"));
  r.deviations = texts(t->find("deviations"));
  return r;
}

SearchFor search_of(const Tree& t) {
  refuse_others(t, {"key", "until", "resolution"});
  SearchFor s{text_of(t, "key"), text_or(t, "until", "")};
  if (const Tree* resolution = t.find("resolution")) {
    const auto ratio = spec::parse_ratio(resolution->as_text("a ratio"));
    if (!ratio) resolution->fail(ratio.error());
    s.resolution = *ratio;
  }
  checked(t, [&] { return sweep::plan_search(s.key, s.until, s.resolution); });
  return s;
}

void read_lab(const Tree& lab, Clause& c) {
  c.lab_place = lab.place;
  if (lab.kind == Tree::Kind::kMap) {
    Tree copy = lab;
    if (copy.find("name") == nullptr) {
      std::string name = c.id;
      std::ranges::transform(name, name.begin(), [](char x) { return x == '.' ? '-' : x == 'T' ? 't' : x; });
      copy.add("name", Tree::string(name));
    }
    c.lab = spec::print_yaml(copy);
    c.lab_name = fmt::format("{} (lab)", lab.place.file);
    return;
  }
  const std::string& name = lab.as_text("a fabric file, the name of a comparison, or a path");
  if (spec::names_own_file(name)) {
    const std::filesystem::path path = std::filesystem::path(lab.place.file).parent_path() / name;
    c.lab = spec::read_file(path);
    c.lab_name = path.string();
    return;
  }
  const spec::ShippedFile& file = spec::shipped_file(lab, comparison_labs(), "comparison");
  c.lab = file.text;
  c.lab_name = fmt::format("topologies/comparisons/{}.yaml", name);
}

void check_references(const Tree& t, const Clause& c) {
  std::set<std::string> names;
  std::set<std::string> params{"column"};
  for (const Sweep& s : c.sweep)
    if (!params.insert(s.name).second) t.at_or_self("sweep").fail(fmt::format("'{}' is given twice", s.name));
  for (const Kpi& k : c.kpis) {
    if (!names.insert(k.name).second) t.at_or_self("kpis").fail(fmt::format("the KPI '{}' is given twice", k.name));
    if (k.function != "ratio" && k.function != "deviation") continue;
    // What it is of stands before it, so that it has its value first.
    if (k.of == k.name || !names.contains(k.of))
      t.at_or_self("kpis").fail(fmt::format("'{}' is of '{}'; expected a KPI that stands before it", k.name, k.of));
    if (!params.contains(k.against.first))
      t.at_or_self("kpis").fail(fmt::format("'{}' is against '{}'; expected a parameter: one of {}", k.name,
                                            k.against.first, fmt::join(params, ", ")));
  }
  if (std::ranges::count_if(c.kpis, &Kpi::primary) != 1)
    t.at_or_self("kpis").fail("expected one KPI with `primary: true`: the coefficient of variation is of that one");
}

}  // namespace

Clause read_clause(const std::string& text, const std::string& file) {
  Tree t = spec::parse_yaml(text, file);
  spec::finish(t, "");
  static_cast<void>(t.as_map("the definition of a clause"));
  const Tree& schema = required(t, "schema");
  if (schema.text != kClauseSchema) schema.fail(fmt::format("found '{}'; expected {}", schema.text, kClauseSchema));
  refuse_others(t, {"schema", "id", "category", "title", "section", "status", "reason", "lab", "columns", "sweep",
                    "search", "kpis", "disclosures", "deviations", "profiles"});
  Clause c;
  c.place = t.place;
  c.id = text_of(t, "id");
  c.category = text_of(t, "category");
  c.title = text_of(t, "title");
  c.section = text_of(t, "section");
  c.status = status_of(required(t, "status"));
  c.reason = c.status == Status::kImplemented ? text_or(t, "reason", "") : text_of(t, "reason");
  if (!c.runs()) return c;
  read_lab(required(t, "lab"), c);
  c.columns = texts(t.find("columns"));
  for (const std::string& column : c.columns)
    if (const auto parsed = spec::parse_column(column); !parsed) t.find("columns")->fail(parsed.error());
  if (const Tree* sweep = t.find("sweep"))
    for (const Tree& s : sweep->as_list("a list")) c.sweep.push_back(sweep_of(s));
  if (const Tree* search = t.find("search")) c.search = search_of(*search);
  for (const Tree& k : required(t, "kpis").as_list("a list")) c.kpis.push_back(read_kpi(k));
  c.disclosures = texts(t.find("disclosures"));
  c.deviations = texts(t.find("deviations"));
  const Tree& profiles = required(t, "profiles");
  refuse_others(profiles, {"ci", "lab"});
  c.ci = reduction_of(&required(profiles, "ci"));
  c.lab_profile = reduction_of(&required(profiles, "lab"));
  check_references(t, c);
  return c;
}

}  // namespace railyard::bench
