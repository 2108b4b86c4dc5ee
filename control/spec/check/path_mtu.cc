#include "control/spec/check/path_mtu.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <limits>

namespace railyard::spec {

// Breadth first from the far end: a node's value is complete before the nodes behind it are looked at.
const std::vector<int>& PathMtu::towards(std::size_t node) {
  std::vector<int>& least = least_;
  if (towards_ == node) return least;
  towards_ = node;
  constexpr int kNone = std::numeric_limits<int>::max();
  least.assign(graph_.edges.size(), 0);
  std::vector<int> hops(graph_.edges.size(), kNone);
  std::deque<std::size_t> next{node};
  hops[node] = 0;
  least[node] = kNone;
  while (!next.empty()) {
    const std::size_t at = next.front();
    next.pop_front();
    for (const SwitchGraph::Edge& edge : graph_.edges[at]) {
      const int through = std::min(least[at], edge.mtu);
      if (hops[edge.node] == kNone) {
        hops[edge.node] = hops[at] + 1;
        least[edge.node] = through;
        next.push_back(edge.node);
      } else if (hops[edge.node] == hops[at] + 1) {
        least[edge.node] = std::min(least[edge.node], through);
      }
    }
  }
  return least;
}

int PathMtu::between(const PortName& from, const PortName& to) {
  const SwitchGraph::Access& source = graph_.access.at(from);
  const SwitchGraph::Access& destination = graph_.access.at(to);
  if (source.peer_port == to) return source.mtu;
  if (!graph_.is_at_switch(source) || !graph_.is_at_switch(destination)) return 0;
  return std::min({source.mtu, destination.mtu, towards(destination.peer)[source.peer]});
}

bool PathMtu::all_connected() {
  return std::ranges::all_of(graph_.access, [&](const auto& nic) {
    const SwitchGraph::Access& first = graph_.access.begin()->second;
    return graph_.is_at_switch(first) && graph_.is_at_switch(nic.second) && towards(first.peer)[nic.second.peer] > 0;
  });
}

std::size_t PathMtu::group(const PortName& nic) {
  const SwitchGraph::Access& access = graph_.access.at(nic);
  // A host at the other end has only this one NIC to be reached at.
  const int port = graph_.is_at_switch(access) ? 0 : access.peer_port.port;
  return groups_.try_emplace({access.peer, port, access.mtu}, groups_.size()).first->second;
}

}  // namespace railyard::spec
