#include "control/collectives/algorithms/hierarchical.h"

#include <map>

#include <fmt/format.h>

namespace railyard::collectives {
namespace {

std::map<std::uint32_t, std::size_t> members_of(const Layout& layout) {
  std::map<std::uint32_t, std::size_t> members;
  for (const std::uint32_t group : layout.group) ++members[group];
  return members;
}

const char* place(const Layout& layout) { return layout.in_networks ? "scale-up network" : layout.in_hosts ? "host" : "leaf"; }

}  // namespace

std::optional<Refusal> refuse_without_groups(const Algorithm& self, const Layout& layout) {
  const auto members = members_of(layout);
  if (members.size() < 2)
    return Refusal{"algorithm", fmt::format("{} needs ranks at several {}, but all are at one", self.name,
                                            layout.in_networks ? "scale-up networks" : layout.in_hosts ? "hosts" : "leaves")};
  if (members.size() == layout.ranks)
    return Refusal{"algorithm", fmt::format("{} needs several ranks per {}, but no two ranks share a {}", self.name,
                                            place(layout), place(layout))};
  return std::nullopt;
}

std::optional<Refusal> refuse_unequal_groups(const Algorithm& self, const Layout& layout) {
  if (auto refusal = refuse_without_groups(self, layout)) return refusal;
  const auto members = members_of(layout);
  for (const auto& [group, count] : members)
    if (count != members.begin()->second)
      return Refusal{"ranks", fmt::format("{} needs the same number of ranks at each {}, but has {} and {}", self.name,
                                          place(layout), members.begin()->second, count)};
  return std::nullopt;
}

}  // namespace railyard::collectives
