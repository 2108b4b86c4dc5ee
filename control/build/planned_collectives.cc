#include "control/build/planned_collectives.h"

#include <utility>

#include "control/spec/collective_ranks.h"
#include "control/workload/collective_plan.h"
#include "dataplane/base/hash.h"

namespace railyard::build {

std::vector<PlannedCollective> plan_collectives(const spec::Lab& lab, spec::CollectiveTransport transport) {
  std::vector<PlannedCollective> all;
  for (std::size_t i = 0; i < lab.collectives.size(); ++i) {
    const spec::CollectiveSpec& c = lab.collectives[i];
    if (c.transport != transport) continue;
    PlannedCollective planned{i, spec::ranks(lab, c), {}};
    const spec::RankPlaces places = spec::places(lab, planned.nics);
    std::vector<double> slowness;
    if (!c.stragglers.empty()) slowness.assign(planned.nics.size(), 1);
    for (const spec::StragglerSpec& s : c.stragglers)
      for (const int rank : s.ranks)
        slowness[static_cast<std::size_t>(rank)] =
            static_cast<double>(s.factor.numerator) / static_cast<double>(s.factor.denominator);
    planned.programs = workload::plan_collective({.operation = c.collective,
                                                  .algorithm = c.used_algorithm(),
                                                  .size = static_cast<std::uint64_t>(c.size.n),
                                                  .element = c.element_octets(),
                                                  .chunk = c.chunk,
                                                  .channels = static_cast<std::uint32_t>(c.channels),
                                                  .root = static_cast<std::uint32_t>(c.root),
                                                  .group = spec::groups(lab, planned.nics),
                                                  .host = places.host,
                                                  .rail = places.rail,
                                                  .pxn = c.pxn,
                                                  .forward = c.forward,
                                                  .backward = c.backward,
                                                  .buckets = static_cast<std::uint32_t>(c.buckets),
                                                  .slowness = slowness},
                                                 static_cast<std::uint32_t>(planned.nics.size()));
    all.push_back(std::move(planned));
  }
  return all;
}

CollectiveConfig config_of(const spec::Lab& lab, std::size_t collective) {
  const spec::CollectiveSpec& c = lab.collectives[collective];
  return {.index = static_cast<std::uint32_t>(collective),
          .element = c.element_octets(),
          .repeats = static_cast<std::uint32_t>(c.repeats),
          .start = Instant{} + c.start,
          .gap = c.gap,
          .reduce_rate = c.reduce_rate,
          .seed = lab.run.seed.value,
          .jitter_ppm = c.jitter_ppm,
          .stop = lab.run.duration ? Instant{} + *lab.run.duration : Instant::never()};
}

std::uint64_t chance_of(const spec::Lab& lab, std::size_t collective) {
  return mix64(lab.run.seed.value ^ hash_string("collective/" + lab.collectives[collective].name));
}

std::shared_ptr<ScaleUp> ScaleUpNetworks::of(const std::string& host) {
  const auto& said = lab_.hosts.at(lab_.find(host)->profile).scale_up;
  if (!said) return nullptr;
  auto& network = by_host_[host];
  if (network == nullptr)
    network = std::make_shared<ScaleUp>(ScaleUpConfig{.rate = said->rate, .latency = said->latency});
  return network;
}

std::shared_ptr<bool> ScaleUpNetworks::others_changed(const std::string& host) const {
  const auto found = by_host_.find(host);
  return found == by_host_.end() ? nullptr : found->second->changed();
}

}  // namespace railyard::build
