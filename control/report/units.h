// Numbers as people read them: three digits and a unit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "control/report/percentiles.h"
#include "dataplane/base/time.h"

namespace railyard::report {

std::string rate_text(double bps);                // "97.9 Gb/s"
std::string size_text(std::uint64_t octets);      // "1.21 MB"
std::string time_text(Duration d);                // "335 us"
std::string nanoseconds_text(std::uint64_t ns);   // the same from nanoseconds
std::string count_text(std::uint64_t n);          // "1,234,567"
std::string percent_text(double fraction);        // "12.3 %"
// The same of what may not have been measured: "-".
std::string rate_text(const std::optional<double>& bps);
std::string percent_text(const std::optional<double>& fraction);
std::string time_text(const Percentiles& p, std::uint64_t Percentiles::*which);
std::string time_text(const Percentiles& p);      // "2.1 us / 3 us / 9 us": median, 99th percentile, maximum

}  // namespace railyard::report
