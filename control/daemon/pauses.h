// Who pauses whom in a lab that is up.
#pragma once

#include <nlohmann/json.hpp>

#include "control/lab/session.h"

namespace railyard::daemon {

// By the engine's thread, between windows: the pause trees of now ("now"), those of the time since the lab came up
// ("trees", as in a report) and deadlocks. "watched": false if the lab says `run.deadlock: off`, and only "now" is
// there.
nlohmann::ordered_json pauses(lab::Session& session);

}  // namespace railyard::daemon
