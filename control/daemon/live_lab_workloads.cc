// Workloads of a live lab: stopped, and started again.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/api/message.h"
#include "control/daemon/live_lab.h"
#include "control/spec/suggest.h"
#include "dataplane/nic/host.h"

namespace railyard::daemon {

using api::ApiError;
using nlohmann::json;

namespace {

const char* text(spec::TrafficSpec::Transport transport) {
  using enum spec::TrafficSpec::Transport;
  switch (transport) {
    case kGenerator:
      return "generator";
    case kRoce:
      return "roce";
    case kUet:
      return "uet";
  }
  return "";
}

template <class Spec>
bool has(const std::vector<Spec>& all, const std::string& name) {
  return std::ranges::any_of(all, [&](const Spec& s) { return s.name == name; });
}

ApiError unknown_workload(const spec::Lab& lab, const std::string& name) {
  std::vector<std::string> names;
  for (const spec::TrafficSpec& t : lab.traffic) names.push_back(t.name);
  for (const spec::CollectiveSpec& c : lab.collectives) names.push_back(c.name);
  return {404, fmt::format("there is no traffic or collective '{}'{}", name, spec::did_you_mean(name, names))};
}

// That it keeps to now; 0: greedy.
BitRate rate_of(const build::Flow& flow) {
  if (flow.is_uet()) return flow.uet->config().rate;
  return flow.is_roce() ? flow.roce_config().rate : flow.config().rate;
}

}  // namespace

json LiveLab::traffic() const {
  const spec::Lab& lab = session_.lab().spec();
  std::vector<std::size_t> flows(lab.traffic.size());
  for (const build::Flow& f : session_.lab().flows()) ++flows[f.plan.traffic];
  json out = json::array();
  for (std::size_t t = 0; t < lab.traffic.size(); ++t) {
    const spec::TrafficSpec& traffic = lab.traffic[t];
    const auto stopped = stopped_.find(traffic.name);
    out.push_back({{"name", traffic.name},
                   {"transport", text(traffic.transport)},
                   {"flows", flows[t]},
                   {"has_end", traffic.has_end()},
                   {"rate_bps", stopped == stopped_.end() && traffic.rate ? json(traffic.rate->bps) : json(nullptr)},
                   {"stopped", stopped != stopped_.end()}});
  }
  return out;
}

json slowest_rank(const build::Collective& c) {
  std::size_t whole = c.ranks.empty() ? 0 : c.ranks.front()->finished().size();
  for (const CollectiveRank* rank : c.ranks) {
    const std::vector<Instant>& f = rank->finished();
    const auto open = std::ranges::find(f, Instant::never());
    whole = std::min(whole, static_cast<std::size_t>(open - f.begin()));
  }
  if (whole == 0) return nullptr;
  std::vector<std::pair<Instant, std::size_t>> ends;
  for (std::size_t r = 0; r < c.ranks.size(); ++r) ends.emplace_back(c.ranks[r]->finished()[whole - 1], r);
  std::ranges::sort(ends);
  const auto& [last, rank] = ends.back();
  return {{"rank", fmt::format("{}:{}", c.nics[rank].node, c.nics[rank].port)},
          {"behind_median_ns", (last - ends[(ends.size() - 1) / 2].first).ps / 1000},
          {"iteration", whole}};
}

json LiveLab::stop(const std::string& name) {
  const spec::Lab& spec = session_.lab().spec();
  if (has(spec.traffic, name)) return stop_traffic(name);
  if (const build::Collective* const collective = built_in_collective(name)) return stop_collective(*collective);
  if (has(spec.collectives, name))
    throw ApiError(409, fmt::format("collective {} has ranks of agents, which only they can stop; expected a collective whose "
                                    "ranks are all built in",
                                    name));
  throw unknown_workload(spec, name);
}

json LiveLab::stop_traffic(const std::string& traffic) {
  const auto& all = session_.lab().spec().traffic;
  const auto found = std::ranges::find(all, traffic, &spec::TrafficSpec::name);
  if (stopped_.contains(traffic)) throw ApiError(409, fmt::format("traffic {} is already stopped", traffic));
  FlowRates before, nothing;
  for (std::size_t i = 0; i < session_.lab().flows().size(); ++i) {
    const build::Flow& flow = session_.lab().flows()[i];
    if (flow.plan.traffic != static_cast<std::size_t>(found - all.begin())) continue;
    before.emplace_back(i, rate_of(flow));
    // So little for each queue pair that its next packet is hours away.
    nothing.emplace_back(i, BitRate{std::max(1, found->roce.qps)});
  }
  const Instant at = set_rates("stop " + traffic, nothing);
  stopped_[traffic] = std::move(before);
  return {{"name", traffic}, {"what", "traffic"}, {"effective_seconds", seconds(at - Instant{})}};
}

Instant LiveLab::set_rates(const std::string& what, const FlowRates& rates) {
  return wait(ask(what, [rates, &lab = session_.lab()](Engine& engine, Instant now) {
    for (const auto& [i, rate] : rates) {
      const build::Flow& flow = lab.flows()[i];
      const PortRef port = lab.port(flow.paced_at());
      Host& device = dynamic_cast<Host&>(lab.fabric()[port.device]);
      device.change_at(now, [&device, &flow, nic = port.port, rate](Instant at) {
        flow.set_rate(at, rate);
        device.endpoint_changed(at, nic);
      });
    }
    engine.wake_all();
  }));
}

json LiveLab::again(const std::string& name) {
  if (const auto was = stopped_.find(name); was != stopped_.end()) {
    set_rates("again " + name, was->second);
    stopped_.erase(was);
    return {{"name", name}, {"what", "traffic"}};
  }
  if (const build::Collective* const collective = built_in_collective(name)) return start_collective(*collective);
  if (agents_ == nullptr) {
    if (has(session_.lab().spec().traffic, name))
      throw ApiError(409, fmt::format("traffic {} has not been stopped", name));
    throw unknown_workload(session_.lab().spec(), name);
  }
  const auto what = std::make_shared<std::string>();
  try {
    wait(ask("again " + name, [what, name, this](Engine&, Instant at) { *what = agents_->again(at, name); }));
  } catch (const agents::NotAgain& not_again) {
    throw ApiError(409, not_again.what());
  }
  return {{"name", name}, {"what", *what}};
}

}  // namespace railyard::daemon
