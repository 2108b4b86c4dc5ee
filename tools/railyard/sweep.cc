// `railyard sweep`: all combinations of some values of a fabric file, run beside each other; one table.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "control/report/compare.h"
#include "control/spec/load.h"
#include "control/spec/suggest.h"
#include "control/sweep/plan.h"
#include "control/sweep/table.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/runs.h"
#include "tools/railyard/searches.h"

namespace railyard::tools {
namespace {

struct SweepOptions {
  std::string file;
  std::vector<std::string> over;
  std::vector<std::string> sets;
  std::vector<std::string> metrics;
  SearchOptions search;
  std::string seeds;
  std::size_t jobs = 0;
  bool json = false;
};

// Those of these that any run has.
const std::vector<std::string> kUsualMetrics{"busbw",       "goodput", "fct_p50", "fct_p99",   "slowdown_p99",
                                             "latency_p99", "jain",    "drops",   "xoff_sent", "retransmitted"};

struct OneRun {
  std::size_t row;
  std::uint64_t seed;
};

std::string label_of(const sweep::Table& table, const OneRun& run) {
  std::string text;
  for (std::size_t d = 0; d < table.dimensions.size(); ++d)
    text += fmt::format("{}={} ", table.dimensions[d].path, table.dimensions[d].values[table.rows[run.row].point[d]]);
  return text + fmt::format("seed {}", run.seed);
}

// A metric that no run has is a mistake, if any run has ended well.
void check_metrics(const sweep::Table& table, const std::vector<std::string>& known) {
  for (std::size_t m = 0; m < table.metrics.size(); ++m) {
    if (known.empty() ||
        std::ranges::any_of(table.rows, [&](const sweep::Row& r) { return !r.cells[m].values.empty(); }))
      continue;
    const std::string name = sweep::name_of_metric(table.metrics[m]);
    throw std::invalid_argument(fmt::format("--metric: no run has '{}'{}; there are {}", name,
                                            spec::did_you_mean(name, known), fmt::join(known, ", ")));
  }
}

int run_sweep(const SweepOptions& o) {
  sweep::Table table;
  table.spec = o.file;
  for (const std::string& text : o.over) table.dimensions.push_back(sweep::parse_dimension(text));
  const spec::Lab lab = spec::load(o.file, o.sets);
  table.seeds = o.seeds.empty() ? std::vector{lab.run.seed.value} : sweep::parse_seeds(o.seeds);
  if (lab.run.clock == spec::Clock::kWall)
    throw std::invalid_argument(
        "sweep: this lab runs under the wall clock, where runs beside each other disturb each "
        "other; expected --set run.clock=virtual");
  table.metrics = o.metrics.empty() ? kUsualMetrics : o.metrics;
  table.search = plan_of(o.search, {});
  if (table.search) {
    table.metrics.insert(table.metrics.begin(), table.search->search.path);
    std::vector<std::string> sets = o.sets;
    sets.push_back(table.search->set(0));
    static_cast<void>(spec::load(o.file, sets));  // what is wrong with it is said before anything runs
  }
  std::vector<OneRun> runs;
  std::vector<std::vector<std::string>> commands;
  for (const sweep::Point& point : sweep::points(table.dimensions, table.seeds.size())) {
    for (const std::uint64_t seed : table.seeds) {
      std::vector<std::string> command{o.file};
      for (const std::string& s : o.sets) command.insert(command.end(), {"--set", s});
      for (std::size_t d = 0; d < point.size(); ++d)
        command.insert(command.end(), {"--set", table.dimensions[d].path + "=" + table.dimensions[d].values[point[d]]});
      command.insert(command.end(), {"--seed", fmt::format("{}", seed)});
      commands.push_back(std::move(command));
      runs.push_back({table.rows.size(), seed});
    }
    table.rows.push_back({point, std::vector<sweep::Cell>(table.metrics.size()), 0, {}});
  }

  std::vector<std::string> known;
  std::map<std::pair<std::size_t, std::uint64_t>, std::string> failures;  // in the order of the table
  std::map<std::pair<std::size_t, std::uint64_t>, std::vector<std::optional<double>>> figures;
  run_searched(table.search, commands, {}, o.jobs, !o.json && isatty(STDERR_FILENO) != 0, [&](SearchedRun searched) {
    const RunResult& ended = searched.run;
    const OneRun& run = runs[ended.index];
    const std::pair key{run.row, run.seed};
    if (!ended.failure.empty()) {
      failures[key] = ended.failure;
      return;
    }
    if (known.empty())
      for (const auto& [name, value] : ended.report["summary"].items()) known.push_back(name);
    for (const std::string& m : table.metrics)
      figures[key].push_back(table.search && m == table.search->search.path
                                 ? searched.found
                                 : report::figure_of(ended.report, sweep::name_of_metric(m)));
  });
  for (const OneRun& run : runs) {
    sweep::Row& row = table.rows[run.row];
    ++row.runs;
    const std::pair key{run.row, run.seed};
    if (const auto failed = failures.find(key); failed != failures.end())
      row.failures.push_back(label_of(table, run) + ": " + failed->second);
    const auto found = figures.find(key);
    for (std::size_t m = 0; found != figures.end() && m < table.metrics.size(); ++m)
      if (const auto& value = found->second[m]) row.cells[m].values.push_back(*value);
  }
  if (o.metrics.empty()) {
    // Of the usual ones, those that there are.
    for (std::size_t m = table.metrics.size(); m-- > 0;) {
      if (std::ranges::any_of(table.rows, [&](const sweep::Row& r) { return !r.cells[m].values.empty(); })) continue;
      table.metrics.erase(table.metrics.begin() + static_cast<std::ptrdiff_t>(m));
      for (sweep::Row& r : table.rows) r.cells.erase(r.cells.begin() + static_cast<std::ptrdiff_t>(m));
    }
  } else {
    check_metrics(table, known);
  }
  if (o.json)
    std::puts(table.json().dump(2).c_str());
  else
    std::fputs(table.text().c_str(), stdout);
  return failures.empty() ? kOk : kFailed;
}

}  // namespace

void add_sweep(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("sweep", "Run a lab with all combinations of some values; one table of what came");
  auto o = std::make_shared<SweepOptions>();
  command->add_option("SPEC", o->file, "Fabric file (YAML)")->required();
  command->add_option("--over", o->over, "A key and its values, e.g. --over topology.spines=2,4; again for another key")
      ->type_name("PATH=V,V");
  command->add_option("--seeds", o->seeds, "Each combination with each of these; the figures are medians")
      ->type_name("A-B");
  command->add_option("--set", o->sets, "The same in all runs, as of railyard run")->type_name("PATH=VALUE");
  command
      ->add_option("--metric", o->metrics,
                   "What the table has: figures of a report's summary (fct_p99, goodput), or JSON pointers into "
                   "report.json; -NAME or +NAME: lower or higher is better")
      ->delimiter(',')
      ->type_name("NAMES");
  add_search_options(*command, o->search);
  command->add_option("--jobs", o->jobs, "Runs beside each other; without it one per processor")->type_name("N");
  command->add_flag("--json", o->json, "Print the table as JSON");
  command->footer(
      "A run that fails is shown as failed, the others go on; the exit code is then 1.\n"
      "\n"
      "Examples:\n"
      "  railyard sweep topologies/permutation-128.yaml --over qos.default.classes.3.path=ecmp,spray,adaptive --seeds "
      "1-5\n"
      "  railyard sweep LAB.yaml --over topology.spines=2,4 --over traffic.all.rate=10Gbps,50Gbps --metric "
      "fct_p99,drops\n"
      "  railyard sweep LAB.yaml --over run.workers=1,2 --metric -/engine/wall_seconds --json\n"
      "  railyard sweep LAB.yaml --over traffic.all.message=4KB,1MB --search traffic.all.rate=1Gbps..100Gbps");
  command->callback([o, &exit_code] { exit_code = run_sweep(*o); });
}

}  // namespace railyard::tools
