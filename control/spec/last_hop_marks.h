// Whether switches mark frames at their last hop.
#pragma once

#include <cstddef>

#include "control/spec/spec.h"

namespace railyard::spec {

// Whether class `k` of a switch marks frames to a host: as `ecn.last-hop` says; else not to one whose receivers keep that
// queue short by the credit that they grant (UE-Spec 1.0 §3.6.14, §3.6.17; uet §9.6), unless others use the class, too.
bool marks_last_hop(const Lab& lab, const QosProfile& qos, std::size_t k, const HostProfile& host);

}  // namespace railyard::spec
