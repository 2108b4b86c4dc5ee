// Pauses as JSON, for reports and for labs that are up.
#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "control/telemetry/deadlock.h"
#include "control/telemetry/pause_tree.h"
#include "dataplane/base/time.h"

namespace railyard::report {

// Nanoseconds since the run began; null: it has not happened.
nlohmann::ordered_json instant_json(Instant at);

nlohmann::ordered_json deadlocks_json(const std::vector<telemetry::DeadlockWatch::Seen>& deadlocks);

// Roots of congestion with those they hold back, level by level, and for how much of the time.
nlohmann::ordered_json pause_trees_json(const telemetry::PauseTreeWatch& watch);

// The trees of one instant.
nlohmann::ordered_json pause_trees_json(const std::vector<telemetry::PauseTreeWatch::Named>& trees);

}  // namespace railyard::report
