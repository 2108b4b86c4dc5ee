#include "control/routing/path_times.h"

#include <algorithm>

#include "dataplane/packet/packet.h"

namespace railyard::routing {
namespace {

double ps_per_octet(BitRate rate) { return 8e12 / static_cast<double>(rate.bps); }

}  // namespace

PathTimes::PathTimes(const spec::Lab& lab) : lab_(lab), graph_(lab) {}

std::int64_t PathTimes::latency(std::size_t node) const {
  const spec::NodeSpec& n = lab_.nodes[node];
  if (graph_.is_switch(node)) return lab_.switches.at(n.profile).latency.ps;
  if (graph_.is_host(node)) return lab_.hosts.at(n.profile).latency.ps;
  return 0;
}

bool PathTimes::stores(std::size_t node) const {
  return lab_.switches.at(lab_.nodes[node].profile).mode == spec::ForwardingMode::kStoreAndForward;
}

PathTimes::Way PathTimes::beyond(const Way& way, std::size_t node, const spec::LinkSpec& link) const {
  Way w{way.fixed_ps + static_cast<double>(link.delay.ps), way.ps_per_octet};
  if (!stores(node)) return w;
  w.fixed_ps += ps_per_octet(link.rate) * link.framing.preamble;
  w.ps_per_octet += ps_per_octet(link.rate);
  return w;
}

std::optional<PathTimes::Nic> PathTimes::nic(const spec::PortName& name) const {
  for (const routing::Graph::Edge& e : graph_.edges(graph_.node(name.node)))
    if (e.port.value + 1 == name.port) return Nic{e.neighbour, lab_.links[e.link]};
  return std::nullopt;
}

BitRate PathTimes::rate(const spec::PortName& name) const {
  const auto n = nic(name);
  return n ? n->link.rate : BitRate{};
}

Framing PathTimes::framing(const spec::PortName& name) const {
  const auto n = nic(name);
  return n ? n->link.framing : Framing{};
}

const std::vector<std::optional<PathTimes::Ways>>& PathTimes::ways(std::size_t from) {
  const auto [known, is_new] = ways_.try_emplace(from);
  std::vector<std::optional<Ways>>& to = known->second;
  if (!is_new) return to;
  to.resize(graph_.size());
  to[from] = Ways{};
  // Breadth first; within a distance each node's ways are known before any is gone on with.
  std::vector<std::size_t> level{from};
  while (!level.empty()) {
    std::vector<std::size_t> next;
    for (const std::size_t node : level)
      for (const routing::Graph::Edge& e : graph_.edges(node)) {
        if (!graph_.is_switch(e.neighbour)) continue;
        const spec::LinkSpec& link = lab_.links[e.link];
        const auto on = [&](const Way& way) {
          Way w = beyond(way, node, link);
          w.fixed_ps += static_cast<double>(latency(e.neighbour));
          return w;
        };
        const Ways w{to[node]->hops + 1, on(to[node]->quickest), on(to[node]->slowest)};
        std::optional<Ways>& known_ways = to[e.neighbour];
        if (!known_ways) {
          next.push_back(e.neighbour);
          known_ways = w;
        } else if (known_ways->hops == w.hops) {
          if (w.quickest < known_ways->quickest) known_ways->quickest = w.quickest;
          if (w.slowest > known_ways->slowest) known_ways->slowest = w.slowest;
        }
      }
    level = std::move(next);
  }
  return to;
}

std::optional<Duration> PathTimes::one_way(const spec::PortName& from, const spec::PortName& to, int frame_octets,
                                           Which which) {
  const auto source = nic(from);
  const auto sink = nic(to);
  if (!source || !sink) return std::nullopt;
  const std::size_t host = graph_.node(to.node);
  const spec::LinkSpec& first = source->link;
  double ps = ps_per_octet(first.rate) * (frame_octets + first.framing.preamble) +
              static_cast<double>(first.delay.ps + latency(host));
  if (source->neighbour != host) {
    if (!graph_.is_switch(source->neighbour)) return std::nullopt;
    const auto& known = ways(source->neighbour).at(sink->neighbour);
    if (!known) return std::nullopt;
    const Way way = beyond(which == Which::kQuickest ? known->quickest : known->slowest, sink->neighbour, sink->link);
    ps += static_cast<double>(latency(source->neighbour)) + way.fixed_ps + frame_octets * way.ps_per_octet;
  }
  return Duration{static_cast<std::int64_t>(ps)};
}

}  // namespace railyard::routing
