#include "tools/railyard/bench_runs.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/spec/load.h"
#include "tools/railyard/searches.h"

namespace railyard::tools {
namespace {

using Words = std::vector<std::string>;

Words command_of(const bench::Plan& plan, const bench::Case& c, std::uint64_t seed) {
  Words command{plan.file};
  for (const std::string& set : c.sets) command.insert(command.end(), {"--set", set});
  command.insert(command.end(), {"--seed", fmt::format("{}", seed)});
  command.insert(command.end(), plan.options.begin(), plan.options.end());
  return command;
}

// One trial of one case, until it has run.
struct Planned {
  std::size_t of_case = 0, of_seed = 0;
  Words command;
  std::string failure;  // why it cannot run; empty: it can
};

// A moment within an iteration is known from a run without what happens then: it is the same until that moment. Such runs are
// made once for all cases that differ in the moment only.
void find_moments(const bench::Plan& plan, std::vector<Planned>& trials, const HowToRun& how) {
  std::map<Words, std::vector<std::size_t>> without;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const auto& moment = plan.cases[trials[i].of_case].moment;
    if (!moment) continue;
    Words command = trials[i].command;
    command.insert(command.end(), {"--set", moment->without()});
    without[std::move(command)].push_back(i);
  }
  if (without.empty()) return;
  std::vector<Words> commands;
  std::vector<const std::vector<std::size_t>*> of;
  for (const auto& [command, list] : without) {
    commands.push_back(command);
    of.push_back(&list);
  }
  run_all(commands, how, [&](const RunResult& run) {
    for (const std::size_t i : *of[run.index]) {
      const bench::Moment& moment = *plan.cases[trials[i].of_case].moment;
      const auto set = run.failure.empty() ? moment.set(run.report) : std::nullopt;
      if (set)
        trials[i].command.insert(trials[i].command.end(), {"--set", *set});
      else
        trials[i].failure = fmt::format("the run without {}: {}", moment.key,
                                        run.failure.empty() ? fmt::format("iteration {} has no such phase", moment.iteration)
                                                            : run.failure);
    }
  });
}

std::vector<Planned> planned(const bench::Plan& plan) {
  std::vector<Planned> all;
  for (std::size_t c = 0; c < plan.cases.size(); ++c)
    for (std::size_t s = 0; s < plan.seeds.size(); ++s)
      all.push_back({c, s, command_of(plan, plan.cases[c], plan.seeds[s]), {}});
  return all;
}

}  // namespace

ExitCode run_clause(bench::ClauseResult& r, const HowToRun& how) {
  ExitCode code = kOk;
  const bench::Plan& plan = r.plan;
  std::vector<Planned> all = planned(plan);
  find_moments(plan, all, how);
  std::vector<Words> commands;
  std::vector<std::size_t> run_of;  // of each command
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].failure.empty()) {
      code = worse(code, kFailed);
      continue;
    }
    commands.push_back(all[i].command);
    run_of.push_back(i);
  }
  std::vector<bench::Trial> trials(all.size());
  run_searched(plan.search, commands, {}, how, [&](SearchedRun run) {
    const std::size_t i = run_of[run.run.index];
    if (!run.run.failure.empty()) code = worse(code, exit_code_of(run.run));
    all[i].failure = std::move(run.run.failure);
    trials[i] = {plan.seeds[all[i].of_seed], std::move(run.run.report), run.found};
  });
  const std::size_t seeds = plan.seeds.size();
  for (std::size_t c = 0; c < plan.cases.size(); ++c) {
    std::vector<bench::Trial> included;
    std::vector<std::pair<std::uint64_t, std::string>> excluded;
    for (std::size_t i = c * seeds; i < (c + 1) * seeds; ++i)
      if (all[i].failure.empty())
        included.push_back(std::move(trials[i]));
      else
        excluded.emplace_back(plan.seeds[all[i].of_seed], std::move(all[i].failure));
    bench::CaseResult result = bench::case_result(plan, c, included);
    result.attempted = seeds;
    result.excluded = std::move(excluded);
    r.cases.push_back(std::move(result));
  }
  bench::compare_cases(r);
  return code;
}

bench::Speed measured_speed(const std::filesystem::path& pilot) {
  const spec::Lab lab = spec::load(pilot);
  const double hops = bench::expected_hops(lab, bench::facts_of(lab));
  double cpu_seconds = 0;
  run_all({{pilot.string()}}, {.parallel = 1}, [&](const RunResult& run) {
    if (run.failure.empty()) cpu_seconds = run.report["engine"]["cpu_seconds"].get<double>();
  });
  return bench::speed_of(hops, cpu_seconds);
}

}  // namespace railyard::tools
