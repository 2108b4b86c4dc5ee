#include "control/routing/up_down.h"

#include <algorithm>
#include <cstddef>

namespace railyard::routing {
namespace {

// The ports of a group, by where they lead.
struct Ways {
  bool up = false;
  bool level = false;
  std::vector<std::size_t> below;  // switches
};

class UpDown {
 public:
  UpDown(const Graph& graph, const Routes& routes) : graph_(graph), routes_(routes), hops_(hops_to_edge(graph)) {
    ways_.resize(graph.size());
    for (std::size_t n = 0; n < graph.size(); ++n)
      if (graph.is_switch(n)) add_ways(n);
  }

  bool holds() const {
    for (std::size_t o = 0; o < routes_.announced.origins.size(); ++o) {
      const std::vector<Origin::Owner>& owners = routes_.announced.origins[o].owners;
      // Nobody sends to a switch itself what could fill a buffer.
      if (std::ranges::none_of(owners, [&](const Origin::Owner& owner) { return hops_[owner.node] == 1; })) continue;
      for (std::size_t n = 0; n < graph_.size(); ++n) {
        if (!graph_.is_switch(n)) continue;
        const Ways& ways = way(n, o);
        if (ways.level || std::ranges::any_of(ways.below, [&](std::size_t b) { return way(b, o).up; })) return false;
      }
    }
    return true;
  }

 private:
  const Ways& way(std::size_t node, std::size_t origin) const { return ways_[node][routes_.ribs[node].number(origin)]; }

  void add_ways(std::size_t node) {
    std::vector<const Graph::Edge*> by_port(graph_.ports(node));
    for (const Graph::Edge& e : graph_.edges(node)) by_port[e.port.index()] = &e;
    for (const NextHopGroup& group : routes_.ribs[node].groups()) {
      Ways& ways = ways_[node].emplace_back();
      for (const PortIndex port : group.ports) {
        const std::size_t next = by_port[port.index()]->neighbour;
        if (!graph_.is_switch(next)) continue;
        ways.up |= hops_[next] > hops_[node];
        ways.level |= hops_[next] == hops_[node];
        if (hops_[next] < hops_[node]) ways.below.push_back(next);
      }
    }
  }

  const Graph& graph_;
  const Routes& routes_;
  std::vector<int> hops_;
  std::vector<std::vector<Ways>> ways_;  // by node and number of the group
};

}  // namespace

std::vector<int> hops_to_edge(const Graph& graph) {
  std::vector<int> hops(graph.size(), -1);
  std::vector<std::size_t> open;
  for (std::size_t n = 0; n < graph.size(); ++n)
    // A reducer is a part of its switch: no edge of the fabric.
    if (!graph.is_switch(n) && !graph.lab().nodes[n].reduces) {
      hops[n] = 0;
      open.push_back(n);
    }
  for (std::size_t i = 0; i < open.size(); ++i)
    for (const Graph::Edge& e : graph.edges(open[i]))
      if (hops[e.neighbour] < 0) {
        hops[e.neighbour] = hops[open[i]] + 1;
        open.push_back(e.neighbour);
      }
  return hops;
}

bool goes_up_then_down(const Graph& graph, const Routes& routes) {
  return routes.detours == nullptr && UpDown(graph, routes).holds();
}

}  // namespace railyard::routing
