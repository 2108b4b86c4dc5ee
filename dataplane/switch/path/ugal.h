// UGAL-L, universal globally-adaptive load-balanced routing by local queues: what comes from hosts takes the shortest way,
// or a detour (valiant.h) if the queues of its own switch say that it is shorter in time (Singh, "Load-Balanced Routing in
// Interconnection Networks", 2005; Kim et al., ISCA 2008, section 4.1).
#pragma once

#include <string_view>

#include "dataplane/switch/path/valiant.h"

namespace railyard::ugal_policy {
using namespace path_parameter;

inline constexpr PathParameter kParameters[] = {
    duration<&PathConfig::threshold>("threshold", {0, 1'000'000'000'000}, {0, 10'000'000},
                                     "a detour is taken if (queue x hops) of the shortest path exceeds that of the "
                                     "detour by more than this, queues as their drain time"),
    valiant_policy::kPer,
    valiant_policy::kGap,
};

inline constexpr PathPolicyInfo kInfo{
    .policy = PathPolicy::kUgal,
    .name = "ugal",
    .help = "order groups: a packet from a host takes the shortest path, or a random global link of its switch if the "
            "local queues favor it",
    .parameters = kParameters,
    .basis = always<PathBasis::kLoads>,
    .unit = valiant_policy::unit};

}  // namespace railyard::ugal_policy
