#include "transports/roce/collectives/collective_connection.h"

#include <algorithm>
#include <map>
#include <utility>

#include "dataplane/base/assert.h"
#include "dataplane/base/hash.h"
#include "transports/roce/collectives/collective_layout.h"
#include "transports/roce/connect_rc.h"

namespace railyard::roce {

// One end of one QP.
struct CollectiveConnection::Half {
  RoceRank* rank;
  const CollectiveEnd* end;
  std::uint32_t connection;

  RoceRank::Connection& own() const { return rank->connections_[connection]; }
  const RankConnection& plan() const { return rank->program().connections[connection]; }
};

std::size_t CollectiveConnection::qps(const RankProgram& program) noexcept {
  return static_cast<std::size_t>(std::ranges::count(program.connections, false, &RankConnection::scale_up));
}

std::vector<CollectiveRank*> CollectiveConnection::make(const CollectiveConfig& config,
                                                              std::vector<RankProgram> programs,
                                                              const std::vector<CollectiveEnd>& ends, const Way& way,
                                                              std::uint64_t chance) {
  const auto ranks = make_those_here(config, std::move(programs), ends, way, chance);
  return {ranks.begin(), ranks.end()};
}

std::vector<RoceRank*> CollectiveConnection::make_those_here(const CollectiveConfig& config,
                                                                   std::vector<RankProgram> programs,
                                                                   const std::vector<CollectiveEnd>& ends,
                                                                   const Way& way, std::uint64_t chance) {
  std::vector<RoceRank*> ranks;
  for (std::size_t r = 0; r < programs.size(); ++r)
    ranks.push_back(ends[r].nic == nullptr ? nullptr
                                           : &ends[r].nic->add_rank(starting_later(config, ends[r].phase),
                                                                    std::move(programs[r])));
  for (std::uint32_t r = 0; r < ranks.size(); ++r)
    if (ranks[r] != nullptr) use_nics(*ranks[r], ends[r]);
  for (std::uint32_t r = 0; r < ranks.size(); ++r)
    for (std::uint32_t c = 0; ranks[r] != nullptr && c < ranks[r]->connections_.size(); ++c) {
      const Half here{ranks[r], &ends[r], c};
      const std::uint32_t p = here.plan().peer;
      const std::uint32_t channel = here.plan().channel;
      if (ranks[p] == nullptr) create(here);
      if (ranks[p] == nullptr || p < r) continue;
      const Half there{ranks[p], &ends[p], here.plan().at_peer};
      if (here.plan().scale_up) {
        reach_in_host(here, there);
        reach_in_host(there, here);
        continue;
      }
      create(here);
      create(there);
      const std::uint64_t draw = mix64(chance ^ mix64(std::uint64_t{r} << 32 | c));
      const auto port = static_cast<std::uint16_t>(0xC000 | (draw & 0x3FFF));
      const auto forth = static_cast<std::uint32_t>(mix64(draw + 1) & Psn::kMax);
      const auto back = static_cast<std::uint32_t>(mix64(draw + 2) & Psn::kMax);
      connect(here, there, way(r, p, channel), port, forth, back);
      connect(there, here, way(p, r, channel), port, back, forth);
    }
  return ranks;
}

void CollectiveConnection::use_nics(RoceRank& rank, const CollectiveEnd& end) {
  std::map<FlowEndpoint*, std::uint32_t> numbers{{end.nic, 0}};
  for (std::uint32_t c = 0; c < end.through.size(); ++c) {
    const auto [known, is_new] = numbers.try_emplace(end.through[c], 0);
    if (is_new) known->second = end.through[c]->carry_for(rank);
    rank.connections_[c].nic = known->second;
  }
}

void CollectiveConnection::retire(RoceRank& rank) {
  for (std::uint32_t c = 0; c < rank.connections_.size(); ++c)
    if (!rank.program().connections[c].scale_up) rank.engine_of(c).destroy_qp(rank.connections_[c].qp);
  rank.retire();
}

void CollectiveConnection::reach_in_host(const Half& half, const Half& peer) {
  const FlowEndpoint& nic = *half.end->nic;
  RAILYARD_ASSERT(nic.scale_up() != nullptr && peer.end->nic->scale_up() != nullptr &&
                      nic.scale_up()->reaches(*peer.end->nic->scale_up()),
                  "ranks reach each other over a scale-up network that both are in");
  half.rank->reach_in_host(half.connection, *peer.rank, *nic.scale_up(),
                           nic.scale_up()->port(nic.place_in_host(), half.end->gpu, half.rank->scale_up_share()));
}

void CollectiveConnection::create(const Half& half) {
  RoceRank& rank = *half.rank;
  const RoceRank::Nic& nic = rank.nic_of(half.connection);
  const auto qp = nic.engine->create_qp({.type = QpType::kRc,
                                          .domain = kCollectiveDomain,
                                          .send_cq = nic.cq,
                                          .recv_cq = nic.cq,
                                          .max_send_wr = send_requests(half.plan()),
                                          .max_recv_wr = receive_requests(half.plan()),
                                          .selective_repeat = half.end->selective_repeat});
  RAILYARD_ASSERT(qp.has_value(), "a NIC has as many QPs as its ranks need");
  half.own().qp = *qp;
}

CollectiveConnection::FarEnd CollectiveConnection::end_of(const RoceRank& rank, std::uint32_t connection) {
  const RoceRank::Connection& own = rank.connections_[connection];
  return {own.qp.value, rank.memory_key(own.nic), kCollectiveMemory, rank.stride()};
}

void CollectiveConnection::connect(const Half& half, const Half& peer, const AddressVector& av, std::uint16_t port,
                                   std::uint32_t sq_psn, std::uint32_t rq_psn) {
  QpAttributes a = half.end->attributes;
  a.av = av;
  a.av.source_port = port;
  a.sq_psn = sq_psn;
  a.rq_psn = rq_psn;
  connect_to({}, *half.rank, half.connection, end_of(*peer.rank, peer.connection), a);
}

void CollectiveConnection::connect_to(Instant now, RoceRank& rank, std::uint32_t connection, const FarEnd& peer,
                                      QpAttributes a) {
  RoceRank::Connection& known = rank.connections_[connection];
  a.access_flags = Access::kRemoteWrite;
  a.dest_qpn = peer.qpn;
  a.max_rd_atomic = a.max_dest_rd_atomic = 0;
  connect_rc(rank.engine_of(connection), known.qp, a, now);
  known.key = peer.key;
  known.address = peer.address;
  known.stride = peer.stride;
  for (std::size_t i = 0; i < receive_requests(rank.program().connections[connection]); ++i)
    rank.post_receive(now, connection);
}

}  // namespace railyard::roce
