// railyard tune: better settings for a workload and a goal, by search over runs in virtual time.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "control/base/json_text.h"
#include "control/spec/input_error.h"
#include "control/spec/load.h"
#include "control/spec/value.h"
#include "control/sweep/plan.h"
#include "control/sweep/table.h"
#include "control/tune/table.h"
#include "tools/railyard/changed_file.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/figures.h"
#include "tools/railyard/result_file.h"
#include "tools/railyard/runs.h"

namespace railyard::tools {
namespace {

struct TuneOptions {
  std::string file;
  std::vector<std::string> sets;
  std::vector<std::string> goals;
  std::vector<std::string> conditions;
  std::string most_lost = "2%";
  std::vector<std::string> knobs;
  std::vector<std::string> ranges;
  std::vector<int> classes;
  std::vector<std::string> trade_off;
  std::size_t runs = 120;
  std::string seeds;
  std::string check_seeds;
  std::string over_seeds = "mean";
  std::size_t jobs = 0;
  std::string resume;
  std::string output;
  std::string html;
  bool json = false;
  bool lists_knobs = false;
};

double share_option(const char* option, const std::string& text) {
  const auto r = spec::parse_probability(text);
  if (!r) throw std::invalid_argument(fmt::format("{}: {}", option, r.error()));
  return static_cast<double>(r->numerator) / static_cast<double>(r->denominator);
}

spec::Lab load_for_tuning(const std::string& file, const std::vector<std::string>& sets) {
  spec::Lab lab = spec::load(file, sets);
  if (lab.run.clock != spec::Clock::kVirtual)
    throw InputError(fmt::format("{}: run.clock is wall; expected virtual", file));
  if (lab.traffic.empty() && lab.collectives.empty())
    throw InputError(fmt::format("{}: there is no workload to tune for; expected `traffic:` or `collectives:`", file));
  return lab;
}

// Names that only the search computes are no figures of reports.
void check_tune_figures(const std::vector<std::string>& names, const char* option) {
  std::vector<std::string> of_reports;
  for (const std::string& name : names)
    if (name != "pause_share" && name != "fct_p999") of_reports.push_back(name);
  check_figures(of_reports, option);
}

std::array<tune::Aim, 2> trade_off_of(const TuneOptions& o, const spec::Lab& lab, const tune::Goal& goal) {
  if (o.trade_off.empty()) return tune::usual_trade_off(goal);
  if (o.trade_off.size() != 2) throw std::invalid_argument("--trade-off: expected two figures, e.g. fct_p99,goodput");
  std::array<tune::Aim, 2> out;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string name = tune::figure_of_word(lab, o.trade_off[i]);
    out[i] = {sweep::name_of_metric(name), tune::kind_of_figure(name)};
    check_tune_figures({out[i].figure}, "--trade-off");
    if (out[i].kind.better == report::Better::kNeither)
      throw std::invalid_argument(fmt::format(
          "--trade-off: '{0}': neither more nor less of it is better; expected -{0} for less, +{0} for more",
          out[i].figure));
  }
  return out;
}

tune::SearchPlan plan_tuning(const TuneOptions& o, const spec::Lab& lab) {
  tune::SearchPlan plan;
  plan.goal = tune::parse_goal(lab, o.goals, o.conditions, share_option("--lose", o.most_lost));
  plan.goal.over_seeds = o.over_seeds == "worst" ? tune::OverSeeds::kWorst : tune::OverSeeds::kMean;
  for (const tune::Aim& a : plan.goal.aims) check_tune_figures({a.figure}, "--goal");
  for (const auto& term : plan.goal.conditions) check_tune_figures({term.what.figure}, "--subject-to");
  plan.trade_off = trade_off_of(o, lab, plan.goal);
  const std::uint64_t first = lab.run.seed.value;
  plan.seeds = o.seeds.empty() ? std::vector{first, first + 1, first + 2} : sweep::parse_seeds(o.seeds);
  if (o.check_seeds.empty()) {
    for (std::size_t i = 0; i < plan.seeds.size(); ++i) plan.check_seeds.push_back(plan.seeds.back() + 1 + i);
  } else {
    try {
      plan.check_seeds = sweep::parse_seeds(o.check_seeds);
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument("--check-" + std::string(error.what()).substr(2));
    }
  }
  for (const std::uint64_t s : plan.check_seeds)
    if (std::ranges::find(plan.seeds, s) != plan.seeds.end())
      throw std::invalid_argument(fmt::format("--check-seeds: {} is among --seeds; expected others", s));
  plan.runs = o.runs;
  if (const std::size_t least = tune::least_runs(plan.seeds.size(), plan.check_seeds.size()); plan.runs < least)
    throw std::invalid_argument(fmt::format(
        "--budget: {} runs; expected at least {}: three points with {} seeds, and a check with {} other seeds",
        plan.runs, least, plan.seeds.size(), plan.check_seeds.size()));
  return plan;
}

// What all runs of the search have in common.
class Runner {
 public:
  Runner(const TuneOptions& o, const tune::SearchPlan& plan) : o_(o), kept_(kept_runs(o.resume)), most_runs_(plan.runs) {
    figures_ = tune::needed_figures(plan.goal);
    for (const tune::Aim& a : plan.trade_off) figures_.push_back(a.figure);
    figures_.insert(figures_.end(), tune::shown_figures().begin(), tune::shown_figures().end());
    more_options_ = options_for(figures_);
  }

