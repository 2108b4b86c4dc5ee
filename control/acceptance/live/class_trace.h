// Whether packets were in the class of their DSCP at every hop, by what ports counted.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "control/spec/spec.h"

namespace railyard::acceptance::live {

// `packets` went from one NIC to another with this DSCP, untagged, over any of the shortest paths, while `ports`
// (ports_between()) counted. Answers {"from", "to", "hops", "wrong"}: hops that were looked at, and the first at which
// fewer packets came in the class of the DSCP; null: there is none.
nlohmann::ordered_json trace_classes(const spec::Lab& lab, const spec::PortName& from, const spec::PortName& to,
                                     int dscp, std::uint64_t packets, const nlohmann::ordered_json& ports);

}  // namespace railyard::acceptance::live
