#include "control/daemon/pauses.h"

#include "control/report/pause_json.h"

namespace railyard::daemon {

nlohmann::ordered_json pauses(lab::Session& session) {
  Engine& engine = session.engine();
  engine.settle(engine.reached());
  const telemetry::PauseGraph graph = telemetry::pause_graph(session.lab());
  const bool watched = session.lab().spec().run.deadlock > Duration{};
  nlohmann::ordered_json j = {{"at_ns", report::instant_json(engine.reached())},
                              {"paused", graph.paused.size()},
                              {"now", report::pause_trees_json(telemetry::PauseTreeWatch::named(session.lab(), graph))},
                              {"watched", watched}};
  if (watched) {
    j["trees"] = report::pause_trees_json(session.pause_trees());
    j["deadlocks"] = report::deadlocks_json(session.deadlocks().seen());
  }
  return j;
}

}  // namespace railyard::daemon
