#include "control/collectives/protocol.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <set>
#include <utility>

#include "control/collectives/nccl_in_network.h"
#include "control/collectives/registry.h"
#include "control/collectives/scale_up_latency.h"
#include "control/collectives/scale_up_share.h"
#include "dataplane/base/assert.h"

namespace railyard::collectives {
namespace {

// us, as tuning.cc has them: base, scale-up network (NVLINK), network (NET).
struct Latencies {
  double base, scale_up, network;
};
// By protocol: Simple, LL128, LL.
constexpr std::array<Latencies, 3> kTreeLatencies{{{8.4, 4.0, 14}, {14, 1.25, 8.5}, {6.8, 0.6, 5.0}}};
constexpr std::array<Latencies, 3> kRingLatencies{{{8.4, 3.4, 14}, {14, 1.9, 4.0}, {6.6, 0.6, 2.7}}};
// A host's work for each step of a ring between hosts (getNetOverhead(): Intel 1 us, AMD 2 us; Simple three times).
constexpr double kNetOverhead = 1;
// All-reduces of rings between hosts, Simple ("plateau effect of ring").
constexpr double kPlateau = 1.4;
// Busbw of LL at most, GB/s: in one host (Hopper), in two, in more (hosts with Intel processors).
constexpr std::array kLlMost{141.0, 39.0, 20.4};
// What trees reach of their bandwidth at 64 B, 128 B, ... 256 MiB.
constexpr std::array<std::array<double, 24>, 3> kTreeCorrection{{
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9},
    {1., 1., 1., 1., 1., .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1., 1., 1.},
    {1., 1., 1., 1., .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1., 1., 1., 1., 1.},
}};

std::size_t index_of(Protocol p) {
  RAILYARD_ASSERT(p != Protocol::kNone && p != Protocol::kAuto, "a protocol is chosen");
  return static_cast<std::size_t>(p) - static_cast<std::size_t>(Protocol::kSimple);
}

// Of the size: what trees reach of their bandwidth.
double tree_correction(Protocol protocol, std::uint64_t octets) {
  const int log_size = octets < 64 ? -1 : static_cast<int>(std::bit_width(octets >> 6)) - 1;
  if (log_size < 0 || log_size >= 23) return 1;
  return kTreeCorrection[static_cast<std::size_t>(protocol) - static_cast<std::size_t>(Protocol::kSimple)]
                        [static_cast<std::size_t>(log_size)];
}

bool is_tree(const Algorithm& a) { return a.name.ends_with("tree"); }

bool is_ring(const Algorithm& a) { return &a == &kRing; }

double ll_most(const NcclSystem& s) { return kLlMost[std::min(s.hosts, 3u) - 1]; }

int log2_of(std::uint64_t value) { return static_cast<int>(std::bit_width(value)) - 1; }

// Steps of a ring, and those of them that NCCL's model has between hosts.
struct RingSteps {
  double all, between_hosts;
};
RingSteps ring_steps(Operation operation, const NcclSystem& s) {
  const double n = s.ranks, hosts = s.hosts;
  if (operation == Operation::kAllReduce) return {2 * (n - 1), 2 * (hosts - 1)};
  return {n - 1, hosts - 1};
}

bool goes_around(Operation o) {
  return o == Operation::kAllReduce || o == Operation::kReduceScatter || o == Operation::kAllGather;
}

// us, of the model.
struct StepLatencies {
  double base, scale_up, network;
};
StepLatencies step_latencies(Protocol protocol, const Algorithm& algorithm, Operation operation, const NcclSystem& s) {
  const bool tree = is_tree(algorithm);
  const std::size_t p = index_of(protocol);
  const Latencies& l = tree ? kTreeLatencies[p] : kRingLatencies[p];
  StepLatencies out{l.base, l.scale_up, l.network};
  if (s.hosts < 2 || tree) return out;
  // With one rank in each host nothing hides the network's latency.
  if (s.ranks == s.hosts) out.network = kTreeLatencies[p].network;
  if (!goes_around(operation) || !is_ring(algorithm)) return out;
  out.scale_up = std::max(out.scale_up, protocol == Protocol::kSimple ? 3 * kNetOverhead : kNetOverhead);
  if (protocol == Protocol::kSimple && operation == Operation::kAllReduce)
    for (double* latency : {&out.base, &out.scale_up, &out.network}) *latency *= kPlateau;
  return out;
}

Duration us(double value) { return Duration{static_cast<std::int64_t>(value * 1e6)}; }

}  // namespace

