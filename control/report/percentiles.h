// Distributions by a few of their percentiles, nearest rank.
#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/base/histogram.h"

namespace railyard::report {

struct Percentiles {
  std::uint64_t p50 = 0, p90 = 0, p99 = 0, p999 = 0, p9999 = 0, max = 0, p95 = 0;
  std::uint64_t count = 0;  // of samples, where they were counted here
  // Whether there was anything to measure: without it the rest are no zeros, but nothing.
  bool known() const noexcept { return count > 0 || max > 0; }
  static Percentiles of(const Histogram& h);  // in the histogram's unit / 1000: ps in, ns out
};

// Of values that are all at hand, one per flow: few compared with packets.
struct Spread {
  std::uint64_t count = 0;
  double mean = 0, min = 0, p50 = 0, p90 = 0, p95 = 0, p99 = 0, p999 = 0, max = 0;
  static Spread of(std::vector<double> values);
};

// The value at or below which `fraction` of the sorted, not empty `values` lie.
double nearest_rank(const std::vector<double>& values, double fraction);

// `part` of `all`; 0: there is nothing.
constexpr double ratio_of(std::uint64_t part, std::uint64_t all) noexcept {
  return all > 0 ? static_cast<double>(part) / static_cast<double>(all) : 0;
}

// Jain's fairness index (DEC TR-301, 1984): 1 is even, 1 / n is all with one. 0: nothing at all.
double jain_index(const std::vector<double>& values);
// The largest against the mean: 1 is even. 0: nothing at all.
double max_over_mean(const std::vector<double>& values);

}  // namespace railyard::report
