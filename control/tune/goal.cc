#include "control/tune/goal.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "control/report/compare.h"
#include "control/sweep/table.h"

namespace railyard::tune {
namespace {

using Term = spec::Condition::Term;

double largest_pause_share(const nlohmann::ordered_json& report) {
  double most = 0;
  for (const auto& port : report["ports"])
    for (const auto& c : port["classes"])
      if (const auto share = c.find("pause_share"); share != c.end() && share->is_number())
        most = std::max(most, share->get<double>());
  return most;
}

std::optional<double> fct_p999(const nlohmann::ordered_json& report) {
  std::vector<double> times;
  for (const auto& flow : report["flows"])
    if (const auto fct = flow.find("fct_ns"); fct != flow.end() && fct->is_number())
      times.push_back(fct->get<double>());
  if (times.empty()) return std::nullopt;
  std::ranges::sort(times);
  const auto rank = static_cast<std::size_t>(std::ceil(0.999 * static_cast<double>(times.size())));
  return times[std::max<std::size_t>(rank, 1) - 1];
}

// "goodput*0.5".
Aim parse_aim(const spec::Lab& lab, const std::string& text) {
  const std::size_t star = text.rfind('*');
  Aim aim;
  std::string name = text.substr(0, star);
  if (star != text.npos) {
    const std::string said = text.substr(star + 1);
    const auto [end, error] = std::from_chars(said.data(), said.data() + said.size(), aim.weight);
    if (error != std::errc{} || end != said.data() + said.size() || !(aim.weight > 0) || !std::isfinite(aim.weight))
      throw std::invalid_argument(
          fmt::format("--goal: '{}': expected a weight above 0 behind '*', e.g. goodput*0.5", text));
  }
  name = figure_of_word(lab, name);
  aim.kind = kind_of_figure(name);
  aim.figure = sweep::name_of_metric(name);
  if (aim.kind.better == report::Better::kNeither)
    throw std::invalid_argument(fmt::format(
        "--goal: '{0}': neither more nor less of it is better; expected -{0} for less, +{0} for more", aim.figure));
  return aim;
}

// Value over start's, so that less is better; both may be 0.
double relative(double value, double start, report::Better better) {
  if (better == report::Better::kHigher) std::swap(value, start);
  if (start > 0) return std::max(value, 0.0) / start;
  return value <= 0 ? 1 : 2 + std::log1p(value);
}

double excess(const Term& term, double value) {
  if (term.holds(value)) return 0;
  return std::abs(value - term.value) / std::max({std::abs(term.value), std::abs(value), 1e-12});
}

struct Misses {
  int count = 0;
  double excess = 0;
};

Misses misses_of(const Goal& goal, const Outcome& outcome, const Outcome& start) {
  Misses m;
  const auto miss = [&](double by) {
    if (by <= 0) return;
    ++m.count;
    m.excess += by;
  };
  for (const Term& term : goal.conditions) {
    double worst = 0;
    for (const Figures& run : outcome.runs) {
      const auto found = run.find(term.what.figure);
      worst = std::max(worst, found == run.end() || !found->second ? 1.0 : excess(term, *found->second));
    }
    miss(worst);
  }
  const auto goodput = outcome.mean("goodput"), before = start.mean("goodput");
  if (goal.most_goodput_lost && goodput && before && *before > 0)
    miss((*before * (1 - *goal.most_goodput_lost) - *goodput) / *before);
  return m;
}

// It completed less than the start: its short queues are those of traffic that was not carried. Of flows without an
// end, goodput says so.
bool carries_less(const Outcome& outcome, const Outcome& start) {
  const auto now = outcome.mean("completed"), before = start.mean("completed");
  return before && (!now || *now < *before - 1e-9);
}

}  // namespace

const std::vector<GoalWord>& goal_words() {
  static const std::vector<GoalWord> words{
      {"jct", "collective_time", "job completion time: collective_time; without collectives makespan"},
      {"p50", "fct_p50", "median flow completion time"},
      {"p99", "fct_p99", "99th percentile of flow completion times"},
      {"p99.9", "fct_p999", "99.9th percentile"},
      {"no-pfc", "paused", "least time paused by PFC"},
      {"queue", "max_queue", "shortest deepest queue"},
  };
  return words;
}

std::string figure_of_word(const spec::Lab& lab, const std::string& word) {
  if (word == "jct" && lab.collectives.empty()) return "makespan";
  for (const GoalWord& w : goal_words())
    if (w.word == word) return std::string(w.figure);
  return word;
}

report::FigureKind kind_of_figure(const std::string& figure) {
  const std::string name = sweep::name_of_metric(figure);
  if (name == "pause_share") return {report::Unit::kShare, report::Better::kLower};
  if (name == "fct_p999") return {report::Unit::kNanoseconds, report::Better::kLower, true};
  return sweep::kind_of_metric(figure);
}

Goal parse_goal(const spec::Lab& lab, const std::vector<std::string>& goals, const std::vector<std::string>& conditions,
                double most_goodput_lost) {
  Goal goal;
  for (const std::string& text : goals) {
    Aim aim = parse_aim(lab, text);
    if (std::ranges::find(goal.aims, aim.figure, &Aim::figure) != goal.aims.end())
      throw std::invalid_argument(fmt::format("--goal: {} is given twice", aim.figure));
    goal.aims.push_back(std::move(aim));
  }
  for (const std::string& text : conditions) {
    const auto parsed = spec::parse_condition(text);
    if (!parsed) throw std::invalid_argument("--subject-to: " + parsed.error());
    for (const Term& term : parsed->terms) {
      if (!term.what.of_whole_run() || term.other)
        throw std::invalid_argument(fmt::format(
            "--subject-to: '{}': expected figures of the whole run compared with values, such as pause_share<=0.1%",
            text));
      goal.conditions.push_back(term);
    }
  }
  if (std::ranges::find(goal.aims, "goodput", &Aim::figure) == goal.aims.end())
    goal.most_goodput_lost = most_goodput_lost;
  return goal;
}

std::string Goal::text() const {
  std::string out;
  for (const Aim& a : aims)
    out += fmt::format("{}{}{} ({} is better)", out.empty() ? "" : ", ", a.figure,
                       aims.size() > 1 ? fmt::format(" x {:g}", a.weight) : "",
                       a.kind.better == report::Better::kHigher ? "higher" : "lower");
  for (const Term& t : conditions)
    out += fmt::format(", {} {} {}", spec::format(t.what), spec::word(t.comparison), t.value_text);
  if (most_goodput_lost) out += fmt::format(", goodput >= {:g} % of the start's", 100 * (1 - *most_goodput_lost));
  return out;
}

std::optional<double> figure_of(const nlohmann::ordered_json& report, const std::string& figure) {
  if (figure == "pause_share") return largest_pause_share(report);
  if (figure == "fct_p999") return fct_p999(report);
  return report::figure_of(report, figure);
}

Figures figures_of(const nlohmann::ordered_json& report, const std::vector<std::string>& names) {
  Figures out;
  for (const std::string& name : names) out[name] = figure_of(report, name);
  return out;
}

std::optional<double> Outcome::mean(const std::string& figure) const {
  double sum = 0;
  for (const Figures& run : runs) {
    const auto found = run.find(figure);
    if (found == run.end() || !found->second) return std::nullopt;
    sum += *found->second;
  }
  return runs.empty() ? std::nullopt : std::optional(sum / static_cast<double>(runs.size()));
}

std::optional<double> Outcome::worst(const std::string& figure, report::Better better) const {
  std::optional<double> out;
  for (const Figures& run : runs) {
    const auto found = run.find(figure);
    if (found == run.end() || !found->second) return std::nullopt;
    const double v = *found->second;
    out = !out ? v : better == report::Better::kHigher ? std::min(*out, v) : std::max(*out, v);
  }
  return out;
}

std::optional<double> Outcome::of(const Aim& aim, OverSeeds over) const {
  return over == OverSeeds::kMean ? mean(aim.figure) : worst(aim.figure, aim.kind.better);
}

double score(const Goal& goal, const Outcome& outcome, const Outcome& start) {
  if (!outcome.failures.empty() && start.failures.empty()) return kFailedScore;
  double sum = 0, weights = 0;
  for (const Aim& aim : goal.aims) {
    const auto now = outcome.of(aim, goal.over_seeds), before = start.of(aim, goal.over_seeds);
    if (!now) return kFailedScore;
    sum += aim.weight * (before ? relative(*now, *before, aim.kind.better) : 0.5);
    weights += aim.weight;
  }
  const Misses missed = misses_of(goal, outcome, start);
  const double value = sum / weights + (missed.count > 0 ? 1 + 10 * missed.excess : 0);
  return carries_less(outcome, start) ? kFailedScore + value : value;
}

bool meets_conditions(const Goal& goal, const Outcome& outcome, const Outcome& start) {
  return score(goal, outcome, start) < kFailedScore && misses_of(goal, outcome, start).count == 0;
}

std::vector<std::string> needed_figures(const Goal& goal) {
  std::vector<std::string> names{"goodput", "completed"};
  for (const Aim& a : goal.aims) names.push_back(a.figure);
  for (const Term& t : goal.conditions) names.push_back(t.what.figure);
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

}  // namespace railyard::tune
