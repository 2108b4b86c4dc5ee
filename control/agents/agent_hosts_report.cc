// What is told of agents and their collectives.
#include <utility>

#include <fmt/format.h>

#include "control/agents/agent_hosts.h"
#include "control/report/collective_json.h"
#include "control/spec/value.h"

namespace railyard::agents {

using nlohmann::json;

namespace {

json device_json(const DevicePort& d) {
  json gids = json::array();
  for (const wire::IpAddress& gid : d.gids) gids.push_back(wire::to_string(gid));
  return {{"device", d.device}, {"port", d.port},       {"state", d.state},
          {"mtu", d.active_mtu}, {"max_qps", d.max_qps}, {"gids", std::move(gids)}};
}

}  // namespace

std::string AgentHosts::rank_name(const Collective& c, std::size_t rank) const {
  return fmt::format("rank {} ({})", rank, spec::format(c.what->nics[rank]));
}

std::string AgentHosts::state_text(const Collective& c) const {
  if (c.phase == Phase::kFailed) return c.failure;
  for (std::size_t r = 0; r < c.what->nics.size(); ++r)
    if (c.phase == Phase::kWaiting && c.what->is_agents(r) && !hosts_.at(c.what->nics[r].node).client)
      return fmt::format("waiting for the agent of {}: {}", rank_name(c, r), hosts_.at(c.what->nics[r].node).why);
  return std::string(sentence(c.phase));
}

AgentCollectiveState AgentHosts::state_of(const Collective& c) const {
  return {c.what, c.results, c.went, state_text(c)};
}

std::vector<report::CollectiveReport> AgentHosts::collectives() const {
  const std::lock_guard lock(mutex_);
  std::vector<report::CollectiveReport> all;
  for (const Collective& c : collectives_) all.push_back(agent_collective_report(lab_, state_of(c)));
  return all;
}

json AgentHosts::report() const {
  const std::lock_guard lock(mutex_);
  json out{{"agents", json::array()}, {"collectives", json::array()}};
  for (const auto& [name, host] : hosts_) {
    json devices = json::array();
    for (const DevicePort& d : host.hello.devices) devices.push_back(device_json(d));
    out["agents"].push_back({{"host", name},
                             {"joined", host.client.has_value()},
                             {"why", host.why},
                             {"version", host.hello.version},
                             {"devices", std::move(devices)}});
  }
  for (const Collective& c : collectives_) {
    json j = report::collective_json(agent_collective_report(lab_, state_of(c)));
    j["state"] = name(c.phase);
    j["attempt"] = c.attempt + 1;
    j["agents"] = json::array();
    for (std::size_t r = 0; r < c.what->nics.size(); ++r) {
      if (!c.what->is_agents(r)) continue;
      json a{{"rank", r}, {"host", c.what->nics[r].node}, {"device", c.prepared[r] ? c.prepared[r]->device : ""}};
      if (const auto& result = c.results[r]) {
        a["complete"] = result->complete;
        a["failure"] = result->failure;
        a["wrong_bytes"] = result->wrong_octets;
        a["messages"] = result->messages;
        a["bytes"] = result->octets;
        a["send_ns"] = {
            {"min", result->send_min_ns}, {"median", result->send_median_ns}, {"max", result->send_max_ns}};
        a["hw_counters"] = result->counters;
        a["repeats_ns"] = json::array();
        for (const RankResult::Repeat& repeat : result->repeats)
          a["repeats_ns"].push_back({repeat.start_ns, repeat.finish_ns});
      }
      j["agents"].push_back(std::move(a));
    }
    out["collectives"].push_back(std::move(j));
  }
  out["flows"] = flows_.states();
  return out;
}

std::vector<report::FlowReport> AgentHosts::flows() const {
  const std::lock_guard lock(mutex_);
  return flows_.reports();
}

}  // namespace railyard::agents
