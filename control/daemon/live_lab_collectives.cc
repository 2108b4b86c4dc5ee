// Built-in collectives of a live lab: stopped between two iterations, and started again.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "control/api/message.h"
#include "control/daemon/live_lab.h"
#include "control/spec/collective_ranks.h"
#include "dataplane/nic/host.h"

namespace railyard::daemon {

using api::ApiError;
using nlohmann::json;

const build::Collective* LiveLab::built_in_collective(const std::string& name) const {
  for (const build::Collective& c : session_.lab().collectives())
    if (session_.lab().spec().collectives[c.spec].name == name) return &c;
  return nullptr;
}

json LiveLab::collective_states() {
  const auto& all = session_.lab().collectives();
  const auto out = std::make_shared<json>(json::array());
  if (all.empty()) return *out;
  // A rank's count, and not its list of iterations: this is asked once a second.
  wait(ask("", [out, &all, &spec = session_.lab().spec()](Engine&, Instant) {
    for (const build::Collective& c : all) {
      std::uint32_t done = c.ranks[0]->repeat();
      for (const CollectiveRank* rank : c.ranks) done = std::min(done, rank->repeat());
      out->push_back({{"name", spec.collectives[c.spec].name}, {"done", done}, {"repeats", c.ranks[0]->config().repeats}});
    }
  }));
  for (json& c : *out) c["stopped"] = stopped_collectives_.contains(c["name"].get<std::string>());
  return *out;
}

namespace {

// How many iterations have been begun. A rank may be one ahead of others. Those that have no part in one, as storage or as a
// copy that was left out, go through it at once, so they do not count.
std::size_t begun_iterations(const spec::CollectiveSpec& spec, const build::Collective& collective) {
  std::size_t begun = 0;
  for (std::size_t r = 0; r < collective.rank_count(); ++r) {
    const std::size_t own = collective.ranks[r]->started().size();
    if (own > 0 && spec::takes_part(spec, collective.rank_count(), static_cast<std::uint32_t>(r), own - 1))
      begun = std::max(begun, own);
  }
  return begun;
}

}  // namespace

json LiveLab::stop_collective(const build::Collective& collective) {
  const spec::CollectiveSpec& spec = session_.lab().spec().collectives[collective.spec];
  const std::string& name = spec.name;
  if (stopped_collectives_.contains(name)) throw ApiError(409, fmt::format("collective {} is already stopped", name));
  const Instant at = wait(ask("stop " + name, [&name, &spec, &collective](Engine& engine, Instant) {
    engine.settle(engine.reached());
    if (std::ranges::all_of(collective.ranks, &CollectiveRank::complete))
      throw ApiError(409, fmt::format("collective {} has ended; `railyard again {}` repeats it", name, name));
    const auto begun = static_cast<std::uint32_t>(begun_iterations(spec, collective));
    for (CollectiveRank* rank : collective.ranks) rank->hold_after(begun);
  }));
  stopped_collectives_.insert(name);
  return {{"name", name}, {"what", "collective"}, {"effective_seconds", seconds(at - Instant{})}};
}

json LiveLab::start_collective(const build::Collective& collective) {
  const spec::CollectiveSpec& spec = session_.lab().spec().collectives[collective.spec];
  const bool was_stopped = stopped_collectives_.contains(spec.name);
  wait(ask("again " + spec.name, [was_stopped, &spec, &collective, &lab = session_.lab()](Engine& engine, Instant now) {
    engine.settle(engine.reached());
    for (const CollectiveRank* rank : collective.ranks)
      if (rank->failure())
        throw ApiError(409, fmt::format("collective {} has failed ({} {}); it cannot be repeated", spec.name,
                                        rank->failure()->what, rank->failure()->status));
    const bool is_complete = std::ranges::all_of(collective.ranks, &CollectiveRank::complete);
    if (!was_stopped && !is_complete)
      throw ApiError(409, fmt::format("collective {} is still running; `railyard stop {}` stops it", spec.name, spec.name));
    if (is_complete && !spec.traced.eras.empty())
      throw ApiError(409, fmt::format("job {} has left out copies after failures; it cannot be repeated", spec.name));
    const std::uint32_t more = is_complete ? static_cast<std::uint32_t>(spec.repeats) : 0;
    for (std::size_t r = 0; r < collective.ranks.size(); ++r) {
      const PortRef nic = lab.port(collective.nics[r]);
      Host& device = dynamic_cast<Host&>(lab.fabric()[nic.device]);
      device.change_at(now, [&device, rank = collective.ranks[r], port = nic.port, more](Instant at) {
        rank->go_on(at, more);
        device.endpoint_changed(at, port);
      });
    }
    engine.wake_all();
  }));
  stopped_collectives_.erase(spec.name);
  return {{"name", spec.name}, {"what", "collective"}};
}

}  // namespace railyard::daemon
