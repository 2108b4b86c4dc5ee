// What happened in the fabric, as text: queues, paths, pauses, credits, thresholds, storms, trimmed and retried frames.
#pragma once

#include <string>

namespace railyard::report {

struct Report;

// A table for each of these that there was any of, the worst ports first.
std::string fabric_text(const Report& report);

}  // namespace railyard::report