std::string_view name(Protocol protocol) noexcept {
  constexpr std::array<std::string_view, kProtocols.size()> kNames{"none", "simple", "ll128", "ll", "auto"};
  return kNames[static_cast<std::size_t>(protocol)];
}

NcclSystem nccl_system(std::uint32_t ranks, const std::vector<std::uint32_t>& host, const std::vector<std::uint32_t>& rail,
                       const std::vector<std::uint32_t>& tray, double scale_up_rate, double nic_rate) {
  if (host.empty()) return {.ranks = ranks, .hosts = ranks, .scale_up = scale_up_rate, .network = nic_rate};
  std::set<std::pair<std::uint32_t, std::uint32_t>> nics;
  for (std::size_t r = 0; r < host.size(); ++r)
    if (host[r] == host[0]) nics.insert({tray.empty() ? 0 : tray[r], rail[r]});
  return {.ranks = ranks,
          .hosts = static_cast<std::uint32_t>(std::set(host.begin(), host.end()).size()),
          .scale_up = scale_up_rate,
          .network = nic_rate * static_cast<double>(nics.size())};
}

ProtocolCosts protocol_costs(Protocol protocol, const Algorithm& algorithm, Operation operation, const NcclSystem& system,
                             std::uint32_t channels) {
  if (protocol == Protocol::kNone) return {};
  if (&algorithm == &kInNetwork) return {.launch = us(nccl_in_network_latency(system))};
  const StepLatencies l = step_latencies(protocol, algorithm, operation, system);
  ProtocolCosts costs{.launch = us(l.base), .step = us(l.network), .scale_up_step = us(l.scale_up)};
  // Blocks of a ring are under way at once, so that the costs of its steps would hide behind the octets of others. The model
  // adds them to the time of the octets, and so do measured ones (docs/fidelity.md): all of them at the start.
  if (is_ring(algorithm) && goes_around(operation)) {
    const RingSteps steps = ring_steps(operation, system);
    costs = {.launch = us(l.base + (steps.all - steps.between_hosts) * l.scale_up + steps.between_hosts * l.network)};
  }
  // Twice as many octets as data.
  if (protocol == Protocol::kLl && system.ranks > 1) costs.ps_per_octet = 1e3 * channels / (2 * ll_most(system));
  return costs;
}

ProtocolCosts without_scale_up_latency(ProtocolCosts costs, const Algorithm& algorithm, Operation operation,
                                       const NcclSystem& system, Duration latency) {
  const auto take_off = [](Duration& from, Duration time) { from = std::max(from - time, Duration{}); };
  take_off(costs.scale_up_step, latency);
  // Up, to the rank that has a part, and down.
  if (&algorithm == &kInNetwork && system.hosts < system.ranks) take_off(costs.launch, 4 * latency);
  if (!is_ring(algorithm) || !goes_around(operation)) return costs;
  // A block passes as many links of the ring, of which one in each host leads out of it.
  const double within = system.hosts == 1 ? 1 : 1 - static_cast<double>(system.hosts) / system.ranks;
  take_off(costs.launch, us(ring_steps(operation, system).all * within * static_cast<double>(latency.ps) / 1e6));
  return costs;
}

std::uint64_t octets_on_wire(Protocol protocol, std::uint64_t octets, std::uint64_t unit) {
  std::uint64_t all = octets;
  if (protocol == Protocol::kLl) all = 2 * octets;
  if (protocol == Protocol::kLl128) all = octets + (octets + 14) / 15;
  return (all + unit - 1) / unit * unit;
}

