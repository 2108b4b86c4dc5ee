// A collective operation of a built lab: its ranks, each behind its NIC.
#pragma once

#include <cstddef>
#include <vector>

#include "control/spec/spec.h"
#include "transports/collectives/collective_rank.h"

namespace railyard::build {

struct Collective {
  std::size_t spec = 0;                        // index into Lab::collectives
  std::vector<spec::PortName> nics;            // by rank
  std::vector<const CollectiveRank*> ranks{};  // the same
  // The same: the NICs that it sends by, each once; several where ranks choose theirs by the neighbour.
  std::vector<std::vector<spec::PortName>> sends_by{};
};

}  // namespace railyard::build
