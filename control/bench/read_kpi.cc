#include "control/bench/read_kpi.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/bench/definition_parts.h"
#include "control/bench/memory_growth.h"
#include "control/bench/shared_links.h"
#include "control/report/metrics/field_path.h"
#include "control/report/metrics/metric.h"
#include "control/report/summary.h"
#include "control/spec/suggest.h"

namespace railyard::bench {
namespace {

using spec::Tree;

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

Observed observed_of(const Tree& at) {
  const std::string& said = at.as_text("a, b, c or x");
  for (const Observed o : {Observed::kBoundary, Observed::kDevice, Observed::kEndpoint, Observed::kModel})
    if (said == std::string(1, static_cast<char>(o))) return o;
  at.fail(
      fmt::format("'{}' is no observation point; expected a (NIC ports), b (counters of switches), c (endpoints) or x "
                  "(only the model sees it)",
                  said));
}

// What the function is of, at and against.
void read_function(const Tree& t, Kpi& k) {
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
  if (k.function == "shared-links")
    if (const std::string problem = problem_of_classes(k.of); !problem.empty()) t.find("of")->fail(problem);
  if (f->needs_at) {
    const Tree& at = required(t, "at");
    if (k.function == "memory") {
      if (const std::string problem = problem_of_share(k.at); !problem.empty()) at.fail(problem);
      return;
    }
    const std::set<std::string> known{"mean", "p50", "p95", "p99", "p999", "min", "max", "samples"};
    if (!known.contains(k.at)) at.fail(fmt::format("found '{}'; expected one of {}", k.at, fmt::join(known, ", ")));
  }
  if (f->needs_against) {
    const auto& entries = required(t, "against").as_map("a parameter and its value");
    if (entries.size() != 1) t.find("against")->fail("expected one parameter and its value");
    k.against = {entries[0].key, entries[0].value.text};
  }
}

}  // namespace

Kpi read_kpi(const Tree& t) {
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
  read_function(t, k);
  return k;
}

}  // namespace railyard::bench
