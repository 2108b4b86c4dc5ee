#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/bench/clause.h"
#include "control/bench/shipped.h"
#include "control/report/metrics/field_path.h"
#include "control/report/metrics/metric.h"
#include "control/report/summary.h"
#include "control/spec/column.h"
#include "control/spec/load.h"
#include "control/spec/spec_error.h"
#include "control/spec/suggest.h"
#include "control/spec/value.h"
#include "control/spec/yaml/parse.h"
#include "control/spec/yaml/print.h"
#include "control/sweep/plan.h"
#include "control/sweep/search_plan.h"

namespace railyard::bench {
namespace {

using spec::Tree;

void refuse_others(const Tree& map, const std::vector<std::string>& known) {
  for (const Tree::Entry& e : map.as_map())
    if (std::ranges::find(known, e.key) == known.end())
      spec::fail_at(
          e.place, spec::join_path(map.path, e.key),
          fmt::format("unknown key{}; expected one of {}", spec::did_you_mean(e.key, known), fmt::join(known, ", ")));
}

const Tree& required(const Tree& map, const char* key) {
  const Tree* value = map.find(key);
  if (value == nullptr) map.fail(fmt::format("'{}' is missing; every definition of this kind has it", key));
  return *value;
}

std::string text_of(const Tree& map, const char* key) { return required(map, key).as_text("a text"); }

std::string text_or(const Tree& map, const char* key, std::string otherwise) {
  const Tree* value = map.find(key);
  return value == nullptr ? otherwise : value->as_text("a text");
}

// Maps are values too: they are written as --set has them.
std::vector<std::string> texts(const Tree* list) {
  std::vector<std::string> out;
  if (list == nullptr) return out;
  for (const Tree& item : list->as_list("a list"))
    out.push_back(item.kind == Tree::Kind::kScalar ? item.text : spec::print_yaml_line(item));
  for (std::string& s : out)
    while (s.ends_with('\n')) s.pop_back();
  return out;
}

// What a parser of the command line says against a value is said at the value.
template <class F>
auto checked(const Tree& at, F parse) {
  try {
    return parse();
  } catch (const std::invalid_argument& error) {
    at.fail(error.what());
  }
}

void check_figure(const Tree& at, const std::string& name) {
  if (name.starts_with('/')) {
    if (const std::string problem = report::problem_of_pointer(name); !problem.empty()) at.fail(problem);
    return;
  }
  const std::vector<std::string> known = report::known_figures();
  if (std::ranges::find(known, name) != known.end()) return;
  if (name.contains('.')) {
    if (const auto field = report::find_field(name); !field) at.fail(field.error());
    return;
  }
  at.fail(
      fmt::format("no report has the figure '{}'{}; expected a figure of a report's summary (docs/metrics.md), a "
                  "JSON pointer, or `function:`",
                  name, spec::did_you_mean(name, known)));
}

void check_class_counter(const Tree& at, const std::string& name) {
  std::vector<std::string> known;
  for (const report::FieldList& list : report::report_fields())
    if (list.path == "ports[].classes[]")
      for (const report::Field& f : list.fields)
        if (!f.name.contains('.')) known.emplace_back(f.name);
  if (std::ranges::find(known, name) == known.end())
    at.fail(fmt::format("classes of ports have no counter '{}'{}; expected one of {}", name,
                        spec::did_you_mean(name, known), fmt::join(known, ", ")));
}

Status status_of(const Tree& at) {
  const std::string& said = at.as_text("implemented, deviation, not-yet or not-applicable");
  if (said == "implemented") return Status::kImplemented;
  if (said == "deviation") return Status::kDeviation;
  if (said == "not-yet") return Status::kNotYet;
  if (said == "not-applicable") return Status::kNotApplicable;
  at.fail(fmt::format("unknown status '{}'; expected implemented, deviation, not-yet or not-applicable", said));
}

Observed observed_of(const Tree& at) {
  const std::string& said = at.as_text("a, b, c or x");
  for (const Observed o : {Observed::kBoundary, Observed::kDevice, Observed::kEndpoint, Observed::kModel})
    if (said == std::string(1, static_cast<char>(o))) return o;
  at.fail(
      fmt::format("'{}' is no observation point; expected a (NIC ports), b (counters of switches), c (endpoints) or x "
                  "(only the model sees it)",
                  said));
}

Kpi kpi_of(const Tree& t) {
  refuse_others(
      t, {"name", "unit", "figure", "function", "of", "at", "against", "scale", "observed", "primary", "reference"});
  Kpi k;
  k.name = text_of(t, "name");
  k.unit = text_of(t, "unit");
  k.observed = observed_of(required(t, "observed"));
  k.figure = text_or(t, "figure", "");
  k.function = text_or(t, "function", "");
  k.of = text_or(t, "of", "");
  k.at = text_or(t, "at", "");
  k.reference = text_or(t, "reference", "");
  k.primary = text_or(t, "primary", "false") == "true";
  if (const Tree* scale = t.find("scale")) {
    char* end = nullptr;
    k.scale = std::strtod(scale->as_text("a number").c_str(), &end);
    if (*end != '\0' || k.scale == 0)
      scale->fail(fmt::format("found '{}'; expected a number other than 0", scale->text));
  }
  if (k.figure.empty() == k.function.empty()) t.fail("expected either `figure` or `function`");
  if (!k.figure.empty()) {
    check_figure(*t.find("figure"), k.figure);
    return k;
  }
  const KpiFunction* f = find_function(k.function);
  if (f == nullptr) {
    std::vector<std::string> known;
    for (const KpiFunction& known_function : kpi_functions()) known.emplace_back(known_function.name);
    t.find("function")
        ->fail(fmt::format("there is no function '{}'{}; expected one of {}", k.function,
                           spec::did_you_mean(k.function, known), fmt::join(known, ", ")));
  }
  if (f->needs_of) static_cast<void>(required(t, "of"));
  if (k.function == "class-counter") check_class_counter(*t.find("of"), k.of);
  if (k.function == "per-second") check_figure(*t.find("of"), k.of);
  if (k.function == "pooled" && !k.of.starts_with('/'))
    t.find("of")->fail("expected a JSON pointer to a distribution, such as /traffic/0/latency_ns");
  if (f->needs_at) {
    const Tree& at = required(t, "at");
    const std::set<std::string> known{"mean", "p50", "p95", "p99", "p999", "min", "max", "samples"};
    if (!known.contains(k.at)) at.fail(fmt::format("found '{}'; expected one of {}", k.at, fmt::join(known, ", ")));
  }
  if (f->needs_against) {
    const auto& entries = required(t, "against").as_map("a parameter and its value");
    if (entries.size() != 1) t.find("against")->fail("expected one parameter and its value");
    k.against = {entries[0].key, entries[0].value.text};
  }
  return k;
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

Sweep sweep_of(const Tree& t) {
  refuse_others(t, {"name", "key", "draft", "ci", "lab"});
  Sweep s{text_of(t, "name"), text_of(t, "key"), texts(t.find("draft")), values_of(required(t, "ci")),
          values_of(required(t, "lab"))};
  for (const std::vector<SweepValue>* values : {&s.ci, &s.lab})
    if (values->empty()) t.fail(fmt::format("'{}' has no value in a profile; expected at least one", s.name));
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
  for (const Tree& k : required(t, "kpis").as_list("a list")) c.kpis.push_back(kpi_of(k));
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
