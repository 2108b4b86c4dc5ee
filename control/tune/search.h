// The search for better settings: which points are tried, and what is kept in the end.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "control/tune/goal.h"
#include "control/tune/knob.h"

namespace railyard::tune {

// Runs a configuration with each of the seeds, beside each other.
using Evaluate = std::function<Outcome(const std::vector<std::string>& sets, const std::vector<std::uint64_t>& seeds)>;

struct Point {
  std::vector<double> values;     // of the knobs
  std::vector<std::string> sets;  // against the start; none: the start
  Outcome outcome;
  double score = 1;
  bool meets = true;  // the conditions
};

struct SearchPlan {
  Goal goal;
  std::array<Aim, 2> trade_off;            // of the curve
  std::vector<std::uint64_t> seeds;        // of every point: the same, so that points differ by their settings alone
  std::vector<std::uint64_t> check_seeds;  // of the last check: others
  std::size_t runs = 0;                    // at most, all told
};

// The least `runs`: the start, two points and the last check.
std::size_t least_runs(std::size_t seeds, std::size_t check_seeds);
// What the curve shows if nobody says: the goal, against goodput or, where that is much the same, against max_queue.
std::array<Aim, 2> usual_trade_off(const Goal& goal);

struct Result {
  std::vector<Point> points;  // in the order of evaluation; the first is the start
  std::size_t best = 0;       // of the points, by the seeds of the search
  // On the seeds of the check. Without one if the start is the best anyway.
  std::optional<Outcome> checked_start, checked_best;
  double checked_score = 1;  // of the best, where the start has that of checked_start_score
  double checked_start_score = 1;
  std::vector<std::size_t> front;  // of the points
  std::size_t runs = 0;

  bool worse_in_check() const noexcept { return checked_best && checked_score > checked_start_score; }
  // Never worse than the start: on the seeds of the search, and on those of the check.
  std::size_t kept() const noexcept { return worse_in_check() ? 0 : best; }
};

// In three phases, each with a part of the budget: DIRECT-L over all bounds; SBPLX from the best point so far; SBPLX
// again for the point in the middle of the trade-off curve. Points that have been run cost nothing. Throws
// std::runtime_error if the start cannot be run.
Result search(const spec::Lab& lab, const std::vector<ChosenKnob>& knobs, const SearchPlan& plan,
              const Evaluate& evaluate);

}  // namespace railyard::tune
