// Which NICs the ranks of a collective are, and where.
#pragma once

#include <cstdint>
#include <vector>

#include "control/spec/spec.h"

namespace railyard::spec {

// Rank r's NIC, in the order of the selectors, then of the nodes, then of the NICs.
std::vector<PortName> ranks(const Lab& lab, const CollectiveSpec& collective);

// By rank: a number that those at the same switch share, in the order in which they are met.
std::vector<std::uint32_t> leaves(const Lab& lab, const std::vector<PortName>& ranks);

}  // namespace railyard::spec
