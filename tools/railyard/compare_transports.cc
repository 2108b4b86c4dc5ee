// `railyard compare-transports`: one lab, the same traffic over several transports and fabrics, side by side.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "control/compare/overrides.h"
#include "control/compare/side_by_side.h"
#include "control/report/compare.h"
#include "control/spec/column.h"
#include "control/spec/load.h"
#include "control/spec/suggest.h"
#include "control/sweep/plan.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/runs.h"
#include "tools/railyard/searches.h"

namespace railyard::tools {
namespace {

struct CompareTransportsOptions {
  std::string file;
  std::vector<std::string> columns;
  std::vector<std::string> over;
  std::vector<std::string> sets;
  std::vector<std::string> metrics;
  SearchOptions search;
  std::string seeds;
  std::string dir;
  std::size_t jobs = 0;
  bool json = false;
};

const std::vector<std::string> kUsualColumns{"roce/gbn/ecmp/pfc", "roce/sr/adaptive/pfc", "uet/rud/spray/trim",
                                             "uet/rod/ecmp/trim"};
// Those of these that any run has, and that are not 0 in all of them.
const std::vector<std::string> kComparedMetrics{
    "collective_time", "collective_max", "busbw",     "utilisation",  "makespan", "goodput",       "jain",
    "fct_p50",         "fct_p99",        "fct_max",   "out_of_order", "lost",     "retransmitted", "drops",
    "trimmed",         "ecn_marked",     "xoff_sent", "paused",       "max_queue"};

// One process each.
struct ComparedRun {
  std::size_t block, column, seed;
  std::string label;
};

// "uet/rud/spray/trim" -> "uet-rud-spray-trim"
std::string directory_of(const std::string& column) {
  std::string name = column;
  std::ranges::replace(name, '/', '-');
  return name;
}

std::vector<spec::Column> read_columns(const std::vector<std::string>& texts) {
  std::vector<spec::Column> columns;
  std::set<std::string> known;
  for (const std::string& text : texts) {
    const spec::Parsed<spec::Column> column = spec::parse_column(text);
    if (!column) throw std::invalid_argument(fmt::format("--column: {}", column.error()));
    if (!known.insert(text).second) throw std::invalid_argument(fmt::format("--column: '{}' is there twice", text));
    columns.push_back(*column);
    // Those that differ in their settings only are told apart by them.
    if (std::ranges::count(columns, column->name, &spec::Column::name) > 1) columns.back().name = text;
  }
  return columns;
}

void write_compared(const std::filesystem::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  if (!out.flush()) throw std::runtime_error(fmt::format("--report: cannot write {}", path.string()));
}

// Takes away what no run has; `and_zero`: also what is 0 in all of them.
void drop_empty(compare::SideBySide& table, bool and_zero) {
  const auto says_something = [&](double value) { return !and_zero || value != 0; };
  for (std::size_t m = table.metrics.size(); m-- > 0;) {
    const bool any = std::ranges::any_of(table.blocks, [&](const compare::SideBySide::Block& b) {
      return std::ranges::any_of(
          b.cells[m], [&](const sweep::Cell& cell) { return std::ranges::any_of(cell.values, says_something); });
    });
    if (any) continue;
    table.metrics.erase(table.metrics.begin() + static_cast<std::ptrdiff_t>(m));
    for (compare::SideBySide::Block& b : table.blocks) b.cells.erase(b.cells.begin() + static_cast<std::ptrdiff_t>(m));
  }
}

int compare_transports(CompareTransportsOptions o) {
  const spec::Lab lab = spec::load(o.file, o.sets);
  const auto unless_said = [](auto& said, const auto& of_file) {
    if (said.empty()) said = of_file;
  };
  unless_said(o.columns, lab.compare.columns.empty() ? kUsualColumns : lab.compare.columns);
  unless_said(o.over, lab.compare.over);
  unless_said(o.seeds, lab.compare.seeds);
  unless_said(o.metrics, lab.compare.metrics);
  const bool usual = o.metrics.empty();
  if (lab.run.clock == spec::Clock::kWall)
    throw std::invalid_argument(
        "compare-transports: this lab runs under the wall clock, where runs beside each other disturb each other; "
        "expected --set run.clock=virtual");

  compare::SideBySide table;
  table.spec = lab.name;
  table.seeds = o.seeds.empty() ? std::vector{lab.run.seed.value} : sweep::parse_seeds(o.seeds);
  table.metrics = usual ? kComparedMetrics : o.metrics;
  table.search = plan_of(o.search, lab.compare);
  if (table.search) table.metrics.insert(table.metrics.begin(), table.search->search.path);
  const std::vector<spec::Column> columns = read_columns(o.columns);
  for (const spec::Column& c : columns) {
    table.columns.push_back({c.name, compare::overrides(lab, c)});
    // What is wrong with a column is said before anything runs.
    std::vector<std::string> sets = o.sets;
    sets.insert(sets.end(), table.columns.back().sets.begin(), table.columns.back().sets.end());
    if (table.search) sets.push_back(table.search->set(0));
    static_cast<void>(spec::load(o.file, sets));
  }
  std::vector<sweep::Dimension> dimensions;
  for (const std::string& text : o.over) dimensions.push_back(sweep::parse_dimension(text));
  if (!o.dir.empty()) std::filesystem::create_directories(o.dir);

  std::vector<ComparedRun> runs;
  std::vector<std::vector<std::string>> commands;
  std::vector<std::vector<std::string>> reports;
  for (const sweep::Point& point : sweep::points(dimensions, table.seeds.size() * columns.size())) {
    compare::SideBySide::Block& block = table.blocks.emplace_back();
    for (std::size_t d = 0; d < point.size(); ++d)
      block.over.push_back(dimensions[d].path + "=" + dimensions[d].values[point[d]]);
    block.cells.assign(table.metrics.size(), std::vector<sweep::Cell>(columns.size()));
    block.failures.resize(columns.size());
    for (std::size_t c = 0; c < columns.size(); ++c) {
      for (const std::uint64_t seed : table.seeds) {
        std::vector<std::string> command{o.file};
        for (const auto* sets : {&o.sets, &block.over, &table.columns[c].sets})
          for (const std::string& s : *sets) command.insert(command.end(), {"--set", s});
        command.insert(command.end(), {"--seed", fmt::format("{}", seed)});
        if (!o.dir.empty()) {
          std::filesystem::path to = std::filesystem::path(o.dir) / directory_of(columns[c].name);
          if (!dimensions.empty()) to += fmt::format("-{}", table.blocks.size());
          if (table.seeds.size() > 1) to += fmt::format("-seed{}", seed);
          reports.push_back({"--report", to.string()});
        }
        commands.push_back(std::move(command));
        std::string label = block.over.empty() ? "" : fmt::format("{} ", fmt::join(block.over, " "));
        runs.push_back({table.blocks.size() - 1, c, runs.size(), label + fmt::format("seed {}", seed)});
      }
    }
  }

  std::vector<std::string> known;
  std::vector<std::vector<std::optional<double>>> figures(runs.size());
  std::vector<std::string> failures(runs.size());
  run_searched(table.search, commands, reports, o.jobs, !o.json && isatty(STDERR_FILENO) != 0, [&](SearchedRun run) {
    const RunResult& ended = run.run;
    failures[ended.index] = ended.failure;
    if (!ended.failure.empty()) return;
    if (known.empty())
      for (const auto& [name, value] : ended.report["summary"].items()) known.push_back(name);
    for (const std::string& m : table.metrics)
      figures[ended.index].push_back(table.search && m == table.search->search.path
                                         ? run.found
                                         : report::figure_of(ended.report, sweep::name_of_metric(m)));
  });
  for (std::size_t i = 0; i < runs.size(); ++i) {  // in the order of the seeds
    compare::SideBySide::Block& block = table.blocks[runs[i].block];
    if (!failures[i].empty()) block.failures[runs[i].column].push_back(runs[i].label + ": " + failures[i]);
    for (std::size_t m = 0; m < figures[i].size(); ++m)
      if (figures[i][m]) block.cells[m][runs[i].column].values.push_back(*figures[i][m]);
  }
  if (usual) {
    drop_empty(table, true);
  } else if (!known.empty()) {
    const std::vector<std::string> asked = table.metrics;
    drop_empty(table, false);
    for (const std::string& m : asked)
      if (std::ranges::find(table.metrics, m) == table.metrics.end())
        throw std::invalid_argument(fmt::format("--metric: no run has '{}'{}; there are {}", sweep::name_of_metric(m),
                                                spec::did_you_mean(sweep::name_of_metric(m), known),
                                                fmt::join(known, ", ")));
  }
  if (!o.dir.empty()) {
    const std::filesystem::path dir(o.dir);
    write_compared(dir / "compare.json", table.json().dump(2) + "\n");
    write_compared(dir / "compare.txt", table.text());
    write_compared(dir / "compare.html", table.html());
  }
  if (o.json)
    std::puts(table.json().dump(2).c_str());
  else
    std::fputs(table.text().c_str(), stdout);
  return table.failed() ? kFailed : kOk;
}

std::string vocabulary() {
  std::string text;
  for (const spec::ColumnWord& w : spec::column_words())
    text += fmt::format("  {:<10}{}{}\n", w.word, w.meaning, w.roce == w.uet ? "" : w.roce ? " (roce)" : " (uet)");
  return text;
}

}  // namespace

void add_compare_transports(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("compare-transports",
                                     "Run a lab with several transports and fabrics, and show them side by side");
  auto o = std::make_shared<CompareTransportsOptions>();
  command->add_option("SPEC", o->file, "Fabric file (YAML)")->required();
  command
      ->add_option("--column", o->columns,
                   "What is run side by side, e.g. --column roce/gbn/ecmp/pfc; again for another. Words in any order, "
                   "at most one of each kind; settings of its own behind a comma: "
                   "uet/rud/spray/trim,hosts.default.uet.window=256. Without it what the file says under compare, or "
                   "the usual four")
      ->type_name("WORDS[,PATH=VALUE...]");
  command->add_option("--over", o->over, "A key and its values, e.g. --over topology.spines=2,4: compared with each")
      ->type_name("PATH=V,V");
  command->add_option("--seeds", o->seeds, "Each run with each of these; the figures are medians")->type_name("A-B");
  command->add_option("--set", o->sets, "The same in all columns, as of railyard run")->type_name("PATH=VALUE");
  command
      ->add_option(
          "--metric", o->metrics,
          "Which rows: figures of a report's summary, or JSON pointers into report.json; -NAME or +NAME: lower "
          "or higher is better")
      ->delimiter(',')
      ->type_name("NAMES");
  add_search_options(*command, o->search);
  command->add_option("--report", o->dir, "Write compare.json, compare.txt, compare.html and each run's report here")
      ->type_name("DIR");
  command->add_option("--jobs", o->jobs, "Runs beside each other; without it one per processor")->type_name("N");
  command->add_flag("--json", o->json, "Print the table as JSON");
  command->footer("Words:\n" + vocabulary() +
                  "\nA run that fails is shown as failed, the others go on; the exit code is then 1.\n"
                  "\n"
                  "Examples:\n"
                  "  railyard compare-transports topologies/scenarios/allreduce-rails.yaml\n"
                  "  railyard compare-transports LAB.yaml --column roce/gbn/ecmp/pfc --column roce/sr/spray/lossy "
                  "--seeds 1-5\n"
                  "  railyard compare-transports LAB.yaml --over topology.spines=4,8 --report out\n"
                  "  railyard compare-transports LAB.yaml --search traffic.all.rate=1Gbps..100Gbps");
  command->callback([o, &exit_code] { exit_code = compare_transports(*o); });
}

}  // namespace railyard::tools
