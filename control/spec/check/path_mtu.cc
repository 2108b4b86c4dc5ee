#include "control/spec/check/path_mtu.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <limits>

namespace railyard::spec {

PathMtu::PathMtu(const Lab& lab) : forwards_(lab.nodes.size()), edges_(lab.nodes.size()) {
  for (std::size_t i = 0; i < lab.nodes.size(); ++i) {
    index_[lab.nodes[i].name] = i;
    forwards_[i] = lab.nodes[i].kind == NodeSpec::Kind::kSwitch;
  }
  for (const LinkSpec& link : lab.links) {
    const std::size_t a = index_.at(link.a.node);
    const std::size_t b = index_.at(link.b.node);
    if (forwards_[a] && forwards_[b]) {
      edges_[a].push_back({b, link.mtu});
      edges_[b].push_back({a, link.mtu});
    }
    if (!forwards_[a]) access_[link.a] = {b, link.b, link.mtu};
    if (!forwards_[b]) access_[link.b] = {a, link.a, link.mtu};
  }
}

// Breadth first from the far end: a node's value is complete before the nodes behind it are looked at.
const std::vector<int>& PathMtu::towards(std::size_t node) {
  std::vector<int>& least = least_;
  if (towards_ == node) return least;
  towards_ = node;
  constexpr int kNone = std::numeric_limits<int>::max();
  least.assign(edges_.size(), 0);
  std::vector<int> hops(edges_.size(), kNone);
  std::deque<std::size_t> next{node};
  hops[node] = 0;
  least[node] = kNone;
  while (!next.empty()) {
    const std::size_t at = next.front();
    next.pop_front();
    for (const Edge& edge : edges_[at]) {
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
  const Access& source = access_.at(from);
  const Access& destination = access_.at(to);
  if (source.peer_port == to) return source.mtu;
  if (!forwards_[source.peer] || !forwards_[destination.peer]) return 0;
  return std::min({source.mtu, destination.mtu, towards(destination.peer)[source.peer]});
}

bool PathMtu::all_connected() {
  return std::ranges::all_of(access_, [&](const auto& nic) {
    const Access& first = access_.begin()->second;
    return forwards_[first.peer] && forwards_[nic.second.peer] && towards(first.peer)[nic.second.peer] > 0;
  });
}

std::size_t PathMtu::group(const PortName& nic) {
  const Access& access = access_.at(nic);
  // A host at the other end has only this one NIC to be reached at.
  const int port = forwards_[access.peer] ? 0 : access.peer_port.port;
  return groups_.try_emplace({access.peer, port, access.mtu}, groups_.size()).first->second;
}

}  // namespace railyard::spec
