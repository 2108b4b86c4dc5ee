// Who may be called the best: nobody who delivered less.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace railyard::report {

// What the runs of one column, row or side have delivered of what they were asked for (figures completed, delivered).
struct Delivery {
  std::vector<double> completed, delivered;  // one value per run that has the figure

  void add(const nlohmann::ordered_json& report);
  std::optional<double> mean_completed() const;
  std::optional<double> mean_delivered() const;
  std::string text() const;         // "completed 0.125, delivered 0.310"
};

// By element: whether another completed more, or delivered more by over a hundredth. Such a one is the best of nothing:
// its short queues, few drops and low latencies are those of traffic that was not carried.
inline constexpr double kDeliveredAlike = 0.01;
std::vector<bool> delivered_less(const std::vector<Delivery>& all);

// Whether `best`, which all that may win have, is better than each of `others`, which may not; false without any.
bool beats_all(double best, bool lower_is_better, const std::vector<double>& others);

}  // namespace railyard::report
