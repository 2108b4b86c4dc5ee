// A rank of a collective over RC QPs: a message is an RDMA WRITE with immediate data, which name the receiver's step.
#pragma once

#include <cstdint>
#include <vector>

#include "transports/collectives/collective_rank.h"
#include "transports/roce/engine.h"

namespace railyard::roce {

class RoceRank final : public CollectiveRank {
 public:
  RoceRank(Engine& engine, const CollectiveConfig& config, RankProgram program, bool real_payload);

  // Connections may go through other NICs of the rank's host: adds one; returns its number, 0 is the first one.
  std::uint32_t add_nic(Engine& engine);
  bool has_several_nics() const noexcept { return nics_.size() > 1; }

  // Whether there were any, at any of its NICs.
  bool take_completions(Instant now);

  // Of its QPs together.
  QpCounters counters() const noexcept;

 private:
  friend class CollectiveConnection;

  RankTraffic own_traffic() const noexcept override;

  // This end, and what is known of the other.
  struct Connection {
    std::uint32_t nic = 0;
    QpNumber qp{};
    std::uint32_t key = 0;      // of its memory
    std::uint64_t address = 0;  // of that
    std::uint64_t stride = 0;   // from one repeat's to the other's
  };

  void post(Instant now, const Outgoing& message) override;
  bool post_credit(Instant now, std::uint32_t connection) override;
  void post_receive(Instant now, std::uint32_t connection);
  void on_completion(Instant now, const Completion& completion);

  struct Nic {
    Engine* engine;
    CqId cq;
  };
  const Nic& nic_of(std::uint32_t connection) const noexcept { return nics_[connections_[connection].nic]; }
  Engine& engine_of(std::uint32_t connection) const noexcept { return *nic_of(connection).engine; }

  std::vector<Nic> nics_;
  std::vector<Connection> connections_;
};

}  // namespace railyard::roce
