#include "control/plan/cabling.h"

#include <fmt/format.h>

#include "control/spec/spec_error.h"
#include "control/spec/value.h"

namespace railyard::plan {
namespace {

constexpr Length kLongestAoc{30'000};

CableRow row(const char* option, const char* between, Length length, BitRate rate, std::int64_t now,
             std::int64_t later) {
  const auto medium = medium_for(length, rate);
  if (!medium)
    throw spec::SpecError(spec::Place{.file = std::string("--") + option},
                          fmt::format("no cable of {} reaches {}; expected {} or less", spec::format(rate),
                                      spec::format(length), spec::format(spec::reach(spec::CableMedium::kLr, rate))));
  return {between, length, rate, *medium, now, later};
}

}  // namespace

bool CableRow::is_optical_pair() const noexcept {
  return medium != spec::CableMedium::kDac && medium != spec::CableMedium::kAec && medium != spec::CableMedium::kAoc;
}

std::optional<spec::CableMedium> medium_for(Length length, BitRate rate) {
  using enum spec::CableMedium;
  if (length <= spec::reach(kDac, rate)) return kDac;
  if (length <= spec::reach(kAec, rate)) return kAec;
  if (length <= kLongestAoc) return kAoc;
  for (const spec::CableMedium m : {kSr, kDr, kFr, kLr})
    if (length <= spec::reach(m, rate)) return m;
  return std::nullopt;
}

std::vector<CableRow> cables(const Request& r, const Shape& s) {
  std::vector<CableRow> out;
  out.push_back(
      row("node-cable", "node - leaf", r.used_node_cable(), s.nic_rate, s.nic_ports(s.now), s.nic_ports(s.later)));
  if (s.up > 0)
    out.push_back(
        row("fabric-cable", "leaf - spine", r.fabric_cable, s.port_rate, s.leaf_links(s.now), s.leaf_links(s.later)));
  if (s.spine_up > 0)
    out.push_back(
        row("core-cable", "spine - core", r.core_cable, s.port_rate, s.core_links(s.now), s.core_links(s.later)));
  return out;
}

}  // namespace railyard::plan
