// Which NICs the ranks of a collective are, and where.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/collectives/collective_plan.h"
#include "control/jobs/compile.h"
#include "control/spec/spec.h"

namespace railyard::spec {

// What its packets look like, as those of traffic do.
TrafficSpec like_traffic(const CollectiveSpec& collective);
// The same of its messages between two of so many `ranks`, or behind them reducers: what a job stores and reads may have a class
// of its own.
TrafficSpec like_traffic(const CollectiveSpec& collective, std::size_t ranks, std::uint32_t a, std::uint32_t b);
// All kinds of messages, each once.
std::vector<TrafficSpec> all_like_traffic(const CollectiveSpec& collective);
// Whether a rank of so many has part in a repeat. Ranks that only store, and those that an elastic job has left out, have none,
// and may be ahead of the others.
bool takes_part(const CollectiveSpec& collective, std::size_t ranks, std::uint32_t rank, std::size_t repeat);

// The NIC of a GPU (from 1) of a host with so many NICs, whose profile has GPUs.
int gpu_nic(const HostProfile& profile, std::size_t nics, int gpu);

// Where a rank is: its NIC, and its GPU (from 1); 0: its host's profile has none, and the NIC is the rank.
struct RankAt {
  static constexpr int kReducer = 4095;  // `gpu` of what reduces in the switches of the host's scale-up network

  PortName nic;
  int gpu = 0;

  auto operator<=>(const RankAt&) const = default;
};
// Rank by rank, in the order of the selectors, then of the nodes, then of GPUs or NICs; those that only store for a job are
// the last ones, and selectors do not name them. A host that is named without a NIC,
// whose NICs are all cabled to other hosts and which has no scale-up network, is one rank.
std::vector<RankAt> ranks_at(const Lab& lab, const CollectiveSpec& collective);
// Those that only store for it.
std::size_t storage_ranks(const Lab& lab, const JobSpec& job);
// As people call it: "h1/gpu3"; without GPUs "h1:2", or "h1" of a host with one NIC.
std::string format(const Lab& lab, const RankAt& rank);

// Rank r's NIC; GPUs may share one.
std::vector<PortName> ranks(const Lab& lab, const CollectiveSpec& collective);

// Whether switches do it; of a job or a trace, its collectives as far as they can.
bool is_in_switches(const CollectiveSpec& collective);
// What takes part without being a rank: the reducers in switches, if its algorithm needs them. Its programs are behind those of
// the ranks, in this order.
std::vector<RankAt> reducers(const Lab& lab, const CollectiveSpec& collective);

// What its plan is made from; `nics`: ranks().
collectives::CollectiveShape shape_of(const Lab& lab, const CollectiveSpec& collective,
                                      const std::vector<PortName>& nics);

// Messages of all ranks in a repeat, at most; and the least that estimates (control/estimate/) take for `chunk`.
inline constexpr double kMostCollectiveMessages = 1 << 22;
inline constexpr std::uint32_t kLeastEstimatedChunk = 1u << 26;

// What its ranks do, and behind them its reducers; `nics`: ranks(). Throws InputError: a job or a trace needs more messages than there may be.
std::vector<RankProgram> programs_of(const Lab& lab, const CollectiveSpec& collective, const std::vector<PortName>& nics);

// By rank: how many times as long computing takes it (`stragglers`); empty: all are alike.
std::vector<double> slowness_of(const CollectiveSpec& collective, std::size_t ranks);

// With what the programs of a trace are made; `nics`: ranks().
jobs::CompileOptions compile_options(const Lab& lab, const CollectiveSpec& collective, const std::vector<PortName>& nics);

// What algbw is multiplied by (collectives::busbw_factor()); 0: a trace or a barrier, which have neither.
double busbw_factor(const Lab& lab, const CollectiveSpec& collective, const std::vector<PortName>& nics);

// What of it NCCL would choose: of its algorithm if its lab says one.
collectives::ProtocolChoice choice_of_nccl(const Lab& lab, const CollectiveSpec& collective);

// What its protocol costs, without what its lab says itself; `nics`: ranks(). Of graphs each collective has its own.
collectives::ProtocolCosts costs_of(const Lab& lab, const CollectiveSpec& collective, const std::vector<PortName>& nics);

// How many channels a collective has if its lab does not say: where each leaves a scale-up network by another NIC, as many
// as such a network has ranks, at most; but no more than make a program of moderate size. Else 1.
int usual_channels(const Lab& lab, const CollectiveSpec& collective);

// By rank: its scale-up network, and the rail of its NIC in its host (from 1). Those of one such network share a number;
// others have one of their own. Both empty: no two ranks are in one.
struct RankPlaces {
  std::vector<std::uint32_t> host;
  std::vector<std::uint32_t> rail;
  // Which of its network's hosts (from 0) it is in; empty: each has only one.
  std::vector<std::uint32_t> tray;
};
RankPlaces places(const Lab& lab, const std::vector<PortName>& ranks);

// What algorithms ask: groups are places(...).host if there are such networks, else leaves().
collectives::Layout layout(const Lab& lab, const std::vector<PortName>& ranks);

// Whether an agent carries out some of them.
bool has_agents(const Lab& lab, const std::vector<PortName>& ranks);

// By rank: a number that those at the same switch share, in the order in which they are met.
std::vector<std::uint32_t> leaves(const Lab& lab, const std::vector<PortName>& ranks);

}  // namespace railyard::spec
