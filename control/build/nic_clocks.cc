#include "control/build/nic_clocks.h"

#include <fmt/format.h>

#include "dataplane/base/rng.h"
#include "dataplane/nic/traffic_generator.h"

namespace railyard::build {

NicClocks::NicClocks(const spec::Lab& lab) : lab_(lab) {
  for (const spec::LinkSpec& l : lab.links)
    for (const spec::PortName& end : {l.a, l.b}) rates_[end] = l.rate;
}

NicClock NicClocks::of(const spec::PortName& nic) const {
  const std::uint32_t error = lab_.hosts.at(lab_.find(nic.node)->profile).clock_error_ppb;
  if (error == 0) return {};
  RngStream draws(lab_.run.seed, fmt::format("{}:{}/clock", nic.node, nic.port));
  const auto slower = static_cast<std::uint32_t>(error / 2 + draws.below(2 * std::uint64_t{error} + 1));
  return {.slower_ppb = slower, .phase = draws.next32()};
}

Duration NicClocks::phase(const spec::PortName& nic, std::uint32_t octets) const {
  const auto rate = rates_.find(nic);
  return rate == rates_.end() ? Duration{} : of(nic).offset(Bytes{octets} / rate->second);
}

PacingConfig NicClocks::pacing(const spec::PortName& nic) const {
  const NicClock clock = of(nic);
  if (clock.exact()) return {};
  RngStream draws(lab_.run.seed, fmt::format("{}:{}/gaps", nic.node, nic.port));
  const auto rate = rates_.find(nic);
  return {clock.slower_ppb, GapJitter::kWhole, rate == rates_.end() ? BitRate{} : rate->second, Seed{draws.next()}};
}

std::uint64_t NicClocks::gap_jitter(const spec::PortName& nic, const spec::TrafficSpec& traffic) const {
  constexpr std::uint64_t kMillion = 1'000'000;
  const bool exact = lab_.hosts.at(lab_.find(nic.node)->profile).clock_error_ppb == 0;
  return GapJitter::kWhole * traffic.gap_jitter_ppm.value_or(exact ? 0u : kMillion) / kMillion;
}

}  // namespace railyard::build
