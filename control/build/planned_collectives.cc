#include "control/build/planned_collectives.h"

#include <algorithm>
#include <utility>

#include "control/spec/collective_ranks.h"
#include "control/spec/rank_links.h"
#include "control/spec/scale_up_share.h"
#include "dataplane/base/hash.h"

namespace railyard::build {

std::vector<PlannedCollective> plan_collectives(const spec::Lab& lab, spec::CollectiveTransport transport) {
  std::vector<PlannedCollective> all;
  for (std::size_t i = 0; i < lab.collectives.size(); ++i) {
    const spec::CollectiveSpec& c = lab.collectives[i];
    if (c.transport != transport) continue;
    PlannedCollective planned;
    planned.spec = i;
    for (spec::RankAt& rank : spec::ranks_at(lab, c)) {
      planned.nics.push_back(std::move(rank.nic));
      planned.gpus.push_back(rank.gpu);
    }
    planned.programs = spec::programs_of(lab, c, planned.nics);
    for (spec::RankAt& reducer : spec::reducers(lab, c)) {
      planned.nics.push_back(std::move(reducer.nic));
      planned.gpus.push_back(reducer.gpu);
      ++planned.reducers;
    }
    const auto n = static_cast<std::uint32_t>(planned.nics.size());
    if (spec::RankLinks links(lab, planned.nics); !links.all_by_their_own() && !spec::has_agents(lab, planned.nics))
      for (std::uint32_t r = 0; r < n; ++r)
        for (const RankConnection& to : planned.programs[r].connections)
          if (!to.scale_up)
            if (const spec::PortName nic = links.between(r, to.peer, to.channel)->first; nic != planned.nics[r])
              planned.towards[{r, to.peer, to.channel}] = nic;
    all.push_back(std::move(planned));
  }
  return all;
}

std::vector<std::vector<spec::PortName>> nics_of_connections(const PlannedCollective& planned) {
  std::vector<std::vector<spec::PortName>> all(planned.nics.size());
  for (std::uint32_t r = 0; r < planned.programs.size(); ++r)
    for (const RankConnection& to : planned.programs[r].connections)
      all[r].push_back(planned.nic(r, to.peer, to.channel));
  return all;
}

namespace {

// 256 MiB of StepTimes.
constexpr std::uint64_t kRecordedSteps = std::uint64_t{1} << 24;
// Latencies of requests are made of them.
constexpr std::uint64_t kAllSteps = ~std::uint64_t{0};

}  // namespace

CollectiveConfig config_of(const spec::Lab& lab, std::size_t collective) {
  const spec::CollectiveSpec& c = lab.collectives[collective];
  const Duration launch = c.launch_cost ? *c.launch_cost : spec::costs_of(lab, c, spec::ranks(lab, c)).launch;
  return {.index = static_cast<std::uint32_t>(collective),
          .element = c.element_octets(),
          .repeats = static_cast<std::uint32_t>(c.repeats),
          .start = Instant{} + c.start,
          .gap = c.gap,
          .reduce_rate = c.reduce_rate,
          .launch_cost = launch,
          .step_cost = c.step_cost.value_or(Duration{}),
          .scale_up_share = spec::scale_up_share(lab, c),
          .seed = lab.run.seed.value,
          .jitter_ppm = c.jitter_ppm,
          .stop = lab.run.duration ? Instant{} + *lab.run.duration : Instant::never(),
          .recorded_steps = c.is_job() && c.job->inference ? kAllSteps : lab.run.timeline ? kRecordedSteps : 0};
}

std::uint64_t chance_of(const spec::Lab& lab, std::size_t collective) {
  return mix64(lab.run.seed.value ^ hash_string("collective/" + lab.collectives[collective].name));
}

std::shared_ptr<ScaleUp> ScaleUpNetworks::of(const std::string& host) {
  const auto& said = lab_.hosts.at(lab_.find(host)->profile).scale_up;
  if (!said) return nullptr;
  auto& network = by_host_[host];
  if (network != nullptr) return network;
  network = std::make_shared<ScaleUp>(ScaleUpConfig{.rate = said->rate, .latency = said->latency});
  if (is_shared(host)) meet_others(host, *network);
  return network;
}

void ScaleUpNetworks::meet_others(const std::string& host, ScaleUp& network) {
  const spec::ScaleUpPlace place = places_.at(host);
  network.spread(place.host);
  const Duration latency = lab_.hosts.at(lab_.find(host)->profile).scale_up->latency;
  const auto introduce = [&](const std::string& from, ScaleUp& one, const std::string& to, ScaleUp& other) {
    auto wake = std::make_shared<DeviceWake>();
    one.meet(other, wake);
    pairs_.push_back({from, to, latency, std::move(wake)});
  };
  for (auto& [name, other] : by_host_) {
    if (name == host || !places_.contains(name) || places_.at(name).network != place.network) continue;
    introduce(host, network, name, *other);
    introduce(name, *other, host, network);
  }
}

std::shared_ptr<ScaleUp> ScaleUpNetworks::together(const std::string& host) {
  if (auto network = of(host)) return network;
  auto& network = by_host_[host];
  if (network == nullptr) network = std::make_shared<ScaleUp>(ScaleUpConfig{.rate = BitRate{1}, .latency = Duration{1}});
  return network;
}

std::shared_ptr<bool> ScaleUpNetworks::others_changed(const std::string& host) const {
  const auto found = by_host_.find(host);
  return found == by_host_.end() ? nullptr : found->second->changed();
}

std::shared_ptr<SharedWork> ScaleUpNetworks::shared(const std::string& host) const {
  const auto found = by_host_.find(host);
  return found == by_host_.end() || !is_shared(host) ? nullptr : found->second;
}

}  // namespace railyard::build
