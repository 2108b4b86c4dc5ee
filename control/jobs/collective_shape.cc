// Collectives of a job: how each is planned.
#include <algorithm>
#include <map>
#include <utility>

#include "control/collectives/channels.h"
#include "control/collectives/registry.h"
#include "control/collectives/scale_up_latency.h"
#include "control/jobs/compile.h"

namespace railyard::jobs {
namespace {

// What those in `members` have in `all`, numbered in the order in which they are met; empty: each has one of its own.
std::vector<std::uint32_t> numbered(const std::vector<std::uint32_t>& all, const std::vector<std::uint32_t>& members) {
  if (all.empty()) return {};
  std::map<std::uint32_t, std::uint32_t> number;
  std::vector<std::uint32_t> out;
  for (const std::uint32_t m : members)
    out.push_back(number.try_emplace(all[m], static_cast<std::uint32_t>(number.size())).first->second);
  if (number.size() == members.size()) return {};
  return out;
}

// What reduces, as a collective of `members` sees it; `network`: their scale-up networks, as numbered().
collectives::ReductionNetwork reduction_of(const CompileOptions& options, const std::vector<std::uint32_t>& members,
                                           const std::vector<std::uint32_t>& network) {
  collectives::ReductionNetwork out{.neighbours = options.reduction.neighbours,
                                    .reducer = options.reduction.reducer,
                                    .latency = options.reduction.latency};
  for (std::size_t i = 0; i < members.size(); ++i) {
    out.leaf.push_back(options.reduction.leaf[members[i]]);
    if (network.empty()) continue;
    const auto reducer = options.reduction.in_network(options.host[members[i]]);
    if (!reducer) continue;
    out.of_network.resize(std::max<std::size_t>(out.of_network.size(), network[i] + 1), collectives::ReductionNetwork::kNone);
    out.of_network[network[i]] = *reducer;
  }
  return out;
}

// The first of what the lab and the trace ask for that is possible for these ranks. Else the usual one.
void choose_algorithm(collectives::CollectiveShape& shape, const Collective& collective, const CompileOptions& options,
                      const std::vector<std::uint32_t>& members, const collectives::Layout& layout) {
  for (const collectives::Algorithm* a : {options.algorithm, collective.algorithm}) {
    if (a == nullptr || !a->does(shape.operation) || a->refusal(layout)) continue;
    if (a->in_switches) {
      shape.reduction = reduction_of(options, members, shape.host);
      if (collectives::reduction_problem(shape, layout.ranks)) {
        shape.reduction = {};
        continue;
      }
    }
    shape.algorithm = a;
    return;
  }
}

// Its algorithm, if nobody says it, its costs and its octets on the wire.
void add_protocol(collectives::CollectiveShape& shape, std::uint32_t ranks, const Collective& collective,
                  const CompileOptions& options) {
  const collectives::NcclSystem system = collectives::nccl_system(ranks, shape.host, shape.rail, shape.tray,
                                                                  options.scale_up_rate, options.nic_rate);
  collectives::ProtocolChoice choice{&shape.used_algorithm(), options.protocol};
  if (options.protocol == collectives::Protocol::kAuto && collective.protocol != collectives::Protocol::kNone)
    choice.protocol = collective.protocol;
  else if (options.protocol == collectives::Protocol::kAuto)
    choice = collectives::nccl_choice(shape.operation, shape.algorithm, collective.octets, system);
  shape.algorithm = choice.algorithm;
  if (options.step_costs)
    shape.costs = collectives::without_scale_up_latency(
        collectives::protocol_costs(choice.protocol, *choice.algorithm, shape.operation, system, 1), *choice.algorithm,
        shape.operation, system, options.scale_up_latency);
  const std::uint64_t blocks = collectives::traits(shape.operation).by_blocks && shape.matrix.empty() ? ranks : 1;
  shape.size = collectives::octets_on_wire(choice.protocol, shape.size, blocks * shape.element);
  for (std::uint64_t& octets : shape.matrix) octets = collectives::octets_on_wire(choice.protocol, octets, shape.element);
}

}  // namespace

collectives::CollectiveShape shape_of(const JobGraph& graph, const Collective& collective, const CompileOptions& options) {
  const std::vector<std::uint32_t>& members = graph.communicators[collective.communicator];
  collectives::CollectiveShape shape{.operation = collective.operation,
                                     .size = collective_octets(graph, collective),
                                     .chunk = options.chunk / 4 * 4,
                                     .root = collective.root,
                                     .matrix = collective.matrix};
  shape.host = numbered(options.host, members);
  if (!shape.host.empty())
    for (const std::uint32_t m : members) {
      shape.rail.push_back(options.rail[m]);
      if (!options.tray.empty()) shape.tray.push_back(options.tray[m]);
    }
  // Within one host nothing is sent in packets, and nothing waits for parts of a message: they go whole.
  constexpr std::uint32_t kWhole = 1u << 30;
  if (!shape.host.empty() && std::ranges::all_of(shape.host, [](std::uint32_t h) { return h == 0; })) shape.chunk = kWhole;
  shape.group = shape.host.empty() ? numbered(options.leaf, members) : shape.host;
  if (shape.group.empty())
    for (std::uint32_t i = 0; i < members.size(); ++i) shape.group.push_back(i);
  const collectives::Layout layout{.ranks = static_cast<std::uint32_t>(members.size()),
                                   .group = shape.group,
                                   .in_hosts = !shape.host.empty(),
                                   .reduces = !options.reduction.latency.empty()};
  choose_algorithm(shape, collective, options, members, layout);
  if (options.protocol != collectives::Protocol::kNone) add_protocol(shape, layout.ranks, collective, options);
  shape.channels = collective.channels > 0 ? collective.channels
                                           : static_cast<std::uint32_t>(collectives::usual_channels(
                                                 shape.used_algorithm(), shape.operation, layout, shape.size));
  if (options.protocol != collectives::Protocol::kNone && options.step_costs) shape.costs.ps_per_octet *= shape.channels;
  return shape;
}

const collectives::CollectiveShape& Shapes::of(const Collective& collective) {
  const auto make = [&] { return shape_of(graph_, collective, options_); };
  if (!collective.matrix.empty()) return last_ = make();
  const auto [found, is_new] = known_.try_emplace({collective.communicator, collective.operation, collective.algorithm, collective.protocol,
                                                   collective.octets, collective.root, collective.channels});
  if (is_new) found->second = make();
  return found->second;
}

double messages(const JobGraph& graph, const CompileOptions& options) {
  Shapes shapes(graph, options);
  double all = 0;
  for (const auto& own : graph.ranks)
    for (const Operation& o : own)
      if (o.kind == Operation::Kind::kSend)
        all += 1 + static_cast<double>(message_octets(o.octets) / options.chunk);
  for (const Collective& c : graph.collectives) {
    const collectives::CollectiveShape& shape = shapes.of(c);
    const auto n = static_cast<double>(graph.communicators[c.communicator].size());
    const collectives::Algorithm& a = shape.used_algorithm();
    const collectives::Layout layout{.ranks = static_cast<std::uint32_t>(n), .channels = shape.channels, .group = shape.group,
                                     .in_hosts = !shape.host.empty()};
    all += 2 * n * static_cast<double>(shape.size) / shape.chunk;
    if (a.transfers != nullptr) all += shape.channels * a.transfers(layout, static_cast<double>(shape.size) / shape.channels);
  }
  return all;
}

}  // namespace railyard::jobs
