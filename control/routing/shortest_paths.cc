#include "control/routing/shortest_paths.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

namespace railyard::routing {
namespace {

using wire::IpAddress;
using wire::IpPrefix;

constexpr int kUnreached = -1;

// Distance in hops of every switch from switch `from`.
std::vector<int> distances(const Graph& graph, std::size_t from) {
  std::vector<int> distance(graph.size(), kUnreached);
  std::deque<std::size_t> queue{from};
  distance[from] = 0;
  while (!queue.empty()) {
    const std::size_t n = queue.front();
    queue.pop_front();
    for (const Graph::Edge& e : graph.edges(n)) {
      if (!graph.is_switch(e.neighbour) || distance[e.neighbour] != kUnreached) continue;
      distance[e.neighbour] = distance[n] + 1;
      queue.push_back(e.neighbour);
    }
  }
  return distance;
}

// The groups of next hops that lead to one switch, or to the nearest of several, by node; with what each is worth.
class Worth {
 public:
  Worth(const Graph& graph, const std::vector<int>& distance) : graph_(graph), through_(graph.size(), 0) {
    std::vector<std::size_t> nearest_first;
    for (std::size_t n = 0; n < graph.size(); ++n)
      if (graph.is_switch(n) && distance[n] != kUnreached) nearest_first.push_back(n);
    std::stable_sort(nearest_first.begin(), nearest_first.end(),
                     [&](std::size_t a, std::size_t b) { return distance[a] < distance[b]; });
    groups_.resize(graph.size());
    for (const std::size_t n : nearest_first) {
      if (distance[n] == 0) {
        through_[n] = std::numeric_limits<std::int64_t>::max();
        continue;
      }
      group(n, distance);
    }
  }

  const std::vector<PortIndex>& ports(std::size_t node) const noexcept { return groups_[node].ports; }
  const std::vector<std::uint32_t>& weights(std::size_t node) const noexcept { return groups_[node].weights; }

 private:
  struct Group {
    std::vector<PortIndex> ports;
    std::vector<std::uint32_t> weights;
  };

  void group(std::size_t n, const std::vector<int>& distance) {
    Group& g = groups_[n];
    std::vector<std::int64_t> worth;
    std::vector<std::int64_t> said;
    bool any_said = false;
    for (const Graph::Edge& e : graph_.edges(n)) {
      if (!graph_.is_switch(e.neighbour) || distance[e.neighbour] != distance[n] - 1) continue;
      const spec::LinkSpec& link = graph_.lab().links[e.link];
      g.ports.push_back(e.port);
      worth.push_back(std::min(link.rate.bps, through_[e.neighbour]));
      said.push_back(link.weight.value_or(1));
      any_said |= link.weight.has_value();
      through_[n] += worth.back();
    }
    const std::vector<std::int64_t>& weights = any_said ? said : worth;
    if (std::adjacent_find(weights.begin(), weights.end(), std::not_equal_to<>{}) == weights.end()) return;
    // In units of a thousandth of the largest.
    const std::int64_t common =
        std::accumulate(weights.begin(), weights.end(), std::int64_t{0}, std::gcd<std::int64_t, std::int64_t>);
    const std::int64_t most = *std::max_element(weights.begin(), weights.end());
    const std::int64_t unit = std::max(common, most / 1000);
    for (const std::int64_t w : weights)
      g.weights.push_back(static_cast<std::uint32_t>(std::max<std::int64_t>(1, w / unit)));
  }

