// Valiant's random routing, as dragonflies have it: what comes from hosts goes by a link to some other group, whichever,
// and on from there by the shortest way (Valiant, "A Scheme for Fast Parallel Communication", SIAM J. Comput. 1982; Kim
// et al., ISCA 2008, section 4). The links are the detours of a route (forwarding_table.h).
#pragma once

#include <string_view>

#include "dataplane/switch/path/flowlet.h"
#include "dataplane/switch/path/policy.h"

namespace railyard::valiant_policy {
using namespace path_parameter;

inline constexpr std::string_view kEach[] = {"packet", "flowlet"};
inline constexpr PathParameter kPer = word<&PathConfig::per_flowlet>("per", kEach, "how often a path is chosen");
inline constexpr PathParameter kGap = duration<&PathConfig::gap>(
    "gap", flowlet_policy::kGaps, flowlet_policy::kDrawnGaps, flowlet_policy::kGapHelp, "per");
inline constexpr PathParameter kParameters[] = {kPer, kGap};
constexpr PathUnit unit(const PathConfig& c) { return c.per_flowlet ? PathUnit::kFlowlet : PathUnit::kPacket; }

inline constexpr PathPolicyInfo kInfo{
    .policy = PathPolicy::kValiant,
    .name = "valiant",
    .help = "order groups: a packet from a host leaves its group by a random global link of its switch, then takes the "
            "shortest path",
    .parameters = kParameters,
    .basis = always<PathBasis::kTime>,
    .unit = unit};

}  // namespace railyard::valiant_policy
