// NCCL's protocols as fixed costs, bytes on the wire and a share of the scale-up network's rate, and NCCL's choice among them.
//
// Source: NCCL 2.30, src/graph/tuning.cc (latencies, bandwidth factors, ncclTopoGetAlgoTime()) and src/graph/topo.h (rates of
// NVLink). Its tables by generation of GPU are one row here: they differ by a few percent, except where it is said.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "control/collectives/algorithm.h"
#include "dataplane/base/time.h"

namespace railyard::collectives {

enum class Protocol : std::uint8_t {
  kNone,    // costs nothing: the fabric by itself
  kSimple,  // data only, and a flag for each slice of them
  kLl128,   // 120 of 128 octets are data
  kLl,      // 4 of 8 octets are data
  kAuto     // one of the three above, as NCCL chooses
};

inline constexpr std::array kProtocols{Protocol::kNone, Protocol::kSimple, Protocol::kLl128, Protocol::kLl, Protocol::kAuto};
// As a fabric file spells it.
std::string_view name(Protocol protocol) noexcept;

// Where a collective's ranks are, as far as NCCL's model asks. Rates in GB/s.
struct NcclSystem {
  std::uint32_t ranks = 0;
  std::uint32_t hosts = 1;  // scale-up networks, in fact
  double scale_up = 0;      // of each rank, as the fabric file says it; 0: there is none
  double network = 0;       // of all NICs of a host

  bool operator==(const NcclSystem&) const = default;
};

// By rank: its scale-up network, its NIC's rail and its network's host, as in CollectiveShape (`host` empty: each rank is by itself).
// `nic_rate`: GB/s of each NIC. Those of the first rank's network count.
NcclSystem nccl_system(std::uint32_t ranks, const std::vector<std::uint32_t>& host, const std::vector<std::uint32_t>& rail,
                       const std::vector<std::uint32_t>& tray, double scale_up_rate, double nic_rate);

// The share of the scale-up network's rate that NCCL's kernels reach: NVLink 2 and 3 20 of 25 GB/s per link, NVLink 4 20.6
// of 25, NVLink 5 40.1 of 50 (topo.h, SM70_NVLINK_BW ... SM100_NVLINK_BW).
inline constexpr double kScaleUpShare = 0.8;

struct ProtocolCosts {
  Duration launch{};         // before a rank's first message
  Duration step{};           // of a message over the network, until what depends on it may go
  Duration scale_up_step{};  // of one over the scale-up network
  // Of LL between hosts, whose kernels are slower than the links: of each octet on the wire, besides. NCCL's llMaxBws.
  double ps_per_octet = 0;

  bool operator==(const ProtocolCosts&) const = default;
};

// `protocol` is none of kAuto. Latencies are tuning.cc's baseLatencies and hwLatencies: of trees for `tree` and its kin, of
// rings for all others. Those of all steps of a ring that goes around are in `launch`. `channels`: parts that go at once, by
// which ps_per_octet grows.
ProtocolCosts protocol_costs(Protocol protocol, const Algorithm& algorithm, Operation operation, const NcclSystem& system,
                             std::uint32_t channels);

// Octets that go for so many octets of data, in multiples of `unit`.
std::uint64_t octets_on_wire(Protocol protocol, std::uint64_t octets, std::uint64_t unit);

// The time in us that NCCL's model gives the operation of `octets` (as nccl-tests counts them); below 0: NCCL does not do it so.
double nccl_time(Protocol protocol, const Algorithm& algorithm, Operation operation, std::uint64_t octets,
                 const NcclSystem& system);

struct ProtocolChoice {
  const Algorithm* algorithm = nullptr;
  Protocol protocol = Protocol::kNone;

  bool operator==(const ProtocolChoice&) const = default;
};

// What of an operation NCCL's model says is quickest: of `algorithm`, or, if that is nullptr, of ring and tree (all-reduce)
// or the usual algorithm. All-to-all, send-recv, gather and scatter are sends and receives to NCCL: LL up to 16 KiB for each
// rank (NCCL_P2P_LL_THRESHOLD), else Simple.
ProtocolChoice nccl_choice(Operation operation, const Algorithm* algorithm, std::uint64_t octets, const NcclSystem& system);

// A single send of a job or trace, by its octets: NCCL's rule for sends and receives.
constexpr Protocol protocol_of_send(Protocol said, std::uint64_t octets) noexcept {
  constexpr std::uint64_t kLlThreshold = 16'384;
  if (said != Protocol::kAuto) return said == Protocol::kNone ? said : Protocol::kSimple;
  return octets <= kLlThreshold ? Protocol::kLl : Protocol::kSimple;
}

}  // namespace railyard::collectives
