#include "control/daemon/replays.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "control/api/message.h"
#include "control/spec/addresses.h"
#include "dataplane/port/pcap_file.h"

namespace railyard::daemon {

using api::ApiError;
using nlohmann::json;

namespace {

bool flag_of(const json& options, const char* key) {
  const auto found = options.find(key);
  if (found == options.end()) return false;
  if (!found->is_boolean()) throw ApiError(400, fmt::format("{}: {}; expected true or false", key, found->dump()));
  return found->get<bool>();
}

ReplayTiming timing_of(const json& options) {
  ReplayTiming t;
  t.as_fast_as_possible = flag_of(options, "asap");
  t.loop = flag_of(options, "loop");
  if (const auto rate = options.find("rate"); rate != options.end()) {
    if (!rate->is_number_integer() || *rate < 1)
      throw ApiError(400, fmt::format("rate: {}; expected bit/s, at least 1", rate->dump()));
    if (t.as_fast_as_possible) throw ApiError(400, "rate and asap exclude each other");
    t.rate = BitRate{rate->get<std::int64_t>()};
  }
  return t;
}

std::vector<CapturedFrame> frames_of(const std::string& file) {
  constexpr std::uintmax_t kMostOctets = std::uintmax_t{1} << 30;
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (std::filesystem::exists(status)) {
    // Reading something else could take for ever.
    if (!std::filesystem::is_regular_file(status)) throw ApiError(400, fmt::format("{} is not a file", file));
    if (std::filesystem::file_size(file, error) > kMostOctets)
      throw ApiError(400, fmt::format("{} is longer than 1 GiB; expected a shorter capture", file));
  }
  auto frames = read_pcap(file);
  if (!frames) throw ApiError(400, frames.error());
  return std::move(*frames);
}

}  // namespace

Replays::Replays(lab::Session& session, MakeChange change) : session_(session), change_(std::move(change)) {}

Host& Replays::host_of(PortRef port) { return session_.lab().host(session_.lab().node_of(port.device).name); }

json Replays::start(PortRef port, const std::string& name, const std::string& file, const json& options) {
  build::BuiltLab& lab = session_.lab();
  if (lab.is_switch(port.device))
    throw ApiError(400, fmt::format("{} is a switch port; expected a NIC of a host", name));
  const spec::NicSpec& nic = lab.node_of(port.device).nics[port.port.index()];
  if (!std::holds_alternative<std::monostate>(nic.attach))
    throw ApiError(409, fmt::format("{} is attached; expected a host without `attach`", name));
  const auto there = std::ranges::find_if(replays_, [&](const auto& r) { return r.second.port == port; });
  if (there != replays_.end() && !there->second.control->finished)
    throw ApiError(409,
                   fmt::format("{} already replays {}; `railyard replay --stop` stops it", name, there->second.file));
  const PortRef peer = lab.fabric().peer(port);
  const auto next_hop = lab.is_switch(peer.device)
                            ? spec::automatic_mac(peer.device.index(), peer.port.value + 1)
                            : lab.node_of(peer.device).nics[peer.port.index()].mac.value_or(wire::MacAddress{});
  Host& host = host_of(port);
  ReplayTiming timing = timing_of(options);
  timing.framing = lab.framing(port);
  auto plan = plan_replay(frames_of(file), host.config().nics[port.port.index()], next_hop, timing);
  if (!plan) throw ApiError(400, fmt::format("{}: {}", file, plan.error()));
  if (there != replays_.end()) end(there->first);

  Replay replay;
  replay.port = port;
  replay.name = name;
  replay.file = file;
  replay.plan = std::make_shared<const ReplayPlan>(std::move(*plan));
  replay.control = std::make_shared<ReplayControl>();
  plans_.push_back(replay.plan);
  // Made here, so that the engine's thread does no more than put it there.
  auto made =
      std::make_shared<std::unique_ptr<ReplayEndpoint>>(std::make_unique<ReplayEndpoint>(replay.plan, replay.control));
  replay.endpoint = made->get();
  const std::string id = std::to_string(++started_);
  replays_[id] = replay;
  try {
    const Instant at = change_(fmt::format("replay {} of {} at {}", id, file, name),
                               [made, &host, port = port.port](Engine& engine, Instant now) {
                                 host.change_at(now, [made, &host, port](Instant begin) {
                                   ReplayEndpoint& endpoint = **made;
                                   endpoint.begin(begin, host.drive(begin, port, std::move(*made)));
                                 });
                                 engine.wake(host.id(), now);
                               });
    json out = describe(id, replay);
    out["effective_seconds"] = seconds(at - Instant{});
    return out;
  } catch (...) {
    // If it is still to come it sends nothing, and is taken off by the next one.
    replay.control->stop = true;
    replay.control->finished = true;
    throw;
  }
}

json Replays::describe(const std::string& id, const Replay& replay) {
  return {{"id", id},
          {"at", replay.name},
          {"file", replay.file},
          {"frames", replay.plan->frames.size()},
          {"not_sendable", replay.plan->not_sendable},
          {"not_pfc", replay.plan->not_pfc},
          {"pfc", replay.plan->controls.size()},
          {"loop", replay.plan->loop},
          {"sent", replay.control->sent.read()},
          {"finished", replay.control->finished.load()}};
}

bool Replays::has(PortRef port) const {
  return std::ranges::any_of(replays_, [&](const auto& r) { return r.second.port == port; });
}

json Replays::list() const {
  json out = json::array();
  for (const auto& [id, replay] : replays_) out.push_back(describe(id, replay));
  return {{"replays", std::move(out)}};
}

json Replays::show(const std::string& id) const {
  const auto found = replays_.find(id);
  if (found == replays_.end()) throw ApiError(404, fmt::format("there is no replay '{}', or it has ended", id));
  return describe(id, found->second);
}

json Replays::end(const std::string& id) {
  static_cast<void>(show(id));
  const Replay& replay = replays_.at(id);
  replay.control->stop = true;
  // Nothing is sent any more once the engine has come to this; the NIC's own endpoint is put back when time goes on.
  change_(fmt::format("end of replay {} at {}", id, replay.name),
          [&host = host_of(replay.port), port = replay.port.port, control = replay.control, endpoint = replay.endpoint](
              Engine& engine, Instant now) {
            host.change_at(now, [&host, port, control, endpoint](Instant at) {
              if (control->begun) host.drive(at, port, endpoint->take_own());
            });
            engine.wake(host.id(), now);
          });
  json out = describe(id, replay);
  replays_.erase(id);
  free_plans();
  return out;
}

// Those that only we hold.
void Replays::free_plans() {
  std::erase_if(plans_, [](const auto& plan) { return plan.use_count() == 1; });
}

}  // namespace railyard::daemon
