#include "tools/railyard/searches.h"

#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "control/spec/value.h"
#include "control/sweep/bisection.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/figures.h"

namespace railyard::tools {
namespace {

using Words = std::vector<std::string>;

// One search: which step is tried next, and what came of the best so far.
struct OneSearch {
  sweep::Bisection steps;
  RunResult best{};
  std::string failure{};
};

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// All searches go on together: of each the next step, beside each other.
std::vector<OneSearch> search_all(const sweep::SearchPlan& plan, const std::vector<Words>& runs, const HowToRun& how) {
  std::vector<OneSearch> searches(runs.size(), OneSearch{sweep::Bisection(plan.last)});
  for (;;) {
    std::vector<std::size_t> tried;
    std::vector<Words> commands;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const auto step = searches[i].failure.empty() ? searches[i].steps.next() : std::nullopt;
      if (!step) continue;
      tried.push_back(i);
      commands.push_back(with(runs[i], {"--set", plan.set(*step)}));
    }
    if (tried.empty()) return searches;
    run_all(commands, how, [&](RunResult ended) {
      OneSearch& s = searches[tried[ended.index]];
      if (!ended.failure.empty() && ended.exit_code != kUnverified) {
        s.failure = fmt::format("{}: {}", plan.set(*s.steps.next()), ended.failure);
        return;
      }
      const bool holds = ended.failure.empty() && plan.holds(ended.report);
      s.steps.tell(holds);
      if (holds) s.best = std::move(ended);
    });
  }
}

}  // namespace

void add_search_options(CLI::App& command, SearchOptions& options) {
  command
      .add_option("--search", options.search,
                  "Bisect each run: find the value closest to TO for which --until holds, e.g. --search "
                  "traffic.all.rate=1Gbps..100Gbps; all other figures are from the run with this value")
      ->type_name("PATH=FROM..TO");
  command
      .add_option(
          "--until", options.until,
          fmt::format("Condition: figures with =, !=, <, <=, >, >= and a value, joined by 'and' (default: '{}')",
                      sweep::SearchPlan::kUsualCondition))
      ->type_name("CONDITION");
  command.add_option("--resolution", options.resolution, "Resolution, relative to the greater value (default 1%)")
      ->type_name("PART");
}

std::optional<sweep::SearchPlan> plan_of(const SearchOptions& options, const spec::CompareSpec& of_file) {
  const std::string& search = options.search.empty() ? of_file.search : options.search;
  if (search.empty()) {
    if (!options.until.empty() || !options.resolution.empty())
      throw std::invalid_argument(
          fmt::format("{}: needs --search", options.until.empty() ? "--resolution" : "--until"));
    return std::nullopt;
  }
  spec::Ratio resolution = of_file.resolution;
  if (!options.resolution.empty()) {
    const auto said = spec::parse_ratio(options.resolution);
    if (!said) throw std::invalid_argument("--resolution: " + said.error());
    resolution = *said;
  }
  const sweep::SearchPlan plan =
      sweep::plan_search(search, options.until.empty() ? of_file.until : options.until, resolution);
  std::vector<std::string> figures;
  for (const spec::Condition::Term& term : plan.condition.terms) figures.push_back(term.what.figure);
  check_figures(figures, "--until");
  return plan;
}

void run_searched(const std::optional<sweep::SearchPlan>& plan, const std::vector<Words>& runs,
                  const std::vector<Words>& last_options, const HowToRun& how,
                  const std::function<void(SearchedRun)>& done) {
  const auto last_of = [&](std::size_t i) { return last_options.empty() ? Words{} : last_options[i]; };
  if (!plan) {
    std::vector<Words> commands;
    for (std::size_t i = 0; i < runs.size(); ++i) commands.push_back(with(runs[i], last_of(i)));
    run_all(commands, how, [&](RunResult ended) { done({std::move(ended), {}}); });
    return;
  }
  std::vector<OneSearch> searches = search_all(*plan, runs, how);
  std::vector<std::size_t> again;  // found, and to be run with the last options
  std::vector<Words> commands;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    OneSearch& s = searches[i];
    const auto best = s.steps.best();
    if (s.failure.empty() && !best) s.failure = fmt::format("even {} does not meet '{}'", plan->set(0), plan->until);
    if (!s.failure.empty()) {
      done({{i, kFailed, std::move(s.failure), {}}, {}});
    } else if (last_of(i).empty()) {
      s.best.index = i;
      done({std::move(s.best), plan->figure(*best)});
    } else {
      again.push_back(i);
      commands.push_back(with(with(runs[i], {"--set", plan->set(*best)}), last_of(i)));
    }
  }
  run_all(commands, how, [&](RunResult ended) {
    ended.index = again[ended.index];
    const double found = plan->figure(*searches[ended.index].steps.best());
    done({std::move(ended), found});
  });
}

}  // namespace railyard::tools
