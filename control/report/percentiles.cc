#include "control/report/percentiles.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace railyard::report {

Percentiles Percentiles::of(const Histogram& h) {
  return {h.percentile(0.5) / 1000,    h.percentile(0.9) / 1000, h.percentile(0.99) / 1000, h.percentile(0.999) / 1000,
          h.percentile(0.9999) / 1000, h.max() / 1000,           h.percentile(0.95) / 1000,
          h.count()};
}

double nearest_rank(const std::vector<double>& values, double fraction) {
  const auto rank = static_cast<std::size_t>(std::ceil(fraction * static_cast<double>(values.size())));
  return values[std::clamp<std::size_t>(rank, 1, values.size()) - 1];
}

Spread Spread::of(std::vector<double> values) {
  Spread s;
  if (values.empty()) return s;
  std::ranges::sort(values);
  s.count = values.size();
  s.mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  s.min = values.front();
  s.p50 = nearest_rank(values, 0.5);
  s.p90 = nearest_rank(values, 0.9);
  s.p95 = nearest_rank(values, 0.95);
  s.p99 = nearest_rank(values, 0.99);
  s.p999 = nearest_rank(values, 0.999);
  s.max = values.back();
  return s;
}

double jain_index(const std::vector<double>& values) {
  double sum = 0;
  double squares = 0;
  for (const double x : values) {
    sum += x;
    squares += x * x;
  }
  // Rounding must not make it more than even.
  return squares > 0 ? std::min(1.0, sum * sum / (static_cast<double>(values.size()) * squares)) : 0;
}

double max_over_mean(const std::vector<double>& values) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return sum > 0 ? *std::ranges::max_element(values) * static_cast<double>(values.size()) / sum : 0;
}

}  // namespace railyard::report
