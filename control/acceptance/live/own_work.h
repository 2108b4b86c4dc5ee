// The collectives, jobs and traffic that a running lab has of its own: what they did while they were watched.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "control/spec/spec.h"

namespace railyard::acceptance::live {

// Iterations that are over; `collective` as in GET /collectives.
std::size_t iterations_over(const nlohmann::json& collective);

// What a collective or job did between two looks: `iterations`, and if there are any `median_ns`, `busbw_bps` (null: it has
// none), `utilisation` (of jobs: computing / time, of the ranks together; else null). Both looks as in GET /collectives, with
// its `at_seconds`; `before` null: everything counts.
nlohmann::ordered_json progress(const nlohmann::json& before, const nlohmann::json& after);

// What the same collective takes on links that are shared perfectly, beside the `others`.
struct Reference {
  double time_ns = 0;   // of an iteration
  double computed = 0;  // the share of it that ranks compute
};
// Nothing: it cannot be estimated.
std::optional<Reference> reference_of(const spec::Lab& lab, const std::string& name, const std::set<std::string>& others);

// The report of a lab that goes on: that its work has not ended says nothing, unless some of it has failed.
nlohmann::ordered_json still_running(nlohmann::ordered_json report);

}  // namespace railyard::acceptance::live