  const Graph& graph_;
  std::vector<Group> groups_;
  std::vector<std::int64_t> through_;  // what can be carried by way of a node, in bit/s
};

// What a switch stands for in other switches' tables.
struct Behind {
  struct Address {
    IpAddress address;
    PortIndex port;
  };
  std::vector<Address> hosts;
  std::vector<IpAddress> own;  // loopbacks
  std::vector<IpPrefix> announced;
};

IpPrefix host_prefix(const IpAddress& a) { return IpPrefix::of(a, 128); }

// The longest prefix that covers all addresses of one family, if there are at least two.
std::optional<IpPrefix> common_prefix(const std::vector<IpAddress>& addresses) {
  if (addresses.size() < 2) return std::nullopt;
  const auto [least, most] = std::minmax_element(addresses.begin(), addresses.end());
  std::uint8_t length = 128;
  while (!IpPrefix::of(*least, length).contains(*most)) --length;
  return IpPrefix::of(*least, length);
}

// By prefix that some trunk leads to: the switches that have such a trunk, with its ports.
using Trunks = std::map<IpPrefix, std::map<std::size_t, std::vector<PortIndex>>>;

Trunks behind_trunks(const Graph& graph) {
  Trunks trunks;
  for (std::size_t n = 0; n < graph.size(); ++n) {
    if (!graph.is_switch(n)) continue;
    for (const Graph::Edge& e : graph.edges(n))
      if (graph.is_trunk(e.neighbour))
        for (const IpPrefix& p : graph.lab().nodes[e.neighbour].trunk.networks) {
          std::vector<PortIndex>& ports = trunks[p][n];
          if (std::find(ports.begin(), ports.end(), e.port) == ports.end()) ports.push_back(e.port);
        }
  }
  return trunks;
}

std::vector<Behind> behind_each(const Graph& graph) {
  std::vector<Behind> behind(graph.size());
  std::vector<IpAddress> everybody;
  for (std::size_t n = 0; n < graph.size(); ++n) {
    const spec::NodeSpec& node = graph.lab().nodes[n];
    if (node.kind != spec::NodeSpec::Kind::kSwitch) continue;
    for (const auto& loopback : {node.loopback_v4, node.loopback_v6})
      if (loopback) behind[n].own.push_back(*loopback);
    for (const Graph::Edge& e : graph.edges(n)) {
      if (!graph.is_host(e.neighbour)) continue;
      const spec::NicSpec& nic = graph.lab().nodes[e.neighbour].nics[e.neighbour_port.index()];
      for (const auto& address : {nic.address_v4, nic.address_v6})
        if (address) behind[n].hosts.push_back({*address, e.port});
    }
    for (const auto& h : behind[n].hosts) everybody.push_back(h.address);
    everybody.insert(everybody.end(), behind[n].own.begin(), behind[n].own.end());
  }
  std::sort(everybody.begin(), everybody.end());
  const auto covered = [&](const IpPrefix& p) {
    const auto first = std::lower_bound(everybody.begin(), everybody.end(), p.address);
    return std::find_if_not(first, everybody.end(), [&](const IpAddress& a) { return p.contains(a); }) - first;
  };
  // A prefix within a network behind a trunk would draw in what lies behind the trunk.
  const Trunks trunks = behind_trunks(graph);
  const auto within_trunk = [&](const IpPrefix& p) {
    return std::any_of(trunks.begin(), trunks.end(),
                       [&](const auto& t) { return t.first.length <= p.length && t.first.contains(p.address); });
  };
  for (Behind& b : behind) {
    for (const bool v4 : {true, false}) {
      std::vector<IpAddress> family;
      for (const auto& h : b.hosts)
        if (h.address.is_v4() == v4) family.push_back(h.address);
      const auto prefix = common_prefix(family);
      if (prefix && !within_trunk(*prefix) && covered(*prefix) == static_cast<std::ptrdiff_t>(family.size()))
        b.announced.push_back(*prefix);
      else
        for (const IpAddress& a : family) b.announced.push_back(host_prefix(a));
    }
    for (const IpAddress& a : b.own) b.announced.push_back(host_prefix(a));
  }
  return behind;
}

// A switch with such trunks uses them; the others go to the nearest of these switches.
void add_trunk_routes(const Graph& graph, Routes& routes, std::vector<IpPrefix>& prefixes) {
  for (const auto& [prefix, owners] : behind_trunks(graph)) {
    prefixes.push_back(prefix);
    std::vector<int> nearest(graph.size(), kUnreached);
    for (const auto& [owner, ports] : owners) {
      const std::vector<int> to = distances(graph, owner);
      for (std::size_t n = 0; n < graph.size(); ++n)
        if (to[n] != kUnreached && (nearest[n] == kUnreached || to[n] < nearest[n])) nearest[n] = to[n];
    }
    const Worth worth(graph, nearest);
    for (std::size_t n = 0; n < graph.size(); ++n) {
      if (!graph.is_switch(n) || nearest[n] == kUnreached) continue;
      Route route{prefix, worth.ports(n), worth.weights(n)};
      if (const auto own = owners.find(n); own != owners.end()) route.ports = own->second;
      routes.by_node[n].push_back(std::move(route));
    }
  }
}

}  // namespace

Routes shortest_paths(const Graph& graph) {
  const std::vector<Behind> behind = behind_each(graph);
  Routes routes;
  routes.by_node.resize(graph.size());
  std::vector<IpPrefix> prefixes;
  for (std::size_t to = 0; to < graph.size(); ++to) {
    if (!graph.is_switch(to)) continue;
    for (const auto& h : behind[to].hosts) {
      routes.by_node[to].push_back({host_prefix(h.address), {h.port}});
      prefixes.push_back(host_prefix(h.address));
    }
    for (const IpAddress& a : behind[to].own) {
      routes.by_node[to].push_back({host_prefix(a), {}});
      prefixes.push_back(host_prefix(a));
    }
    prefixes.insert(prefixes.end(), behind[to].announced.begin(), behind[to].announced.end());
    if (behind[to].announced.empty()) continue;

    const std::vector<int> distance = distances(graph, to);
    const Worth worth(graph, distance);
    for (std::size_t n = 0; n < graph.size(); ++n) {
      if (n == to || distance[n] == kUnreached) continue;
      Route route;
      route.ports = worth.ports(n);
      route.weights = worth.weights(n);
      for (const IpPrefix& p : behind[to].announced) {
        route.prefix = p;
        routes.by_node[n].push_back(route);
      }
    }
  }
  add_trunk_routes(graph, routes, prefixes);
  routes.fecs = std::make_shared<const FecTable>(std::move(prefixes));
  return routes;
}

}  // namespace railyard::routing
