// Who may be called the best: nobody who delivered less.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/report/metrics/metric.h"
#include "control/report/summary.h"

namespace railyard::report {

// What the runs of one column, row or side have delivered of what they were asked for (figures completed, delivered,
// failed_flows).
struct Delivery {
  std::vector<double> completed, delivered, failed_flows = {};  // one value per run that has the figure

  void add(const nlohmann::ordered_json& report);
  std::optional<double> mean_completed() const;
  std::optional<double> mean_delivered() const;
  std::optional<double> mean_failed_flows() const;
  std::string text() const;  // "completed 0.125, delivered 0.310"; with failed flows: ", failed flows 1"
};

// By element: whether it delivered nothing, or another completed more, delivered more by over a hundredth, or had fewer
// flows that failed. Such a one is the best of nothing: its short queues, few drops and low latencies are those of
// traffic that was not carried.
inline constexpr double kDeliveredAlike = 0.01;
std::vector<bool> delivered_less(const std::vector<Delivery>& all);

// Whether a column may have the best value of a figure. `less`: it delivered less. `complete`: all of its flows and
// repeats of collectives completed; if not, figures of what completed, and those of which less is better, flatter it.
bool may_win(const FigureKind& kind, bool less, bool complete);

// Whether two values of a figure differ by no more than a thousandth: then neither is better.
bool is_alike(double a, double b);

// What one of several has in a row of figures.
struct Contender {
  std::optional<double> value;
  bool may_win = true;  // it did not deliver less
};
// By index, the best of those that may win, and those alike to it. None: no end is better; several may win and all are
// alike; or only one may, and it does not beat each of the others.
std::vector<std::size_t> best_of(const std::vector<Contender>& all, Better better);

}  // namespace railyard::report
