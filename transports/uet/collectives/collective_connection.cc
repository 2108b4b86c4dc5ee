#include "transports/uet/collectives/collective_connection.h"

#include "dataplane/base/assert.h"

namespace railyard::uet {

void connect_ranks(const std::vector<CollectiveEnd>& ends, const Way& way) {
  for (std::uint32_t r = 0; r < ends.size(); ++r) {
    const CollectiveEnd& here = ends[r];
    const std::vector<RankConnection>& connections = here.rank->program().connections;
    for (std::uint32_t c = 0; c < connections.size(); ++c) {
      const CollectiveEnd& there = ends[connections[c].peer];
      if (!connections[c].scale_up) {
        here.rank->connect(c, here.rank->engine_of(c).peer(way(r, connections[c].peer, connections[c].channel)),
                           there.rank->pid_on_fep(), there.rank->memory_key_of(connections[c].at_peer), there.rank->stride());
        continue;
      }
      RAILYARD_ASSERT(here.nic->scale_up() != nullptr && there.nic->scale_up() != nullptr &&
                          here.nic->scale_up()->reaches(*there.nic->scale_up()),
                      "ranks reach each other over a scale-up network that both are in");
      here.rank->reach_in_host(c, *there.rank, *here.nic->scale_up(),
                               here.nic->scale_up()->port(here.nic->place_in_host(), here.gpu, here.rank->scale_up_share()));
    }
  }
}

}  // namespace railyard::uet
