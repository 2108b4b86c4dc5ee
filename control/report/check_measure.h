// Whether a lab has what a condition names, before it runs.
#pragma once

#include <optional>
#include <string>

#include "control/report/summary.h"
#include "control/spec/condition.h"
#include "control/spec/spec.h"

namespace railyard::report {

// Throws spec::SpecError at `place`, its message beginning with `text` quoted: the lab has no such figure, reason, flow,
// traffic, collective, node or port, each with a suggestion. Returns the unit; nothing: a JSON pointer.
std::optional<Unit> check_measure(const spec::Lab& lab, const spec::Measure& measure, const spec::Place& place,
                                  const std::string& text);

}  // namespace railyard::report
