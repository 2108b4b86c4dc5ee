// The ranks of a collective, each behind its NIC, and their QPs, connected without a word between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "transports/base/rank_program.h"
#include "transports/roce/collectives/roce_rank.h"
#include "transports/roce/flows/flow_endpoint.h"
#include "transports/roce/qp_attributes.h"

namespace railyard::roce {

// Where a rank is.
struct CollectiveEnd {
  FlowEndpoint* nic = nullptr;  // nullptr: elsewhere
  // By connection: the NIC of the same host that it goes through, which shares a ScaleUp with `nic`. Empty: all go
  // through `nic`.
  std::vector<FlowEndpoint*> through{};
  // Timers, retries, path MTU; the rest follows.
  QpAttributes attributes{};
  std::optional<SelectiveRepeatConfig> selective_repeat{};  // all ends or none
  Duration phase{};                                         // its rank starts so much later
  std::uint32_t gpu = 0;  // of the host, from 1; 0: the NIC itself is the rank
};

class CollectiveConnection {
 public:
  // From one rank to another, but for the UDP source port.
  using Way = std::function<AddressVector(std::uint32_t from, std::uint32_t to, std::uint32_t channel)>;

  // Makes `programs[r]` a rank of ends[r]'s NIC and brings all QPs to RTS; they hold until the NIC is gone. UDP source
  // ports (one per pair and channel, the same in both directions) and first PSNs are drawn from `chance`.
  static std::vector<CollectiveRank*> make(const CollectiveConfig& config, std::vector<RankProgram> programs,
                                                 const std::vector<CollectiveEnd>& ends, const Way& way,
                                                 std::uint64_t chance);
  // The same where some ranks are elsewhere (nullptr): QPs to those are made, and wait for connect_to().
  static std::vector<RoceRank*> make_those_here(const CollectiveConfig& config,
                                                std::vector<RankProgram> programs,
                                                const std::vector<CollectiveEnd>& ends, const Way& way,
                                                std::uint64_t chance);
  // What the peer at the other end of a QP must know of this end.
  struct FarEnd {
    std::uint32_t qpn = 0;
    std::uint32_t key = 0;      // of its memory: data, and what comes to be added
    std::uint64_t address = 0;  // of that
    std::uint64_t stride = 0;   // from one repeat's to the other's
  };
  static FarEnd end_of(const RoceRank& rank, std::uint32_t connection);
  // A rank's QP to a peer elsewhere, brought to RTS. Of `attributes` what CollectiveEnd has, and the way there, its UDP
  // source port and both first PSNs. The NIC must be told (Host::endpoint_changed).
  static void connect_to(Instant now, RoceRank& rank, std::uint32_t connection, const FarEnd& peer,
                         QpAttributes attributes);
  // Gives up a rank's QPs and memory: nothing more becomes of it. It stays where it is.
  static void retire(RoceRank& rank);
  // QPs of a rank.
  static std::size_t qps(const RankProgram& program) noexcept;

 private:
  struct Half;
  static void use_nics(RoceRank& rank, const CollectiveEnd& end);
  static void create(const Half& half);
  static void reach_in_host(const Half& half, const Half& peer);
  static void connect(const Half& half, const Half& peer, const AddressVector& av, std::uint16_t port,
                      std::uint32_t sq_psn, std::uint32_t rq_psn);
};

}  // namespace railyard::roce
