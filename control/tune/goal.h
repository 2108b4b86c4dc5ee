// What is wanted of a configuration: figures to improve, with weights, and conditions to keep.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/report/summary.h"
#include "control/spec/condition.h"
#include "control/spec/spec.h"

namespace railyard::tune {

// A figure to improve. Names are those of summaries and of report::figure_of(), and of figures that are computed here:
//   pause_share  the largest share of the load interval for which PFC paused a class of a port
//   fct_p999     99.9th percentile of flow completion times (nearest rank)
struct Aim {
  std::string figure;
  report::FigureKind kind;
  double weight = 1;
};

enum class OverSeeds { kMean, kWorst };

struct Goal {
  std::vector<Aim> aims;  // at least one
  std::vector<spec::Condition::Term> conditions;
  // The most goodput that may be lost against the start; nothing: goodput is an aim.
  std::optional<double> most_goodput_lost;
  OverSeeds over_seeds = OverSeeds::kMean;

  std::string text() const;  // "fct_p99 (lower is better), pause_share <= 0.1%"
};

// Words for goals, beside names of figures: jct, p50, p99, p99.9, no-pfc, queue.
struct GoalWord {
  std::string_view word, figure, help;
};
const std::vector<GoalWord>& goal_words();
// "jct" of a lab with collectives is collective_time, else makespan. Other names are what they are.
std::string figure_of_word(const spec::Lab& lab, const std::string& word);
// Of a figure, also of those that are computed here.
report::FigureKind kind_of_figure(const std::string& figure);

// `goals`: "fct_p99", "goodput*0.5", "-/engine/windows" (lower is better), "+...". `conditions`: as --expect has them,
// of the whole run. Throws std::invalid_argument naming --goal or --subject-to: a figure without a better end, given
// twice, a weight that is not above 0, a condition on a part of the run. Whether figures exist is not looked at.
Goal parse_goal(const spec::Lab& lab, const std::vector<std::string>& goals, const std::vector<std::string>& conditions,
                double most_goodput_lost);

// The figures of one run, by name; nothing: the run has no such figure.
using Figures = std::map<std::string, std::optional<double>>;
std::optional<double> figure_of(const nlohmann::ordered_json& report, const std::string& figure);
Figures figures_of(const nlohmann::ordered_json& report, const std::vector<std::string>& names);

// What a configuration came to: the figures of a run per seed.
struct Outcome {
  std::vector<Figures> runs;          // of seeds whose run succeeded
  std::vector<std::string> failures;  // of the others

  std::optional<double> mean(const std::string& figure) const;
  std::optional<double> worst(const std::string& figure, report::Better better) const;
  std::optional<double> of(const Aim& aim, OverSeeds over) const;
};

// Lower is better; the start has 1 if it meets all conditions. The weighted mean of value / start's value (of figures
// that should be high, its inverse), plus, if a condition is missed, 1 and 10 x the relative excess. What fails, has
// not the figure, or completes less than the start has kFailedScore or more.
inline constexpr double kFailedScore = 1000;
double score(const Goal& goal, const Outcome& outcome, const Outcome& start);
bool meets_conditions(const Goal& goal, const Outcome& outcome, const Outcome& start);

// All figures that goals need, for figures_of().
std::vector<std::string> needed_figures(const Goal& goal);

}  // namespace railyard::tune
