// The percentiles of a distribution that reports show.
#pragma once

#include <cstdint>

#include "dataplane/base/histogram.h"

namespace railyard::report {

struct Percentiles {
  std::uint64_t p50 = 0, p90 = 0, p99 = 0, p999 = 0, p9999 = 0, max = 0;
  static Percentiles of(const Histogram& h);  // in the histogram's unit / 1000: ps in, ns out
};

}  // namespace railyard::report
