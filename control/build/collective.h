// A collective operation of a built lab: its ranks, each behind its NIC.
#pragma once

#include <cstddef>
#include <vector>

#include "control/spec/spec.h"
#include "transports/collectives/collective_rank.h"

namespace railyard::build {

struct Collective {
  std::size_t spec = 0;                        // index into Lab::collectives
  std::size_t reducers = 0;                    // the last so many are reducers in switches, and no ranks
  std::vector<spec::PortName> nics;            // by rank
  std::vector<int> gpus;                       // by rank, from 1; 0: the NIC is the rank
  std::vector<CollectiveRank*> ranks{};        // the same
  // The same, by connection: the NIC that it goes through; another one than its own where ranks choose theirs by the
  // neighbour.
  std::vector<std::vector<spec::PortName>> through{};

  std::size_t rank_count() const noexcept { return nics.size() - reducers; }
  std::vector<spec::PortName> rank_nics() const {
    return {nics.begin(), nics.begin() + static_cast<std::ptrdiff_t>(rank_count())};
  }
};

}  // namespace railyard::build
