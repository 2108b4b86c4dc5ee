#include "control/lint/facts.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "control/lint/alike.h"
#include "control/spec/collective_ranks.h"
#include "control/spec/value.h"
#include "dataplane/switch/path/policies.h"

namespace railyard::lint {

using Edge = routing::Graph::Edge;

Facts::Facts(build::BuiltLab& lab) : lab_(lab), graph_(lab.spec()), classes_(graph_) {
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
        add_stream(seen, {.path = collective_path(lab.spec(), c.spec),
                          .name = said.name,
                          .like = spec::like_traffic(said, c.rank_count(), static_cast<std::uint32_t>(rank), connection.peer),
                          .is_collective = true,
                          .from = c.through[rank][i],
                          .to = c.through[connection.peer][connection.at_peer]});
      }
  }
}

std::string Facts::collective_path(const spec::Lab& lab, std::size_t collective) {
  if (!lab.collectives[collective].is_job()) return fmt::format("collectives.{}", collective);
  const auto first = std::ranges::find_if(lab.collectives, &spec::CollectiveSpec::is_job);
  return fmt::format("jobs.{}", collective - static_cast<std::size_t>(first - lab.collectives.begin()));
}

void Facts::add_stream(std::set<std::string>& seen, Stream stream) {
  if (!graph_.is_switch(edge_of(stream.from).neighbour) || !graph_.is_switch(edge_of(stream.to).neighbour)) return;
  if (!seen.insert(fmt::format("{} {} {}", stream.path, spec::format(stream.from), spec::format(stream.to))).second)
    return;
  const spec::QosProfile& at_nic = qos(*lab().find(stream.from.node));
  stream.nic_class = stream.like.priority.value_or(at_nic.dscp_to_class[static_cast<std::size_t>(stream.like.dscp)]);
  streams_.push_back(std::move(stream));
}

int Facts::apart(std::size_t a, std::size_t b) const {
  if (a == b) return 0;
  const auto is_beside = [&](std::size_t n, std::size_t other) {
    return std::ranges::find(graph_.edges(n), other, &Edge::neighbour) != graph_.edges(n).end();
  };
  if (is_beside(a, b)) return 1;
  const auto shares = [&](const Edge& e) { return graph_.is_switch(e.neighbour) && is_beside(e.neighbour, b); };
  return std::ranges::any_of(graph_.edges(a), shares) ? 2 : 3;
}

const std::vector<Stream>& Facts::kinds_of_streams() const {
  if (streams_.size() <= kMostStreams) return streams_;
  if (kinds_) return *kinds_;
  const std::vector<std::size_t> kind = kinds_of_nodes(graph_);
  std::map<std::pair<std::string, spec::PortName>, std::size_t> at_sender;  // they share its link
  for (const Stream& s : streams_) ++at_sender[{s.path, s.from}];
  std::set<std::tuple<std::string, std::size_t, int, int, int, std::size_t, std::size_t, int>> seen;
  kinds_.emplace();
  for (const Stream& s : streams_)
    if (seen.emplace(s.path, at_sender.at({s.path, s.from}), s.nic_class, s.from.port, s.to.port, kind[graph_.node(s.from.node)], kind[graph_.node(s.to.node)],
                     apart(edge_of(s.from).neighbour, edge_of(s.to).neighbour))
            .second)
      kinds_->push_back(s);
  return *kinds_;
}

const Edge& Facts::edge_of(const spec::PortName& nic) const {
  const std::vector<Edge>& edges = graph_.edges(graph_.node(nic.node));
  return *std::ranges::find(edges, PortIndex{static_cast<std::uint16_t>(nic.port - 1)}, &Edge::port);
}

std::vector<Hop> Facts::hops(const Stream& stream) const {
  const Edge& first = edge_of(stream.from);
  const Edge& last = edge_of(stream.to);
  const std::vector<routing::ClassStep> steps =
      classes_.steps(first.neighbour, last.neighbour, routing::sent_by(lab(), stream.from, stream.like));
  std::map<std::pair<std::size_t, routing::CodePoint>, std::vector<PortIndex>> ways_in;
  std::vector<Hop> all;
  for (const routing::ClassStep& s : steps) {
    std::vector<PortIndex>& in = ways_in[{s.node, s.arrives}];
    if (&s == &steps.front()) in.push_back(first.neighbour_port);
    for (const routing::ClassStep::Exit& x : s.next)
      ways_in[{x.edge->neighbour, x.leaves}].push_back(x.edge->neighbour_port);
    for (const PortIndex from : in) {
      const auto leave = [&](const routing::ClassStep::Exit& x) {
        all.push_back(
            {s.node, from.value + 1, s.in_class, x.edge->port.value + 1, x.out_class, s.arrives, x.leaves});
      };
      if (s.node == last.neighbour)
        leave(classes_.exit(s.node, *std::ranges::find(graph_.edges(s.node), last.neighbour_port, &Edge::port), s.arrives));
      for (const routing::ClassStep::Exit& x : s.next) leave(x);
    }
  }
  return all;
}

const std::string& Facts::qos_name(const spec::NodeSpec& node) const {
  return node.kind == spec::NodeSpec::Kind::kSwitch ? lab().switches.at(node.profile).qos
                                                    : lab().hosts.at(node.profile).qos;
}

const spec::QosProfile& Facts::qos(const spec::NodeSpec& node) const { return lab().qos.at(qos_name(node)); }

std::string Facts::class_key(const spec::NodeSpec& node, const routing::CodePoint& point) const {
  if (qos(node).trust == spec::Trust::kDscp) return fmt::format("qos.{}.dscp.{}", qos_name(node), point.dscp);
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
  const PathConfig& path = qos(lab().nodes[edge_of(stream.from).neighbour])
                                   .classes[static_cast<std::size_t>(stream.nic_class)]
                                   .path;
  return unit_of(path) != PathUnit::kFlow;
}

BitRate Facts::bottleneck(const Stream& stream) const {
  const Edge& first = edge_of(stream.from);
  const Edge& last = edge_of(stream.to);
  const std::vector<int>& left = classes_.distances(last.neighbour);
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

const std::vector<routing::WaitingBuffer>& Facts::buffer_cycle() const {
  if (!buffer_cycle_) buffer_cycle_ = routing::buffer_cycle(graph_, lab_.routes());
  return *buffer_cycle_;
}

}  // namespace railyard::lint
