// A rank of a collective over PDCs: a message is a WRITE whose header data name the receiver's step and repeat, so that
// the receiver knows it in whatever order messages become whole; RUD promises none. It completes here when all of it is
// acknowledged, so when its octets are in the peer's memory.
//
// The collective is a job. Each channel of a rank is a context of it (resource index), and has PDCs of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "transports/collectives/collective_rank.h"
#include "transports/uet/engine.h"

namespace railyard::uet {

// What all ranks of a collective know of it.
struct RankJob {
  std::uint32_t job_id = 2;  // 24 bits; nobody else's at its NICs
  DeliveryMode mode = DeliveryMode::kRud;  // or kRod
  std::uint8_t data_class = 0;             // as its NIC counts them
  std::uint16_t pid_on_fep = 0;            // of this rank; GPUs that share a NIC have their own
};

class UetRank final : public CollectiveRank {
 public:
  UetRank(Engine& engine, const CollectiveConfig& config, RankProgram program, bool real_payload, const RankJob& job);

  // The rank at the other end of a connection is at `peer`, and its memory has this key; its repeats are `stride` apart.
  void connect(std::uint32_t connection, PeerId peer, std::uint16_t pid_on_fep, MemoryRegions::Key key,
               std::uint64_t stride);
  // Connections may go through other NICs of the rank's host: adds one; returns its number, 0 is the first one.
  std::uint32_t add_nic(Engine& engine, std::uint8_t data_class);
  void use_nic(std::uint32_t connection, std::uint32_t nic) noexcept { connections_[connection].nic = nic; }
  // Its data have another class than others that go through its NIC.
  void use_class(std::uint32_t connection, std::uint8_t data_class) noexcept { connections_[connection].data_class = data_class; }
  bool has_several_nics() const noexcept { return nics_.size() > 1; }
  Engine& engine_of(std::uint32_t connection) const noexcept { return *nics_[connections_[connection].nic].engine; }
  // Of its memory, for who writes over this connection.
  MemoryRegions::Key memory_key_of(std::uint32_t connection) const noexcept {
    return memory_key(connections_[connection].nic);
  }
  using CollectiveRank::stride;

  // Whether there were any, at any of its NICs.
  bool take_completions(Instant now);

  std::uint32_t job_id() const noexcept { return job_.job_id; }
  std::uint16_t pid_on_fep() const noexcept { return job_.pid_on_fep; }
  // What its NIC sees of its packets: one with payload was sent; one has come with CE, or while others before it were
  // missing.
  void note_sent(bool again) noexcept {
    ++traffic_.packets;
    traffic_.retransmitted_packets += again ? 1 : 0;
  }
  void note_marked() noexcept { ++traffic_.ecn_marked; }
  void note_out_of_order() noexcept { ++traffic_.out_of_order; }
  const std::vector<ContextId>& contexts(std::uint32_t nic) const noexcept { return nics_[nic].contexts; }

 private:
  RankTraffic own_traffic() const noexcept override { return traffic_; }
  struct Connection {
    std::uint32_t nic = 0;
    std::optional<std::uint8_t> data_class{};  // nothing: its NIC's
    PeerId peer{};
    std::uint16_t pid_on_fep = 0;  // of the peer
    MemoryRegions::Key key = 0;  // of its memory
    std::uint64_t stride = 0;
  };
  // A connection as those who send say it: rank and channel.
  struct Named {
    std::uint32_t rank = 0;
    std::uint32_t channel = 0;
    std::uint32_t connection = 0;
    auto operator<=>(const Named&) const = default;
  };

  void post(Instant now, const Outgoing& message) override;
  bool post_credit(Instant now, std::uint32_t connection) override;
  SendWr write_to(std::uint32_t connection) const noexcept;
  struct Nic {
    Engine* engine;
    CqId cq;
    std::uint8_t data_class;
    std::vector<ContextId> contexts{};  // by channel
  };
  void make_contexts(Nic& nic);
  ContextId context_of(std::uint32_t connection) const noexcept {
    return nics_[connections_[connection].nic].contexts[program().connections[connection].channel];
  }
  void on_completion(Instant now, const Nic& nic, const Completion& completion);
  std::optional<std::uint32_t> connection_of(std::uint32_t rank, const Nic& nic, ContextId context) const noexcept;

  RankJob job_;
  std::vector<Nic> nics_;
  std::vector<Connection> connections_;
  std::vector<Named> named_;  // ascending
  RankTraffic traffic_;
};

}  // namespace railyard::uet
