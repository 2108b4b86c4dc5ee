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
  std::vector<int> gpus;                       // by rank, from 1; 0: the NIC is the rank
  std::vector<CollectiveRank*> ranks{};        // the same
  // The same, by connection: the NIC that it goes through; another one than its own where ranks choose theirs by the
  // neighbour.
  std::vector<std::vector<spec::PortName>> through{};
};

}  // namespace railyard::build
