#include "control/tune/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

#include <fmt/format.h>

#include "control/tune/optimiser.h"
#include "control/tune/pareto.h"

namespace railyard::tune {
namespace {

constexpr double kGlobalPart = 0.45, kLocalPart = 0.8;  // of the budget, up to there
constexpr std::size_t kCallsPerPoint = 50;  // most of a method's calls may be for points that were run already

class Searching {
 public:
  Searching(const spec::Lab& lab, const std::vector<ChosenKnob>& knobs, const SearchPlan& plan,
            const Evaluate& evaluate)
      : lab_(lab), knobs_(knobs), plan_(plan), evaluate_(evaluate) {
    const std::size_t per_check = 2 * plan.check_seeds.size();
    most_points_ = (plan.runs - std::min(plan.runs, per_check)) / plan.seeds.size();
  }

  Result run() {
    std::vector<double> start;
    for (const ChosenKnob& k : knobs_) start.push_back(k.start);
    const Point& first = result_.points[add(start)];
    if (first.outcome.runs.empty())
      throw std::runtime_error(fmt::format("the start cannot be run: {}", first.outcome.failures.front()));
    for (const Aim& aim : plan_.goal.aims)
      if (!first.outcome.of(aim, plan_.goal.over_seeds))
        throw std::invalid_argument(
            fmt::format("--goal: runs of this file have no figure {}; expected one that they have", aim.figure));
    const auto by_score = [&](const std::vector<double>& at) { return result_.points[point_at(at)].score; };
    phase(Method::kGlobal, kGlobalPart, by_score);
    phase(Method::kLocal, kLocalPart, by_score);
    phase(Method::kLocal, 1, [&](const std::vector<double>& at) { return middle(result_.points[point_at(at)]); });
    finish();
    return std::move(result_);
  }

 private:
  // The index of the point with these values of the knobs; runs it if it is new.
  std::size_t add(const std::vector<double>& values) {
    std::vector<std::string> sets = knob_sets(lab_, knobs_, values);
    if (const auto known = known_.find(sets); known != known_.end()) return known->second;
    if (result_.points.size() >= budget_) throw BudgetSpent{};
    Point p{values, sets, evaluate_(sets, plan_.seeds)};
    result_.runs += plan_.seeds.size();
    const Outcome& start = result_.points.empty() ? p.outcome : result_.points.front().outcome;
    p.score = score(plan_.goal, p.outcome, start);
    p.meets = meets_conditions(plan_.goal, p.outcome, start);
    result_.points.push_back(std::move(p));
    known_[sets] = result_.points.size() - 1;
    return result_.points.size() - 1;
  }
  std::size_t point_at(const std::vector<double>& positions) { return add(knob_values(knobs_, positions)); }

  std::size_t best_by(const std::function<double(const Point&)>& cost) const {
    const auto best = std::ranges::min_element(result_.points, {}, cost);
    return static_cast<std::size_t>(best - result_.points.begin());
  }

  void phase(Method method, double until, const std::function<double(const std::vector<double>&)>& objective) {
    budget_ = static_cast<std::size_t>(std::floor(static_cast<double>(most_points_) * until));
    if (result_.points.size() >= budget_) return;
    const bool is_last = until >= 1;
    const std::size_t from =
        is_last ? best_by([&](const Point& p) { return middle(p); }) : best_by([](const Point& p) { return p.score; });
    std::vector<double> positions;
    for (std::size_t i = 0; i < knobs_.size(); ++i)
      positions.push_back(knobs_[i].position(result_.points[from].values[i]));
    minimise(method, positions, kCallsPerPoint * (budget_ - result_.points.size()), objective);
  }

  std::optional<Pair> pair_of(const Point& p) const {
    const auto a = p.outcome.mean(plan_.trade_off[0].figure), b = p.outcome.mean(plan_.trade_off[1].figure);
    if (p.score >= kFailedScore || !a || !b) return std::nullopt;
    return Pair{*a, *b};
  }

  // Distance from the best that was seen of both figures of the curve (augmented Chebyshev, with the ranges seen as
  // units).
  double middle(const Point& p) const {
    const auto pair = pair_of(p);
    if (!pair) return kFailedScore;
    const auto part = [&](double Pair::*figure, report::Better better) {
      double least = std::numeric_limits<double>::max(), most = std::numeric_limits<double>::lowest();
      for (const Point& other : result_.points)
        if (const auto o = pair_of(other)) {
          least = std::min(least, (*o).*figure);
          most = std::max(most, (*o).*figure);
        }
      if (most <= least) return 0.0;
      const double at = ((*pair).*figure - least) / (most - least);
      return better == report::Better::kHigher ? 1 - at : at;
    };
    const double a = part(&Pair::first, plan_.trade_off[0].kind.better);
    const double b = part(&Pair::second, plan_.trade_off[1].kind.better);
    return std::max(a, b) + 0.01 * (a + b);
  }

  void finish() {
    result_.best = best_by([](const Point& p) { return p.score; });
    std::vector<std::optional<Pair>> pairs;
    for (const Point& p : result_.points) pairs.push_back(pair_of(p));
    result_.front = pareto_front(pairs, plan_.trade_off[0].kind.better, plan_.trade_off[1].kind.better);
    if (result_.best == 0) return;
    result_.checked_start = evaluate_({}, plan_.check_seeds);
    result_.checked_best = evaluate_(result_.points[result_.best].sets, plan_.check_seeds);
    result_.runs += 2 * plan_.check_seeds.size();
    result_.checked_start_score = score(plan_.goal, *result_.checked_start, *result_.checked_start);
    result_.checked_score = score(plan_.goal, *result_.checked_best, *result_.checked_start);
  }

  const spec::Lab& lab_;
  const std::vector<ChosenKnob>& knobs_;
  const SearchPlan& plan_;
  const Evaluate& evaluate_;
  std::map<std::vector<std::string>, std::size_t> known_;
  std::size_t most_points_ = 0;
  std::size_t budget_ = 1;
  Result result_;
};

}  // namespace

std::size_t least_runs(std::size_t seeds, std::size_t check_seeds) { return 3 * seeds + 2 * check_seeds; }

std::array<Aim, 2> usual_trade_off(const Goal& goal) {
  const auto aim = [](const char* figure) { return Aim{figure, kind_of_figure(figure)}; };
  if (goal.aims.size() > 1) return {goal.aims[0], goal.aims[1]};
  const std::string& figure = goal.aims[0].figure;
  const bool is_throughput = figure.contains("goodput") || figure.contains("bw") || figure == "makespan" ||
                             figure == "collective_time" || figure == "collective_max";
  return {goal.aims[0], aim(is_throughput ? "max_queue" : "goodput")};
}

Result search(const spec::Lab& lab, const std::vector<ChosenKnob>& knobs, const SearchPlan& plan,
              const Evaluate& evaluate) {
  return Searching(lab, knobs, plan, evaluate).run();
}

}  // namespace railyard::tune
