#include "control/report/pause_json.h"

#include "control/report/units.h"

namespace railyard::report {

using Json = nlohmann::ordered_json;

namespace {

Json tree_json(const telemetry::PauseTreeWatch::Named& tree) { return {{"root", tree.root}, {"levels", tree.levels}}; }

}  // namespace

Json instant_json(Instant at) { return at == Instant::never() ? Json(nullptr) : Json(nanoseconds(at - Instant{})); }

Json deadlocks_json(const std::vector<telemetry::DeadlockWatch::Seen>& deadlocks) {
  Json all = Json::array();
  for (const telemetry::DeadlockWatch::Seen& d : deadlocks)
    all.push_back({{"ring", d.ring},
                   {"since_ns", instant_json(d.since)},
                   {"seen_ns", instant_json(d.seen)},
                   {"resolved_ns", d.resolved ? instant_json(*d.resolved) : Json(nullptr)}});
  return all;
}

Json pause_trees_json(const telemetry::PauseTreeWatch& watch) {
  Json widest = Json::array();
  for (const auto& tree : watch.widest()) widest.push_back(tree_json(tree));
  Json held = Json::array();
  for (const auto& [pair, looks] : watch.held())
    held.push_back({{"root", pair.first},
                    {"victim", pair.second},
                    {"share", static_cast<double>(looks) / static_cast<double>(watch.looks())}});
  return {{"looks", watch.looks()},
          {"widest_at_ns", watch.widest().empty() ? Json(nullptr) : instant_json(watch.widest_at())},
          {"widest", std::move(widest)},
          {"held", std::move(held)}};
}

Json pause_trees_json(const std::vector<telemetry::PauseTreeWatch::Named>& trees) {
  Json all = Json::array();
  for (const auto& tree : trees) all.push_back(tree_json(tree));
  return all;
}

}  // namespace railyard::report
