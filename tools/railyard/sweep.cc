// `railyard sweep`: all combinations of some values of a fabric file, run beside each other; one table.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "control/base/json_text.h"
#include "control/compare/clash.h"
#include "control/report/compare.h"
#include "control/report/junit.h"
#include "control/spec/load.h"
#include "control/sweep/cluster_job.h"
#include "control/sweep/plan.h"
#include "control/sweep/plot.h"
#include "control/sweep/table.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/expect_options.h"
#include "tools/railyard/figures.h"
#include "tools/railyard/point_check.h"
#include "tools/railyard/result_file.h"
#include "tools/railyard/runs.h"
#include "tools/railyard/searches.h"

namespace railyard::tools {
namespace {

struct SweepOptions {
  std::string file;
  std::vector<std::string> over;
  std::vector<std::string> sets;
  std::vector<std::string> metrics;
  std::vector<std::string> expect;
  std::string junit;
  SearchOptions search;
  std::string seeds;
  std::size_t jobs = 0;
  std::string resume;
  std::string part;
  std::string emit;
  std::size_t parts = 0;
  std::string csv;
  std::string plot;
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

// The command that does all of it, as a scheduler's job begins it.
std::vector<std::string> words_of(const SweepOptions& o) {
  std::vector<std::string> words{"railyard", "sweep", o.file};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  for (const std::string& v : o.over) add("--over", v);
  for (const std::string& v : o.sets) add("--set", v);
  add("--seeds", o.seeds);
  if (!o.metrics.empty()) add("--metric", fmt::format("{}", fmt::join(o.metrics, ",")));
  for (const std::string& v : o.expect) add("--expect", v);
  add("--search", o.search.search);
  add("--until", o.search.until);
  add("--resolution", o.search.resolution);
  add("--resume", o.resume);
  return words;
}

// Which runs are done here. Throws std::invalid_argument.
sweep::Part part_of(const SweepOptions& o) {
  if (o.part.empty()) return {};
  const auto part = sweep::parse_part(o.part);
  if (!part) throw std::invalid_argument("--part: " + part.error());
  if (o.resume.empty()) throw std::invalid_argument("--part: requires --resume, the folder that all parts share");
  for (const auto& [option, value] : {std::pair{"--csv", o.csv}, {"--plot", o.plot}, {"--junit", o.junit}})
    if (!value.empty()) throw std::invalid_argument(fmt::format("{}: cannot be used with --part; a part has no table", option));
  return *part;
}

// A job file for as many runs, on standard output.
void emit_job(const SweepOptions& o, std::size_t runs) {
  if (o.resume.empty()) throw std::invalid_argument("--emit: requires --resume, the folder that all parts share");
  constexpr std::size_t kUsualParts = 100;
  const std::size_t parts = std::min(runs, o.parts != 0 ? o.parts : kUsualParts);
  fmt::print("{}", sweep::job_file({words_of(o), parts}, *sweep::parse_scheduler(o.emit)));
}

int run_sweep(SweepOptions o) {
  sweep::Table table;
  table.spec = o.file;
  for (const std::string& text : o.over) table.dimensions.push_back(sweep::parse_dimension(text));
  spec::Lab lab = spec::load(o.file, o.sets);
  add_expectations(o.expect, o.sets.empty(), lab);
  const sweep::Part part = part_of(o);
  const std::string taker =
      taker_of_standard_output({{"--csv", o.csv}, {"--plot", o.plot}, {"--junit", o.junit}}, o.json);
  std::optional<ResultFile> junit, csv, plot;
  if (!o.junit.empty()) junit.emplace(o.junit, "--junit");
  if (!o.csv.empty()) csv.emplace(o.csv, "--csv");
  if (!o.plot.empty()) plot.emplace(o.plot, "--plot");
  table.seeds = o.seeds.empty() ? std::vector{lab.run.seed.value} : sweep::parse_seeds(o.seeds);
  table.metrics = o.metrics.empty() ? kUsualMetrics : o.metrics;
  check_figures(table.metrics, "--metric");
  const std::vector<std::string> more_options = options_for(table.metrics);
  table.search = plan_of(o.search, {});
  if (table.search) table.metrics.insert(table.metrics.begin(), table.search->search.path);
  if (!o.plot.empty() && (table.dimensions.empty() || table.dimensions[0].values.size() < 2))
    throw std::invalid_argument("--plot: nothing to draw along x; expected --over PATH=V,V with two values or more");
  const std::vector<sweep::Point> points = sweep::points(table.dimensions, table.seeds.size());
  // What is wrong with any of it is said before anything runs.
  bool wall = false;
  std::vector<std::size_t> choices;
  for (const sweep::Dimension& d : table.dimensions) choices.push_back(d.values.size());
  PointCheck check(choices);
  for (const sweep::Point& point : points) {
    std::vector<std::string> sets = o.sets;
    for (std::size_t d = 0; d < point.size(); ++d) {
      for (const std::string& set : table.dimensions[d].sets(point[d])) {
        if (set.starts_with("run.seed="))
          throw std::invalid_argument(
              "--over: run.seed: seeds have an option of their own; expected --seeds, e.g. --seeds 1-5");
        sets.push_back(set);
      }
    }
    if (table.search) {
      for (const compare::Clash& clash :
           compare::clashes(o.file, sets, {{table.search->search.path + "=searched", ""}}))
        if (std::ranges::find(o.sets, clash.setting) == o.sets.end())
          throw std::invalid_argument(
              fmt::format("--over: {}: --search varies this key; expected another one", clash.setting));
      sets.push_back(table.search->set(0));
    }
    const auto loaded = check.load(o.file, sets, point);
    wall = wall || (loaded && loaded->run.clock == spec::Clock::kWall);
  }
  check.finish();
  if (wall) {
    runs_under_wall_clock(table.search.has_value(), o.jobs);
    table.notes.emplace_back(kWallClockNote);
    table.metrics.insert(table.metrics.end(), kWallClockMetrics.begin(), kWallClockMetrics.end());
  }
  std::vector<OneRun> runs;
  std::vector<std::vector<std::string>> commands;
  for (const sweep::Point& point : points) {
    for (const std::uint64_t seed : table.seeds) {
      std::vector<std::string> command{o.file};
      for (const std::string& s : o.sets) command.insert(command.end(), {"--set", s});
      for (std::size_t d = 0; d < point.size(); ++d)
        for (const std::string& set : table.dimensions[d].sets(point[d])) command.insert(command.end(), {"--set", set});
      command.insert(command.end(), {"--seed", fmt::format("{}", seed)});
      command.insert(command.end(), more_options.begin(), more_options.end());
      for (std::string& word : expect_arguments(o.expect)) command.push_back(std::move(word));
      commands.push_back(std::move(command));
      runs.push_back({table.rows.size(), seed});
    }
    table.rows.push_back({point, std::vector<sweep::Cell>(table.metrics.size()), 0, {}, {}, {}});
  }

  if (!o.emit.empty()) {
    emit_job(o, runs.size());
    return kOk;
  }
  std::vector<std::size_t> here;  // runs of the part
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (part.has(i)) here.push_back(i);
  std::vector<std::vector<std::string>> commands_here;
  for (const std::size_t i : here) commands_here.push_back(commands[i]);
  const std::optional<KeptRuns> kept = kept_runs(o.resume);

  std::map<std::pair<std::size_t, std::uint64_t>, std::string> failures;  // in the order of the table
  std::map<std::pair<std::size_t, std::uint64_t>, std::vector<std::optional<double>>> figures;
  std::vector<RunDone> done(table.rows.size());
  std::vector<report::JunitSuite> suites(runs.size());
  std::vector<std::vector<std::string>> misses(runs.size());
  ExitCode code = kOk;
  const HowToRun how{.parallel = o.jobs, .shows = !o.json && isatty(STDERR_FILENO) != 0, .kept = kept ? &*kept : nullptr};
  run_searched(table.search, commands_here, {}, how, [&](SearchedRun searched) {
    RunResult& ended = searched.run;
    ended.index = here[ended.index];
    const OneRun& run = runs[ended.index];
    const std::pair key{run.row, run.seed};
    code = worse(code, exit_code_of(ended));
    const std::string label = lab.name + " " + label_of(table, run);
    suites[ended.index] = ended.report.is_object() ? report::junit_suite(ended.report, label)
                                                   : report::junit_failure(label, ended.failure);
    if (ended.report.is_object()) misses[ended.index] = missed(ended.report);
    if (!ended.failure.empty()) {
      failures[key] = ended.failure;
      return;
    }
    done[run.row].add(done_of(ended.report));
    table.rows[run.row].delivery.add(ended.report);
    for (const std::string& m : table.metrics)
      figures[key].push_back(table.search && m == table.search->search.path
                                 ? searched.found
                                 : report::figure_of(ended.report, sweep::name_of_metric(m)));
  });
  if (!o.part.empty()) {
    for (const auto& [run, failure] : failures)
      fmt::print(stderr, "railyard: {}: {}\n", label_of(table, {run.first, run.second}), failure);
    fmt::print("Part {} of {}: stored {} of {} runs in {}\n", part.number, part.of, here.size() - failures.size(), runs.size(), o.resume);
    return failures.empty() ? kOk : kFailed;  // what they say is for who puts all parts together
  }
  for (std::size_t i = 0; i < table.rows.size(); ++i) table.rows[i].incomplete = done[i].text();
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
  // Its columns do not depend on what was measured.
  const std::string csv_text = csv ? table.csv() : std::string();
  if (o.metrics.empty()) {
    // Of the usual ones, those that there are.
    for (std::size_t m = table.metrics.size(); m-- > 0;) {
      if (std::ranges::any_of(table.rows, [&](const sweep::Row& r) { return !r.cells[m].values.empty(); })) continue;
      table.metrics.erase(table.metrics.begin() + static_cast<std::ptrdiff_t>(m));
      for (sweep::Row& r : table.rows) r.cells.erase(r.cells.begin() + static_cast<std::ptrdiff_t>(m));
    }
  }
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (const std::string& miss : misses[i]) {
      table.notes.push_back(fmt::format("expectation missed: {}: {}", label_of(table, runs[i]), miss));
      fmt::print(stderr, "railyard: {}\n", table.notes.back());
    }
  if (o.json)
    std::puts(json_text(table.json(), 2).c_str());
  else if (taker.empty())
    std::fputs(table.text().c_str(), stdout);
  // A file that cannot be written keeps neither the table nor another file from the user.
  const auto write = [&](std::optional<ResultFile>& file, const std::string& text) {
    try {
      if (file) file->write(text);
    } catch (const std::runtime_error& error) {
      fmt::print(stderr, "railyard: {}\n", error.what());
      code = worse(code, kFailed);
    }
  };
  write(csv, csv_text);
  if (plot) write(plot, sweep::plot_svg(table));
  write(junit, report::junit_xml(suites));
  return code;
}

}  // namespace

void add_sweep(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<SweepOptions>();
  command->add_option("SPEC", o->file, "Fabric file (YAML)")->required();
  command
      ->add_option("--over", o->over,
                   "A key and its values, e.g. --over topology.spines=2,4; keys joined by + take the same value; "
                   "repeat for more keys")
      ->type_name("PATH=V,V");
  command->add_option("--seeds", o->seeds, "Repeat each combination with each of these seeds; figures are medians")
      ->type_name("A-B");
  command->add_option("--set", o->sets, "Set in all runs, as in railyard run")->type_name("PATH=VALUE");
  command
      ->add_option("--metric", o->metrics,
                   "Columns: figures of a report's summary (fct_p99, goodput), or JSON pointers into report.json; "
                   "-NAME or +NAME: lower or higher is better")
      ->delimiter(',')
      ->type_name("NAMES");
  add_expect_options(*command, o->expect, o->junit);
  add_search_options(*command, o->search);
  command->add_option("--jobs", o->jobs, "Parallel runs (default: one per processor)")->type_name("N");
  add_resume_option(*command, o->resume);
  command
      ->add_option("--part", o->part,
                   "Run only part K of N, for a sweep over several machines; requires --resume")
      ->type_name("K/N");
  CLI::Option* emit =
      command->add_option("--emit", o->emit, "Print a job file for a scheduler (slurm, k8s, ray) that runs all parts, and run nothing")
          ->check(CLI::IsMember({"slurm", "k8s", "ray"}))
          ->type_name("NAME");
  command->add_option("--parts", o->parts, "Number of parts in the job file (default: one per run, at most 100)")
      ->check(CLI::PositiveNumber)
      ->needs(emit)
      ->type_name("N");
  command->add_option("--csv", o->csv, "Write the table to FILE: median, minimum and maximum of each figure")
      ->type_name("FILE");
  command->add_option("--plot", o->plot, "Draw the table to FILE (SVG): the first --over along x, a panel per metric")
      ->type_name("FILE");
  command->add_flag("--json", o->json, "Print the table as JSON");
  command->footer(
      "A failed run is shown as failed; the others continue. The exit code is that of the worst run.\n"
      "FILE `-` is standard output, instead of the table.\n"
      "\n"
      "Examples:\n"
      "  railyard sweep topologies/permutation-128.yaml --over qos.default.classes.3.path=ecmp,spray,adaptive --seeds "
      "1-5\n"
      "  railyard sweep LAB.yaml --over topology.spines=2,4 --over traffic.all.rate=10Gbps,50Gbps --metric "
      "fct_p99,drops\n"
      "  railyard sweep topologies/incast-8to1.yaml --over traffic.incast.rate=5Gbps,10Gbps,20Gbps --csv t.csv --plot "
      "t.svg\n"
      "  railyard sweep LAB.yaml --over run.workers=1,2 --metric -/engine/wall_seconds --json\n"
      "  railyard sweep LAB.yaml --over traffic.all.message=4KB,1MB --search traffic.all.rate=1Gbps..100Gbps\n"
      "  railyard sweep LAB.yaml --over topology.spines=2,4 --seeds 1-50 --resume results --emit slurm > sweep.sh; sbatch sweep.sh");
  command->callback([o, &exit_code] { exit_code = run_sweep(*o); });
}

}  // namespace railyard::tools
