// `railyard compare-transports`: one lab, the same traffic over several transports and fabrics, side by side.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "control/base/json_text.h"
#include "control/compare/clash.h"
#include "control/compare/notes.h"
#include "control/compare/overrides.h"
#include "control/compare/side_by_side.h"
#include "control/report/compare.h"
#include "control/report/junit.h"
#include "control/spec/column.h"
#include "control/spec/load.h"
#include "control/spec/override_paths.h"
#include "control/spec/spec_error.h"
#include "control/sweep/plan.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/expect_options.h"
#include "tools/railyard/figures.h"
#include "tools/railyard/point_check.h"
#include "tools/railyard/result_file.h"
#include "tools/railyard/runs.h"
#include "tools/railyard/searches.h"
#include "tools/railyard/write_file.h"

namespace railyard::tools {
namespace {

struct CompareTransportsOptions {
  std::string file;
  std::vector<std::string> columns;
  std::vector<std::string> over;
  std::vector<std::string> sets;
  std::vector<std::string> metrics;
  std::vector<std::string> expect;
  std::string junit;
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
    "completed", "collective_time", "collective_max", "busbw",        "efficiency", "mfu",           "tokens_per_second",
    "utilisation", "makespan",     "goodput",        "jain",         "fct_p50",    "fct_p99",       "fct_max",
    "out_of_order", "lost",        "retransmitted",  "drops",        "trimmed",    "ecn_marked",    "xoff_sent",
    "paused",    "max_queue",      "peak_buffer"};

// One process each.
struct ComparedRun {
  std::size_t block, column;
  bool first;  // of its seeds
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
    if (!known.insert(text).second) throw std::invalid_argument(fmt::format("--column: '{}' is given twice", text));
    columns.push_back(*column);
    // Those that differ in their settings only are told apart by them.
    if (std::ranges::count(columns, column->name, &spec::Column::name) > 1) columns.back().name = text;
  }
  return columns;
}

// Of the usual ones: takes away what no run has, and what is 0 in all of them.
void drop_empty(compare::SideBySide& table) {
  for (std::size_t m = table.metrics.size(); m-- > 0;) {
    const bool any = std::ranges::any_of(table.blocks, [&](const compare::SideBySide::Block& b) {
      return std::ranges::any_of(b.cells[m], [&](const sweep::Cell& cell) {
        return std::ranges::any_of(cell.values, [](double value) { return value != 0; });
      });
    });
    if (any) continue;
    table.metrics.erase(table.metrics.begin() + static_cast<std::ptrdiff_t>(m));
    for (compare::SideBySide::Block& b : table.blocks) b.cells.erase(b.cells.begin() + static_cast<std::ptrdiff_t>(m));
  }
}

// Of the messages of each traffic that has so many that it says something.
void add_distributions(const nlohmann::ordered_json& report, std::size_t column, std::size_t columns,
                       compare::SideBySide::Block& block) {
  constexpr std::uint64_t kLeastSamples = 20;
  for (const auto& t : report["traffic"]) {
    const auto& messages = t["message_ns"];
    if (messages.is_null() || messages["samples"].get<std::uint64_t>() < kLeastSamples) continue;
    const std::string name = fmt::format("{}: time of a message", t["name"].get<std::string>());
    auto at = std::ranges::find(block.distributions, name, &compare::SideBySide::Distribution::name);
    if (at == block.distributions.end()) {
      block.distributions.push_back({name, std::vector<std::vector<std::pair<double, double>>>(columns)});
      at = block.distributions.end() - 1;
    }
    for (const auto& point : messages["points"])
      at->points[column].emplace_back(point[0].get<double>(), point[1].get<double>());
  }
}

std::vector<std::string> joined_sets(std::initializer_list<const std::vector<std::string>*> parts) {
  std::vector<std::string> all;
  for (const auto* part : parts) all.insert(all.end(), part->begin(), part->end());
  return all;
}

// Each run has one of --seeds, whatever these say.
void refuse_seed(const std::vector<std::string>& sets, const char* where) {
  for (const std::string& set : sets)
    if (set.starts_with("run.seed="))
      throw std::invalid_argument(
          fmt::format("{}: {}: seeds are the same in all columns; expected --seeds", where, set));
}

// The columns of a lab with these settings.
std::vector<std::vector<compare::Override>> overrides_of(const std::string& file, const spec::Lab& lab,
                                                         const std::vector<std::string>& sets,
                                                         const std::vector<spec::Column>& columns) {
  // What can be taken away is there.
  const auto is_said = [&](const std::string& path) {
    const std::vector<std::string> without{path + "="};
    try {
      static_cast<void>(spec::override_paths(file, joined_sets({&sets, &without})));
      return true;
    } catch (const spec::SpecError&) {
      return false;
    }
  };
  std::vector<std::vector<compare::Override>> all;
  for (const spec::Column& c : columns) all.push_back(compare::overrides(lab, c, is_said));
  return all;
}

// "column roce/gbn/ecmp sets qos.default.classes.3.path=ecmp"
std::string what_it_does(const std::string& column, const compare::Clash& clash) {
  return clash.removes() ? fmt::format("column {} removes {}", column, clash.by.set.substr(0, clash.by.set.size() - 1))
                         : fmt::format("column {} sets {}", column, clash.by.set);
}

// A word of a column decides what it is about: a value of the user's for the same key would have no effect, and head
// figures that it has no part in. `option` is where the user says it. A column's own settings may be exceptions.
void refuse_clashes(const std::vector<compare::Clash>& clashes, const char* option, const std::string& column) {
  for (const compare::Clash& clash : clashes)
    if (!clash.removes() && !clash.by.word.empty())
      throw std::invalid_argument(
          fmt::format("{}: {}: {}, by its word '{}'; expected columns without this word, or "
                      "another key",
                      option, clash.setting, what_it_does(column, clash), clash.by.word));
}

// Of the file's generators, which columns carry only with another transport: which one is for each column to say.
std::vector<std::string> without_transports(std::vector<std::string> sets) {
  std::erase_if(sets, [](const std::string& set) { return set.substr(0, set.find('=')).ends_with(".transport"); });
  return sets;
}

int compare_transports(CompareTransportsOptions o) {
  spec::Lab lab = spec::load(o.file, o.sets);
  add_expectations(o.expect, o.sets.empty(), lab);
  const std::string taker = taker_of_standard_output({{"--junit", o.junit}}, o.json);
  std::optional<ResultFile> junit;
  if (!o.junit.empty()) junit.emplace(o.junit, "--junit");
  const auto unless_said = [](auto& said, const auto& of_file) {
    if (said.empty()) said = of_file;
  };
  unless_said(o.columns, lab.compare.columns.empty() ? kUsualColumns : lab.compare.columns);
  unless_said(o.over, lab.compare.over);
  unless_said(o.seeds, lab.compare.seeds);
  unless_said(o.metrics, lab.compare.metrics);
  const bool usual = o.metrics.empty();

  compare::SideBySide table;
  table.spec = lab.name;
  table.seeds = o.seeds.empty() ? std::vector{lab.run.seed.value} : sweep::parse_seeds(o.seeds);
  table.metrics = usual ? kComparedMetrics : o.metrics;
  check_figures(table.metrics, "--metric");
  const std::vector<std::string> more_options = options_for(table.metrics);
  table.search = plan_of(o.search, lab.compare);
  if (table.search) table.metrics.insert(table.metrics.begin(), table.search->search.path);
  table.method = {lab.compare.method, lab.compare.profile, lab.compare.deviations};
  std::vector<sweep::Dimension> dimensions;
  for (const std::string& text : o.over) dimensions.push_back(sweep::parse_dimension(text));
  const std::vector<spec::Column> columns = read_columns(o.columns);
  for (const spec::Column& c : columns) {
    refuse_seed(c.sets, "--column");
    table.columns.push_back({c.name});
  }
  const std::vector<std::vector<compare::Override>> of_file = overrides_of(o.file, lab, o.sets, columns);
  for (std::size_t c = 0; c < columns.size(); ++c)
    refuse_clashes(compare::clashes(o.file, without_transports(o.sets), of_file[c]), "--set", columns[c].name);
  const std::vector<std::string> search_set =
      table.search ? std::vector{table.search->set(0)} : std::vector<std::string>{};

  // What is wrong with any of it is said before anything runs.
  const std::vector<sweep::Point> points = sweep::points(dimensions, table.seeds.size() * columns.size());
  std::vector<std::vector<std::string>> over;  // by block: settings
  const auto note = [&](std::string text) {
    if (std::ranges::find(table.notes, text) == table.notes.end()) table.notes.push_back(std::move(text));
  };
  bool wall = false;
  std::vector<std::size_t> choices;
  for (const sweep::Dimension& d : dimensions) choices.push_back(d.values.size());
  choices.push_back(columns.size());
  PointCheck check(choices);
  for (const sweep::Point& point : points) {
    compare::SideBySide::Block& block = table.blocks.emplace_back();
    std::vector<std::string>& sets = over.emplace_back();
    for (std::size_t d = 0; d < point.size(); ++d) {
      block.over.push_back(dimensions[d].path + "=" + dimensions[d].values[point[d]]);
      for (std::string& set : dimensions[d].sets(point[d])) sets.push_back(std::move(set));
    }
    refuse_seed(sets, "--over");
    if (table.search)
      for (const compare::Clash& clash :
           compare::clashes(o.file, sets, {{table.search->search.path + "=searched", ""}}))
        throw std::invalid_argument(
            fmt::format("--over: {}: --search varies this key; expected another one", clash.setting));
    // Which classes a column changes may be what the comparison is over.
    std::vector<std::vector<compare::Override>> overrides = of_file;
    try {
      const spec::Lab here = spec::load(o.file, joined_sets({&o.sets, &sets}));
      overrides = overrides_of(o.file, here, joined_sets({&o.sets, &sets}), columns);
    } catch (const spec::SpecError&) {  // it may be a lab with the columns only
    }
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const std::vector<compare::Clash> clashes = compare::clashes(o.file, sets, overrides[c]);
      refuse_clashes(clashes, "--over", columns[c].name);
      for (const compare::Clash& clash : clashes)
        note(fmt::format("{}: {}, so {} has no effect there", what_it_does(columns[c].name, clash),
                         clash.by.word.empty() ? "a setting of its own" : fmt::format("word '{}'", clash.by.word),
                         clash.setting));
      block.setups.push_back({compare::sets_of(overrides[c]), {}});
    }
    block.cells.assign(table.metrics.size(), std::vector<sweep::Cell>(columns.size()));
    block.failures.resize(columns.size());
    block.incomplete.resize(columns.size());
    block.delivery.resize(columns.size());
    if (!o.dir.empty()) block.reports.resize(columns.size());
    std::vector<spec::Lab> labs;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      std::vector<std::size_t> choice = point;
      choice.push_back(c);
      std::optional<spec::Lab> loaded =
          check.load(o.file, joined_sets({&o.sets, &sets, &block.setups[c].sets, &search_set}), choice,
                     "column " + columns[c].name);
      if (!loaded) continue;
      wall = wall || loaded->run.clock == spec::Clock::kWall;
      block.setups[c].facts = compare::facts_of(*loaded);
      labs.push_back(std::move(*loaded));
    }
    if (labs.size() == columns.size()) block.settings = compare::differing_settings(labs);
    for (std::string& text : compare::background_notes(labs)) note(std::move(text));
  }
  check.finish();
  if (wall) {
    runs_under_wall_clock(table.search.has_value(), o.jobs);
    table.method.clock = "wall";
    table.notes.emplace_back(kWallClockNote);
    for (const std::string& m : kWallClockMetrics) {
      table.metrics.push_back(m);
      for (compare::SideBySide::Block& block : table.blocks) block.cells.emplace_back(columns.size());
    }
  }
  if (!o.dir.empty()) make_directory(o.dir, "--report");

  std::vector<ComparedRun> runs;
  std::vector<std::vector<std::string>> commands;
  std::vector<std::vector<std::string>> reports;
  for (std::size_t b = 0; b < table.blocks.size(); ++b) {
    compare::SideBySide::Block& block = table.blocks[b];
    for (std::size_t c = 0; c < columns.size(); ++c) {
      for (const std::uint64_t seed : table.seeds) {
        std::vector<std::string> command{o.file};
        for (const std::string& s : joined_sets({&o.sets, &over[b], &block.setups[c].sets}))
          command.insert(command.end(), {"--set", s});
        command.insert(command.end(), {"--seed", fmt::format("{}", seed)});
        command.insert(command.end(), more_options.begin(), more_options.end());
        for (std::string& word : expect_arguments(o.expect)) command.push_back(std::move(word));
        if (!o.dir.empty()) {
          std::string to = directory_of(columns[c].name);
          if (!dimensions.empty()) to += fmt::format("-{}", b + 1);
          if (table.seeds.size() > 1) to += fmt::format("-seed{}", seed);
          reports.push_back({"--report", (std::filesystem::path(o.dir) / to).string()});
          block.reports[c].push_back(std::move(to));
        }
        commands.push_back(std::move(command));
        std::string label = block.over.empty() ? "" : fmt::format("{} ", fmt::join(block.over, " "));
        runs.push_back({b, c, seed == table.seeds.front(), label + fmt::format("seed {}", seed)});
      }
    }
  }

  std::vector<std::vector<std::optional<double>>> figures(runs.size());
  std::vector<std::string> failures(runs.size());
  std::vector<report::JunitSuite> suites(runs.size());
  std::vector<std::vector<std::string>> misses(runs.size());
  ExitCode code = kOk;
  std::vector<std::vector<RunDone>> done(table.blocks.size(), std::vector<RunDone>(columns.size()));
  run_searched(table.search, commands, reports, {.parallel = o.jobs, .shows = !o.json && isatty(STDERR_FILENO) != 0}, [&](SearchedRun run) {
    const RunResult& ended = run.run;
    failures[ended.index] = ended.failure;
    code = worse(code, exit_code_of(ended));
    const ComparedRun& of = runs[ended.index];
    const std::string label = fmt::format("{} {} {}", lab.name, table.columns[of.column].name, of.label);
    suites[ended.index] = ended.report.is_object() ? report::junit_suite(ended.report, label)
                                                   : report::junit_failure(label, ended.failure);
    if (ended.report.is_object()) misses[ended.index] = missed(ended.report);
    if (!ended.failure.empty()) return;
    const ComparedRun& r = runs[ended.index];
    for (const std::string& m : table.metrics)
      figures[ended.index].push_back(table.search && m == table.search->search.path
                                         ? run.found
                                         : report::figure_of(ended.report, sweep::name_of_metric(m)));
    done[r.block][r.column].add(done_of(ended.report));
    table.blocks[r.block].delivery[r.column].add(ended.report);
    if (r.first) add_distributions(ended.report, r.column, columns.size(), table.blocks[r.block]);
  });
  for (std::size_t i = 0; i < runs.size(); ++i) {  // in the order of the seeds
    compare::SideBySide::Block& block = table.blocks[runs[i].block];
    if (!failures[i].empty()) block.failures[runs[i].column].push_back(runs[i].label + ": " + failures[i]);
    for (std::size_t m = 0; m < figures[i].size(); ++m)
      if (figures[i][m]) block.cells[m][runs[i].column].values.push_back(*figures[i][m]);
  }
  for (std::size_t b = 0; b < table.blocks.size(); ++b) {
    std::ranges::sort(table.blocks[b].distributions, {}, &compare::SideBySide::Distribution::name);
    for (std::size_t c = 0; c < columns.size(); ++c) table.blocks[b].incomplete[c] = done[b][c].text();
  }
  if (usual) drop_empty(table);
  if (junit) junit->write(report::junit_xml(suites));
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (const std::string& miss : misses[i]) {
      table.notes.push_back(fmt::format("expectation missed: {} {}: {}", table.columns[runs[i].column].name,
                                        runs[i].label, miss));
      fmt::print(stderr, "railyard: {}\n", table.notes.back());
    }
  if (!o.dir.empty()) {
    const std::filesystem::path dir(o.dir);
    write_file(dir / "compare.json", json_text(table.json(), 2) + "\n", "--report");
    write_file(dir / "compare.txt", table.text(), "--report");
    write_file(dir / "compare.html", table.html(), "--report");
  }
  if (o.json)
    std::puts(json_text(table.json(), 2).c_str());
  else if (taker.empty())
    std::fputs(table.text().c_str(), stdout);
  return code;
}

