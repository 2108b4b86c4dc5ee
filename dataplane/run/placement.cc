#include "dataplane/run/placement.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

#include "dataplane/graph/partition.h"

namespace railyard {
namespace {

// What stays together is one of these.
constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

// Parts of a graph of `count` vertices, by vertex. `vertex_of`: by device; kNowhere: it is in none.
std::vector<std::size_t> parts_of(const Fabric& fabric, const std::vector<std::uint32_t>& vertex_of, std::size_t count,
                                  std::size_t parts, const MeasuredLoads* loads) {
  // METIS wants more than one for each; of many parts with few devices it may print complaints to standard output.
  constexpr std::size_t kManyParts = 8;
  const auto in_turn = [&] {
    std::vector<std::size_t> part(count);
    for (std::size_t v = 0; v < count; ++v) part[v] = v % parts;
    return part;
  };
  if (parts == 1 || count <= parts || (parts > kManyParts && count < kThinWindow * parts)) return in_turn();
  WeightedGraph graph(count);
  for (std::size_t l = 0; l < fabric.links().size(); ++l) {
    const Link& link = fabric.links()[l];
    const std::uint32_t a = vertex_of[link.a.device.index()];
    const std::uint32_t b = vertex_of[link.b.device.index()];
    // A link that was idle is one that may be used.
    if (a != kNowhere && b != kNowhere) graph.add_edge(a, b, loads == nullptr ? 1 : 1 + loads->links[l]);
  }
  // In thousandths of all load, as many as there are vertices: METIS adds up in 32 bits.
  constexpr std::uint64_t kShares = 1'000;
  const std::uint64_t all =
      loads == nullptr ? 0 : std::accumulate(loads->devices.begin(), loads->devices.end(), std::uint64_t{0});
  const std::uint64_t unit = std::max<std::uint64_t>(all / (kShares * count), 1);
  for (std::size_t d = 0; d < fabric.size(); ++d)
    if (vertex_of[d] != kNowhere)
      graph.add_weight(vertex_of[d], loads == nullptr ? std::max<std::size_t>(fabric.devices()[d]->ports(), 1)
                                                      : 1 + loads->devices[d] / unit);
  std::vector<std::size_t> part = partition(graph, parts);
  // Empty only for want of memory; any placement is right.
  return part.empty() ? in_turn() : part;
}

}  // namespace

std::vector<std::uint8_t> place_devices(const Fabric& fabric, std::size_t workers, const std::vector<bool>& elsewhere,
                                        const MeasuredLoads* loads) {
  std::vector<std::uint8_t> worker_of(fabric.size());
  std::vector<std::uint32_t> vertex_of(fabric.size(), kNowhere);
  std::uint32_t here = 0;
  for (std::size_t d = 0; d < fabric.size(); ++d)
    if (elsewhere.empty() || !elsewhere[d]) vertex_of[d] = here++;
  const std::vector<std::size_t> part = parts_of(fabric, vertex_of, here, workers, loads);
  for (std::size_t d = 0; d < fabric.size(); ++d)
    if (vertex_of[d] != kNowhere) worker_of[d] = static_cast<std::uint8_t>(part[vertex_of[d]]);
  return worker_of;
}

std::vector<std::uint16_t> split_devices(const Fabric& fabric, std::size_t parts) {
  std::vector<std::uint32_t> leader(fabric.size());
  std::iota(leader.begin(), leader.end(), 0u);
  const auto leader_of = [&](std::uint32_t d) {
    while (leader[d] != d) d = leader[d] = leader[leader[d]];
    return d;
  };
  for (const SideLink& s : fabric.side_links()) {
    const auto [less, more] = std::minmax(leader_of(s.from.value), leader_of(s.to.value));
    leader[more] = less;
  }
  std::vector<std::uint32_t> vertex_of(fabric.size());
  std::uint32_t count = 0;
  for (std::uint32_t d = 0; d < fabric.size(); ++d) vertex_of[d] = leader_of(d) == d ? count++ : vertex_of[leader_of(d)];
  if (parts > count)
    throw std::invalid_argument(std::to_string(parts) + " processes for " + std::to_string(count) +
                                " devices or groups of hosts with one scale-up network; expected at least one for each");
  const std::vector<std::size_t> part = parts_of(fabric, vertex_of, count, parts, nullptr);
  std::vector<std::uint16_t> part_of(fabric.size());
  for (std::size_t d = 0; d < fabric.size(); ++d) part_of[d] = static_cast<std::uint16_t>(part[vertex_of[d]]);
  return part_of;
}

}  // namespace railyard
