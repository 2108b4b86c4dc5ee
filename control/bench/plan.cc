#include "control/bench/plan.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "control/bench/cost.h"
#include "control/compare/overrides.h"
#include "control/spec/load.h"
#include "control/spec/override_paths.h"
#include "control/spec/spec_error.h"
#include "control/spec/yaml/parse.h"
#include "control/spec/yaml/print.h"
#include "control/sweep/plan.h"

namespace railyard::bench {
namespace {

// What a clause brings to a fabric of the user's.
constexpr const char* kWork[] = {"traffic", "collectives", "jobs", "faults", "run"};

using Strings = std::vector<std::string>;

Strings joined(const Strings& a, const Strings& b) {
  Strings all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

// Several of the figures need what `railyard run` records only with --transients.
bool needs_transients(const Clause& clause) {
  return std::ranges::any_of(clause.kpis, [](const Kpi& k) {
    return k.figure == "convergence" || k.figure == "repair_after" || k.figure == "off_fair_share";
  });
}

bool needs_memory(const Clause& clause) {
  return std::ranges::any_of(clause.kpis,
                             [](const Kpi& k) { return k.function.starts_with("memory") || k.function == "open-files"; });
}

Strings column_sets(const std::string& file, const Strings& sets, const std::string& text) {
  const auto column = spec::parse_column(text);
  if (!column) throw std::invalid_argument(column.error());
  const spec::Lab lab = spec::load(file, sets);
  const auto is_said = [&](const std::string& path) {
    try {
      static_cast<void>(spec::override_paths(file, joined(sets, {path + "="})));
      return true;
    } catch (const spec::SpecError&) {
      return false;
    }
  };
  return compare::sets_of(compare::overrides(lab, *column, is_said));
}

}  // namespace

std::string lab_text(const Clause& clause, const std::optional<std::string>& fabric) {
  if (!fabric) return clause.lab;
  spec::Tree work = spec::parse_yaml(clause.lab, clause.lab_name);
  spec::Tree lab = spec::parse_yaml(*fabric, "--fabric");
  std::erase_if(lab.entries, [](const spec::Tree::Entry& e) {
    return std::ranges::find(kWork, e.key) != std::end(kWork) || e.key == "expect" || e.key == "compare" ||
           e.key == "diagnosis";
  });
  for (const char* key : kWork)
    if (const spec::Tree* value = work.find(key)) lab.add(key, *value);
  return spec::print_yaml(lab);
}

Plan plan(const Clause& clause, Profile profile, const std::filesystem::path& file) {
  const Reduction& reduction = clause.reduction(profile);
  Plan p;
  p.clause = &clause;
  p.profile = profile;
  p.file = file.string();
  p.seeds = sweep::parse_seeds(reduction.seeds);
  if (clause.search) p.search = sweep::plan_search(clause.search->key, clause.search->until, clause.search->resolution);
  if (needs_transients(clause)) p.options.emplace_back("--transients");
  if (needs_memory(clause)) p.options.emplace_back("--memory");
  std::vector<sweep::Dimension> dimensions;
  for (const Sweep& s : clause.sweep) {
    // By its name: two parameters may set the same key.
    sweep::Dimension& d = dimensions.emplace_back(sweep::Dimension{s.name, {}});
    for (const SweepValue& v : s.values(profile)) d.values.push_back(v.value);
  }
  const Strings columns = clause.columns.empty() ? Strings{""} : clause.columns;
  try {
    for (const sweep::Point& point : sweep::points(dimensions, columns.size() * p.seeds.size()))
      for (const std::string& column : columns) {
        Case& c = p.cases.emplace_back();
        c.sets = reduction.sets;
        if (!column.empty()) c.params.emplace_back("column", column);
        for (std::size_t d = 0; d < point.size(); ++d) {
          const Sweep& s = clause.sweep[d];
          const SweepValue& value = s.values(profile)[point[d]];
          c.params.emplace_back(s.name, value.name);
          c.sets = joined(c.sets, s.sets(value));
          if (s.iteration) c.moment = Moment{s.key, *s.iteration, *parse_phase(value.value)};
        }
        if (!column.empty()) c.sets = joined(c.sets, column_sets(p.file, c.sets, column));
        const spec::Lab lab = spec::load(p.file, p.search ? joined(c.sets, {p.search->set(0)}) : c.sets);
        c.fabric = facts_of(lab);
        c.transport = compare::facts_of(lab);
        c.hops = expected_hops(lab, c.fabric);
      }
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("{}: {}", clause.id, error.what()));
  } catch (const spec::SpecError& error) {  // the file is a copy; the user knows the definition
    throw spec::SpecError(clause.lab_place, error.message());
  }
  return p;
}

}  // namespace railyard::bench
