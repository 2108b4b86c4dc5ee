// Searches (sweep/search_plan.h) as commands of the command line have and make them.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "control/spec/compare_spec.h"
#include "control/sweep/search_plan.h"
#include "tools/railyard/runs.h"

namespace railyard::tools {

struct SearchOptions {
  std::string search;
  std::string until;
  std::string resolution;
};
// --search, --until and --resolution.
void add_search_options(CLI::App& command, SearchOptions& options);
// What is searched for; nothing: nothing is. `of_file`: what is not said on the command line is as there. Throws
// std::invalid_argument.
std::optional<sweep::SearchPlan> plan_of(const SearchOptions& options, const spec::CompareSpec& of_file);

// What came of a run, or of a search.
struct SearchedRun {
  RunResult run;                // of a search: with the value that was found
  std::optional<double> found;  // in the unit of the search's figure
};
// As run_all() does it, each of `runs` once; or, with a plan, until the best value that it meets the condition with is
// known. A run whose messages or data did not come as they should does not meet it; with none that does, the search has
// failed. `last_options`, if any, one for each of `runs`: of the run that is handed over, only.
void run_searched(const std::optional<sweep::SearchPlan>& plan, const std::vector<std::vector<std::string>>& runs,
                  const std::vector<std::vector<std::string>>& last_options, const HowToRun& how,
                  const std::function<void(SearchedRun)>& done);

}  // namespace railyard::tools
