#include "transports/roce/collectives/collective_connection.h"

#include <algorithm>
#include <utility>

#include "dataplane/base/assert.h"
#include "dataplane/base/hash.h"
#include "transports/roce/collectives/collective_layout.h"
#include "transports/roce/connect_rc.h"

namespace railyard::roce {

// One end of one QP.
struct CollectiveConnection::Half {
  CollectiveRank* rank;
  const CollectiveEnd* end;
  std::uint32_t connection;

  CollectiveRank::Peer& peer() const { return rank->peers_[connection]; }
  const RankConnection& plan() const { return rank->program_.connections[connection]; }
};

std::size_t CollectiveConnection::qps(const RankProgram& program) noexcept {
  return static_cast<std::size_t>(std::ranges::count(program.connections, false, &RankConnection::scale_up));
}

std::vector<const CollectiveRank*> CollectiveConnection::make(const CollectiveConfig& config,
                                                              std::vector<RankProgram> programs,
                                                              const std::vector<CollectiveEnd>& ends, const Way& way,
                                                              std::uint64_t chance) {
  std::vector<CollectiveRank*> ranks;
  for (std::size_t r = 0; r < programs.size(); ++r)
    ranks.push_back(&ends[r].nic->add_rank(config, std::move(programs[r])));
  for (std::uint32_t r = 0; r < ranks.size(); ++r)
    for (std::uint32_t c = 0; c < ranks[r]->peers_.size(); ++c) {
      const Half here{ranks[r], &ends[r], c};
      const std::uint32_t p = here.plan().peer;
      if (p < r) continue;
      const Half there{ranks[p], &ends[p], here.plan().at_peer};
      if (here.plan().scale_up) {
        join(here, there);
        join(there, here);
        continue;
      }
      create(here);
      create(there);
      const std::uint64_t draw = mix64(chance ^ mix64(std::uint64_t{r} << 32 | c));
      const auto port = static_cast<std::uint16_t>(0xC000 | (draw & 0x3FFF));
      const auto forth = static_cast<std::uint32_t>(mix64(draw + 1) & Psn::kMax);
      const auto back = static_cast<std::uint32_t>(mix64(draw + 2) & Psn::kMax);
      connect(here, there, way(r, p), port, forth, back);
      connect(there, here, way(p, r), port, back, forth);
    }
  return {ranks.begin(), ranks.end()};
}

void CollectiveConnection::join(const Half& half, const Half& peer) {
  CollectiveRank& rank = *half.rank;
  RAILYARD_ASSERT(half.end->nic->scale_up() != nullptr && half.end->nic->scale_up() == peer.end->nic->scale_up(),
                  "ranks reach each other over a scale-up network that both are in");
  rank.pipe_ = half.end->nic->scale_up();
  rank.place_in_host_ = half.end->nic->place_in_host();
  half.peer().in_host = peer.rank;
  if (!rank.scale_up_) rank.scale_up_.emplace();
}

void CollectiveConnection::create(const Half& half) {
  CollectiveRank& rank = *half.rank;
  const auto qp = rank.engine_.create_qp({.type = QpType::kRc,
                                          .domain = kCollectiveDomain,
                                          .send_cq = rank.cq_,
                                          .recv_cq = rank.cq_,
                                          .max_send_wr = send_requests(half.plan()),
                                          .max_recv_wr = receive_requests(half.plan()),
                                          .selective_repeat = half.end->selective_repeat});
  RAILYARD_ASSERT(qp.has_value(), "a NIC has as many QPs as its ranks need");
  half.peer().qp = *qp;
}

void CollectiveConnection::connect(const Half& half, const Half& peer, const AddressVector& av, std::uint16_t port,
                                   std::uint32_t sq_psn, std::uint32_t rq_psn) {
  QpAttributes a = half.end->attributes;
  a.access_flags = Access::kRemoteWrite;
  a.av = av;
  a.av.source_port = port;
  a.dest_qpn = peer.peer().qp.value;
  a.sq_psn = sq_psn;
  a.rq_psn = rq_psn;
  a.max_rd_atomic = a.max_dest_rd_atomic = 0;
  connect_rc(half.rank->engine_, half.peer().qp, a);
  half.peer().key = peer.rank->memory_key_;
  half.peer().stride = peer.rank->stride();
  for (std::size_t i = 0; i < receive_requests(half.plan()); ++i) half.rank->post_receive({}, half.connection);
}

}  // namespace railyard::roce
