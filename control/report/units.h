// Numbers as people read them: three digits and a unit.
#pragma once

#include <cstdint>
#include <string>

#include "dataplane/base/time.h"

namespace railyard::report {

std::string rate_text(double bps);                // "97.9 Gb/s"
std::string size_text(std::uint64_t octets);      // "1.21 MB"
std::string time_text(Duration d);                // "335 us"
std::string nanoseconds_text(std::uint64_t ns);   // the same from nanoseconds
std::string count_text(std::uint64_t n);          // "1,234,567"
std::string percent_text(double fraction);        // "12.3 %"

}  // namespace railyard::report
