// The runs of a clause: each combination of its columns and values is a case, and each case is run with every seed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control/bench/clause.h"
#include "control/bench/fabric_facts.h"
#include "control/bench/phase.h"
#include "control/compare/columns.h"
#include "control/sweep/search_plan.h"

namespace railyard::bench {

struct Case {
  std::vector<std::pair<std::string, std::string>> params;  // "column" first, if the clause has columns
  std::vector<std::string> sets;                            // of `railyard run`: "path=value"
  std::optional<Moment> moment;                             // of a setting whose instant depends on the run
  FabricFacts fabric;
  compare::ColumnFacts transport;
  double hops = 0;  // frames that switches forward in one run, roughly (cost.h)
};

struct Plan {
  const Clause* clause = nullptr;
  Profile profile = Profile::kCi;
  std::string file;  // what is run
  std::vector<std::uint64_t> seeds;
  std::optional<sweep::SearchPlan> search;
  std::vector<std::string> options;  // of each run: what its KPIs need
  std::vector<Case> cases;
};

// The lab of the clause as YAML. `fabric`: the expanded form of a fabric file of the user's, whose nodes, links,
// profiles and routing take the place of the clause's; the clause keeps its work. Throws spec::SpecError.
std::string lab_text(const Clause& clause, const std::optional<std::string>& fabric);

// `file`: where lab_text() was written. Every case is read, so that what is wrong is said before anything runs. Throws
// spec::SpecError or std::invalid_argument; messages name the clause.
Plan plan(const Clause& clause, Profile profile, const std::filesystem::path& file);

}  // namespace railyard::bench