  tune::Outcome operator()(const std::vector<std::string>& sets, const std::vector<std::uint64_t>& seeds) {
    std::vector<std::vector<std::string>> commands;
    for (const std::uint64_t seed : seeds) {
      std::vector<std::string>& c = commands.emplace_back(std::vector{o_.file});
      for (const auto* all : {&o_.sets, &sets})
        for (const std::string& s : *all) c.insert(c.end(), {"--set", s});
      c.insert(c.end(), {"--seed", fmt::format("{}", seed)});
      c.insert(c.end(), more_options_.begin(), more_options_.end());
    }
    // In the order of the seeds, whichever ends first.
    std::vector<RunResult> ended(seeds.size());
    run_all(commands, {.parallel = o_.jobs, .kept = kept_ ? &*kept_ : nullptr}, [&](RunResult r) { ended[r.index] = std::move(r); });
    tune::Outcome out;
    for (std::size_t i = 0; i < seeds.size(); ++i) {
      if (ended[i].exit_code == kUnbalanced) unbalanced = true;
      if (ended[i].failure.empty())
        out.runs.push_back(tune::figures_of(ended[i].report, figures_));
      else
        out.failures.push_back(fmt::format("seed {}: {}", seeds[i], ended[i].failure));
    }
    runs_ += seeds.size();
    if (!o_.json && isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r  {} of at most {} runs   ", runs_, most_runs_);
    return out;
  }

  bool unbalanced = false;

 private:
  const TuneOptions& o_;
  std::optional<KeptRuns> kept_;
  std::vector<std::string> figures_, more_options_;
  std::size_t runs_ = 0, most_runs_;
};

int run_tune(const TuneOptions& o) {
  if (o.lists_knobs) {
    std::fputs(tune::knobs_text().c_str(), stdout);
    return kOk;
  }
  if (o.file.empty()) throw CLI::RequiredError("FILE");
  if (o.goals.empty()) throw CLI::RequiredError("--goal");
  const spec::Lab lab = load_for_tuning(o.file, o.sets);
  tune::Report report{o.file, lab.name, {}, plan_tuning(o, lab), {}};
  report.knobs = tune::choose_knobs(lab, o.knobs, o.ranges, o.classes);
  const std::string taker = taker_of_standard_output({{"--output", o.output}, {"--html", o.html}}, o.json);
  std::optional<ResultFile> output, html;
  if (!o.output.empty()) output.emplace(o.output, "--output");
  if (!o.html.empty()) html.emplace(o.html, "--html");

  Runner runner(o, report.plan);
  report.result = tune::search(lab, report.knobs, report.plan, std::ref(runner));
  if (!o.json && isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r{:60}\r", "");
  if (o.json)
    std::puts(json_text(tune::json(report), 2).c_str());
  else if (taker.empty())
    std::fputs(tune::text(report).c_str(), stdout);
  if (output) {
    std::vector<std::string> sets = o.sets;
    const auto& kept = report.result.points[report.result.kept()].sets;
    sets.insert(sets.end(), kept.begin(), kept.end());
    output->write(changed_file(
        o.file, sets,
        fmt::format("{}, by railyard tune: {}\n{}", o.file, report.plan.goal.text(), tune::conclusion(report))));
  }
  if (html) html->write(tune::page(report));
  return runner.unbalanced ? kUnbalanced : kOk;
}

std::string goal_words_text() {
  std::vector<std::string> words;
  for (const tune::GoalWord& w : tune::goal_words()) words.emplace_back(w.word);
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

void add_tune(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<TuneOptions>();
  command->add_option("FILE", o->file, "Fabric file (YAML)");
  command->add_option("--set", o->sets, "Set in all runs, as in railyard run")->type_name("PATH=VALUE");
  command
      ->add_option("--goal", o->goals,
                   fmt::format("What to improve: {}, or a figure of docs/metrics.md; with *WEIGHT; repeat for more",
                               goal_words_text()))
      ->type_name("FIGURE");
  command
      ->add_option("--subject-to", o->conditions,
                   "Condition to meet, e.g. 'pause_share<=0.1%' or 'drops=0 and max_queue<=500KB'; repeat for more")
      ->type_name("CONDITION");
  command->add_option("--lose", o->most_lost, "Goodput that may be lost against the start, unless it is a goal")
      ->type_name("PART")
      ->capture_default_str();
  command
      ->add_option("--knobs", o->knobs, "Settings to tune (default: those of --list that apply, not those on request)")
      ->delimiter(',')
      ->type_name("NAMES");
  command->add_option("--range", o->ranges, "Bounds of a knob, e.g. ecn.kmin=10KB..2MB; repeat for more")
      ->type_name("KNOB=FROM..TO");
  command->add_option("--class", o->classes, "Traffic classes to tune (default: all that carry traffic)")
      ->delimiter(',')
      ->type_name("N");
  command->add_option("--budget", o->runs, "Maximum number of runs, the check included")
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--seeds", o->seeds, "Seeds of every point (default: three, from run.seed)")->type_name("A-B");
  command
      ->add_option("--check-seeds", o->check_seeds,
                   "Seeds of the last check of the best point against the start (default: as many, the next)")
      ->type_name("A-B");
  command->add_option("--score", o->over_seeds, "Figure of several seeds")
      ->check(CLI::IsMember({"mean", "worst"}))
      ->capture_default_str();
  command->add_option("--trade-off", o->trade_off, "Two figures of the trade-off curve (default: goal and goodput)")
      ->delimiter(',')
      ->type_name("A,B");
  command->add_option("--jobs", o->jobs, "Parallel runs (default: one per processor)")->type_name("N");
  add_resume_option(*command, o->resume);
  command->add_option("-o,--output", o->output, "Write the fabric file with the settings found")->type_name("FILE");
  command->add_option("--html", o->html, "Write a page with the trade-off curve to FILE")->type_name("FILE");
  command->add_flag("--list", o->lists_knobs, "List the knobs with their bounds");
  command->add_flag("--json", o->json, "Print all points as JSON");
  command->footer(
      "The optimisers are NLopt's DIRECT-L, then SBPLX. All points run with the same seeds. The best point is run "
      "again with\n"
      "other seeds; if it is worse than the start there, the start is kept. `railyard docs` has the method "
      "(search.md).\n"
      "FILE `-` is standard output, instead of the table.\n"
      "\n"
      "Examples:\n"
      "  railyard tune topologies/scenarios/roce-ecn-thresholds.yaml --goal queue --budget 60\n"
      "  railyard tune LAB.yaml --goal p99 --subject-to 'pause_share<=0.1%' -o better.yaml --html tune.html\n"
      "  railyard tune LAB.yaml --goal no-pfc --lose 1% --knobs ecn.kmin,ecn.kmax,pfc.alpha\n"
      "  railyard tune --list");
  command->callback([o, &exit_code] { exit_code = run_tune(*o); });
}

}  // namespace railyard::tools
