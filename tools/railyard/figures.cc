#include "tools/railyard/figures.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/report/metrics/field_path.h"
#include "control/report/summary.h"
#include "control/spec/suggest.h"
#include "control/sweep/table.h"

namespace railyard::tools {

const std::vector<std::string> kWallClockMetrics{"-/engine/lateness_ns/p99", "-/engine/slip_ns"};
const char* const kWallClockNote =
    "wall clock: runs were sequential; their figures depend on this machine's load and are not reproducible; lateness "
    "and slip show the error";

void check_figures(const std::vector<std::string>& metrics, const char* option) {
  const std::vector<std::string> known = report::known_figures();
  for (const std::string& metric : metrics) {
    const std::string name = sweep::name_of_metric(metric);
    if (name.starts_with('/')) {
      if (const std::string problem = report::problem_of_pointer(name); !problem.empty())
        throw std::invalid_argument(fmt::format("{}: {}", option, problem));
      continue;
    }
    if (std::ranges::find(known, name) != known.end()) continue;
    if (name.contains('.')) {
      if (const auto field = report::find_field(name); !field)
        throw std::invalid_argument(fmt::format("{}: {}", option, field.error()));
      continue;
    }
    throw std::invalid_argument(fmt::format("{}: no run has '{}'{}; there are {}", option, name,
                                            spec::did_you_mean(name, known), fmt::join(known, ", ")));
  }
}

void runs_under_wall_clock(bool searches, std::size_t& jobs) {
  if (searches)
    throw std::invalid_argument(
        "--search: wall-clock runs are not reproducible, so a search cannot converge; expected --set "
        "run.clock=virtual");
  if (jobs > 1) throw std::invalid_argument("--jobs: wall-clock runs disturb each other; expected 1, or no --jobs");
  jobs = 1;
}

std::vector<std::string> options_for(const std::vector<std::string>& metrics) {
  const bool transient = std::ranges::any_of(metrics, [](const std::string& metric) {
    const std::string name = sweep::name_of_metric(metric);
    return name == "convergence" || name == "repair_after" || name == "off_fair_share" ||
           name.starts_with("/transients/");
  });
  return transient ? std::vector<std::string>{"--transients"} : std::vector<std::string>{};
}

}  // namespace railyard::tools