double scale_up_share(Protocol protocol, const Algorithm& algorithm, std::uint64_t octets, const NcclSystem& system) {
  if (protocol == Protocol::kNone) return 1;
  constexpr double kLl128Data = 120.0 / 128;
  if (!is_tree(algorithm)) return kScaleUpShare * (protocol == Protocol::kLl128 ? 0.92 / kLl128Data : 1);
  double share = kScaleUpShare * 0.92 * tree_correction(protocol, octets);
  if (protocol == Protocol::kLl) share *= 2 / 3.8;
  if (protocol == Protocol::kLl128 && system.hosts == 1) share *= 7.0 / 9 / kLl128Data;
  return share;
}

double nccl_time(Protocol protocol, const Algorithm& algorithm, Operation operation, std::uint64_t octets,
                 const NcclSystem& s) {
  constexpr double kNever = -1;
  const bool tree = is_tree(algorithm);
  if (s.ranks < 2 || protocol == Protocol::kNone || protocol == Protocol::kAuto) return kNever;
  const bool chain = operation == Operation::kBroadcast || operation == Operation::kReduce;
  if (!goes_around(operation) && !chain) return kNever;
  const double in_host = s.scale_up > 0 ? s.scale_up * kScaleUpShare : std::numeric_limits<double>::infinity();
  // A tree over two hosts sends half as much between them. Of each NIC's 25 or 50 GB/s NCCL's search takes 24 or 48
  // (search.cc, speedArrayInter).
  const double between = s.hosts == 1 ? in_host : 0.96 * s.network * (tree && s.hosts == 2 ? 2 : 1);
  double bw = s.ranks == s.hosts ? between : std::min(in_host, between);
  if (!(bw > 0) || bw > 1e9) return kNever;
  if (tree) bw *= 0.92;
  if (protocol == Protocol::kLl) bw = std::min(ll_most(s), tree ? bw / 3.8 : bw * 0.5);
  if (protocol == Protocol::kLl128) bw *= tree ? (s.hosts == 1 ? 7.0 / 9 : 120.0 / 128) : 0.92;
  const StepLatencies l = step_latencies(protocol, algorithm, operation, s);
  double latency = l.base;
  if (tree && chain) {
    latency += (s.ranks / s.hosts - 1) * l.scale_up + log2_of(s.hosts) * l.network;
  } else if (tree) {
    bw *= 0.5;
    latency += 2 * ((s.ranks / s.hosts - 1) * l.scale_up + log2_of(s.hosts) * l.network);
    bw *= tree_correction(protocol, octets);
  } else if (chain) {
    latency += s.hosts > 1 ? l.network : l.scale_up;
  } else {
    const RingSteps steps = ring_steps(operation, s);
    bw *= s.ranks / steps.all;
    latency += (steps.all - steps.between_hosts) * l.scale_up + steps.between_hosts * l.network;
  }
  return latency + static_cast<double>(octets) / (1e3 * bw);
}

ProtocolChoice nccl_choice(Operation operation, const Algorithm* algorithm, std::uint64_t octets, const NcclSystem& system) {
  const Algorithm* const usual = algorithm != nullptr ? algorithm : algorithms(operation).front();
  const bool ring_or_tree = goes_around(operation) || operation == Operation::kBroadcast || operation == Operation::kReduce;
  if (!ring_or_tree) return {usual, protocol_of_send(Protocol::kAuto, octets / std::max(system.ranks, 1u))};
  std::vector<const Algorithm*> candidates{usual};
  if (algorithm == nullptr && operation == Operation::kAllReduce) candidates = {&kRing, &kTree};
  ProtocolChoice best{candidates.front(), Protocol::kSimple};
  double least = std::numeric_limits<double>::infinity();
  for (const Algorithm* a : candidates)
    for (const Protocol p : {Protocol::kSimple, Protocol::kLl128, Protocol::kLl})
      if (const double time = nccl_time(p, *a, operation, octets, system); time >= 0 && time < least) {
        least = time;
        best = {a, p};
      }
  return best;
}

}  // namespace railyard::collectives
