#include "control/routing/path_times.h"

#include <algorithm>
#include <array>

#include "dataplane/packet/packet.h"

namespace railyard::routing {
namespace {

double ps_per_octet(BitRate rate) { return 8e12 / static_cast<double>(rate.bps); }

}  // namespace

PathTimes::PathTimes(const spec::Lab& lab) : lab_(lab), graph_(lab) {}

void PathTimes::find_twins() {
  using Seen = std::vector<std::array<std::int64_t, 4>>;
  std::map<Seen, std::size_t> known;
  std::size_t switches = 0;
  place_.assign(graph_.size(), kNowhere);
  twin_of_.assign(graph_.size(), kNowhere);
  for (std::size_t n = 0; n < graph_.size(); ++n) {
    if (!graph_.is_switch(n)) continue;
    place_[n] = switches++;
    Seen seen;
    for (const routing::Graph::Edge& e : graph_.edges(n)) {
      const spec::LinkSpec& link = lab_.links[e.link];
      if (graph_.is_switch(e.neighbour))
        seen.push_back({static_cast<std::int64_t>(e.neighbour), link.delay.ps, link.rate.bps, link.framing.preamble});
    }
    std::ranges::sort(seen);
    seen.push_back({latency(n), stores(n) ? 1 : 0, 0, 0});
    twin_of_[n] = known.try_emplace(std::move(seen), n).first->second;
  }
}

const std::optional<PathTimes::Ways>& PathTimes::between(std::size_t from, std::size_t to) {
  static const std::optional<Ways> kNone;
  if (twin_of_.empty()) find_twins();
  if (place_[to] == kNowhere) return kNone;
  const std::size_t twin = twin_of_[from];
  // With both in each other's place.
  const std::size_t there = to == from ? twin : to == twin ? from : to;
  return ways(twin)[place_[there]];
}

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
  to.resize(static_cast<std::size_t>(std::ranges::count_if(place_, [](std::size_t p) { return p != kNowhere; })));
  to[place_[from]] = Ways{};
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
        const Ways& here = *to[place_[node]];
        std::optional<Ways>& known_ways = to[place_[e.neighbour]];
        if (known_ways && known_ways->hops <= here.hops) continue;
        const Ways w{here.hops + 1, on(here.quickest), on(here.slowest)};
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
    const std::optional<Ways>& known = between(source->neighbour, sink->neighbour);
    if (!known) return std::nullopt;
    const Way way = beyond(which == Which::kQuickest ? known->quickest : known->slowest, sink->neighbour, sink->link);
    ps += static_cast<double>(latency(source->neighbour)) + way.fixed_ps + frame_octets * way.ps_per_octet;
  }
  return Duration{static_cast<std::int64_t>(ps)};
}

}  // namespace railyard::routing
