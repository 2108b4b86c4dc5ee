#include "control/lint/facts.h"

#include <algorithm>
#include <deque>

#include <fmt/format.h>

#include "control/spec/collective_ranks.h"
#include "control/spec/frame_tags.h"
#include "control/spec/value.h"
#include "dataplane/switch/path/policies.h"

namespace railyard::lint {

using Edge = routing::Graph::Edge;

Facts::Facts(build::BuiltLab& lab) : lab_(lab), graph_(lab.spec()) {
  std::set<std::string> seen;
  for (const build::Flow& f : lab.flows()) {
    const spec::TrafficSpec& t = lab.spec().traffic[f.plan.traffic];
    add_stream(seen, {.path = fmt::format("traffic.{}", f.plan.traffic),
                      .name = t.name,
                      .like = t,
                      .from = f.plan.source,
                      .to = f.plan.destination});
  }
  for (const build::Collective& c : lab.collectives()) {
    const spec::CollectiveSpec& said = lab.spec().collectives[c.spec];
    for (std::size_t rank = 0; rank < c.ranks.size(); ++rank)
      for (std::size_t i = 0; i < c.through[rank].size(); ++i) {
        const RankConnection& connection = c.ranks[rank]->program().connections[i];
        if (connection.scale_up || connection.sends == 0) continue;
        add_stream(seen, {.path = fmt::format("collectives.{}", c.spec),
                          .name = said.name,
                          .like = spec::like_traffic(said),
                          .is_collective = true,
                          .from = c.through[rank][i],
                          .to = c.through[connection.peer][connection.at_peer]});
      }
  }
}

void Facts::add_stream(std::set<std::string>& seen, Stream stream) {
  if (!graph_.is_switch(edge_of(stream.from).neighbour) || !graph_.is_switch(edge_of(stream.to).neighbour)) return;
  if (!seen.insert(fmt::format("{} {} {}", stream.path, spec::format(stream.from), spec::format(stream.to))).second)
    return;
  const spec::QosProfile& at_nic = qos(*lab().find(stream.from.node));
  stream.nic_class = stream.like.priority.value_or(at_nic.dscp_to_class[static_cast<std::size_t>(stream.like.dscp)]);
  streams_.push_back(std::move(stream));
}

const Edge& Facts::edge_of(const spec::PortName& nic) const {
  const std::vector<Edge>& edges = graph_.edges(graph_.node(nic.node));
  return *std::ranges::find(edges, PortIndex{static_cast<std::uint16_t>(nic.port - 1)}, &Edge::port);
}

const std::vector<int>& Facts::distances(std::size_t target) const {
  const auto [found, is_new] = distances_.try_emplace(target);
  if (!is_new) return found->second;
  std::vector<int>& hops = found->second;
  hops.assign(graph_.size(), -1);
  hops[target] = 0;
  std::deque<std::size_t> next{target};
  while (!next.empty()) {
    const std::size_t node = next.front();
    next.pop_front();
    for (const Edge& e : graph_.edges(node)) {
      if (!graph_.is_switch(e.neighbour) || hops[e.neighbour] >= 0) continue;
      hops[e.neighbour] = hops[node] + 1;
      next.push_back(e.neighbour);
    }
  }
  return hops;
}

std::vector<Hop> Facts::hops(const Stream& stream) const {
  const Edge& first = edge_of(stream.from);
  const Edge& last = edge_of(stream.to);
  const std::vector<int>& left = distances(last.neighbour);
  std::vector<Hop> all;
  // A class as it comes in over a port; each way of coming in once.
  std::set<std::pair<std::size_t, std::size_t>> done;
  std::deque<std::pair<std::size_t, PortIndex>> next{{first.neighbour, first.neighbour_port}};
  while (!next.empty()) {
    const auto [node, in] = next.front();
    next.pop_front();
    if (!done.insert({node, in.index()}).second) continue;
    const spec::QosProfile& here = qos(lab().nodes[node]);
    const int in_class = class_at(stream, here);
    const int remap = here.classes[static_cast<std::size_t>(in_class)].remap_to;
    const auto leave = [&](PortIndex out) {
      all.push_back({node, in.value + 1, in_class, out.value + 1, remap < 0 ? in_class : remap});
    };
    if (node == last.neighbour) {
      leave(last.neighbour_port);
      continue;
    }
    for (const Edge& e : graph_.edges(node)) {
      if (!graph_.is_switch(e.neighbour) || left[e.neighbour] != left[node] - 1 || left[node] < 0) continue;
      leave(e.port);
      next.push_back({e.neighbour, e.neighbour_port});
    }
  }
  return all;
}

const std::string& Facts::qos_name(const spec::NodeSpec& node) const {
  return node.kind == spec::NodeSpec::Kind::kSwitch ? lab().switches.at(node.profile).qos
                                                    : lab().hosts.at(node.profile).qos;
}

const spec::QosProfile& Facts::qos(const spec::NodeSpec& node) const { return lab().qos.at(qos_name(node)); }

int Facts::class_at(const Stream& stream, const spec::QosProfile& at) const {
  if (at.trust == spec::Trust::kDscp) return at.dscp_to_class[static_cast<std::size_t>(stream.like.dscp)];
  const auto tag = spec::tag_of(lab(), stream.from, stream.like);
  if (!tag) return at.default_class;
  const auto own = spec::tags_of(lab(), stream.from);
  const int by_class = own ? own->pcp[static_cast<std::size_t>(stream.nic_class)] : stream.nic_class;
  return at.pcp_to_class[static_cast<std::size_t>(tag->pcp.value_or(by_class))];
}

std::string Facts::class_key(const Stream& stream, const spec::NodeSpec& node) const {
  if (qos(node).trust == spec::Trust::kDscp ||
      (node.kind == spec::NodeSpec::Kind::kHost && node.name == stream.from.node))
    return fmt::format("qos.{}.dscp.{}", qos_name(node), stream.like.dscp);
  return fmt::format("qos.{}.pcp", qos_name(node));
}

spec::PortName Facts::peer_of(const spec::PortName& port) const {
  const spec::LinkSpec& link = link_at(port);
  return link.a == port ? link.b : link.a;
}

const spec::HostProfile& Facts::host(const std::string& node) const {
  return lab().hosts.at(lab().find(node)->profile);
}

const spec::LinkSpec& Facts::link_at(const spec::PortName& port) const {
  const std::vector<Edge>& edges = graph_.edges(graph_.node(port.node));
  const auto edge = std::ranges::find(edges, PortIndex{static_cast<std::uint16_t>(port.port - 1)}, &Edge::port);
  return lab().links[edge->link];
}

bool Facts::spreads(const Stream& stream) const {
  if (stream.like.is_uet()) return stream.like.service != spec::UetService::kRod;
  const PathConfig& path =
      qos(lab().nodes[edge_of(stream.from).neighbour]).classes[static_cast<std::size_t>(stream.nic_class)].path;
  return unit_of(path) != PathUnit::kFlow;
}

BitRate Facts::bottleneck(const Stream& stream) const {
  const Edge& first = edge_of(stream.from);
  const Edge& last = edge_of(stream.to);
  const std::vector<int>& left = distances(last.neighbour);
  const bool spread = spreads(stream);
  std::map<std::size_t, BitRate> known;  // by node
  const auto rate = [&](const auto& self, std::size_t node) -> BitRate {
    if (node == last.neighbour) return lab().links[last.link].rate;
    if (const auto found = known.find(node); found != known.end()) return found->second;
    BitRate best{};
    for (const Edge& e : graph_.edges(node)) {
      if (!graph_.is_switch(e.neighbour) || left[node] <= 0 || left[e.neighbour] != left[node] - 1) continue;
      const BitRate here = std::min(lab().links[e.link].rate, self(self, e.neighbour));
      best = spread ? BitRate{best.bps + here.bps} : std::max(best, here);
    }
    return known[node] = best;
  };
  return std::min({lab().links[first.link].rate, rate(rate, first.neighbour), lab().links[last.link].rate});
}

std::string Facts::class_path(const std::string& qos, int priority) {
  return fmt::format("qos.{}.classes.{}", qos, priority);
}

}  // namespace railyard::lint