std::string vocabulary() {
  std::string text;
  for (const spec::ColumnWord& w : spec::column_words())
    text += fmt::format("  {:<10}{}{}\n", w.word, w.meaning, w.roce == w.uet ? "" : w.roce ? " (roce)" : " (uet)");
  return text;
}

}  // namespace

void add_compare_transports(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<CompareTransportsOptions>();
  command->add_option("SPEC", o->file, "Fabric file (YAML)")->required();
  command
      ->add_option("--column", o->columns,
                   "One column, e.g. --column roce/gbn/ecmp/pfc; repeat for more. Words in any order, at most one of "
                   "each kind; add settings after a comma: uet/rud/spray/trim,hosts.default.uet.window=256. Default: "
                   "the file's `compare`, or four common ones")
      ->type_name("WORDS[,PATH=VALUE...]");
  command
      ->add_option("--over", o->over,
                   "A key and its values, e.g. --over topology.spines=2,4: one table per value; keys joined by + take "
                   "the same value")
      ->type_name("PATH=V,V");
  command->add_option("--seeds", o->seeds, "Repeat each run with each of these seeds; figures are medians")
      ->type_name("A-B");
  command->add_option("--set", o->sets, "Set in all columns, as in railyard run")->type_name("PATH=VALUE");
  command
      ->add_option("--metric", o->metrics,
                   "Rows: figures of a report's summary, or JSON pointers into report.json; -NAME or +NAME: lower or "
                   "higher is better")
      ->delimiter(',')
      ->type_name("NAMES");
  add_expect_options(*command, o->expect, o->junit);
  add_search_options(*command, o->search);
  command
      ->add_option("--report", o->dir,
                   "Output directory: compare.json, compare.txt, compare.html and each run's report")
      ->type_name("DIR");
  command->add_option("--jobs", o->jobs, "Parallel runs (default: one per processor)")->type_name("N");
  command->add_flag("--json", o->json, "Print the table as JSON");
  command->footer("Words:\n" + vocabulary() +
                  "\nA failed run is shown as failed; the others continue. The exit code is that of the worst run.\n"
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
