#include "control/report/rdma_classes.h"

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/routing/class_walk.h"
#include "control/routing/graph.h"
#include "control/spec/collective_ranks.h"
#include "control/spec/port_class.h"

namespace railyard::report {
namespace {

using routing::CodePoint;

// The hosts beside the first switch that send a stream, and those beside the last that it ends at: nodes.
struct Ends {
  std::set<std::size_t> sources;
  std::set<std::size_t> destinations;
};

// Traffic from the hosts at one switch to those at another (or, without switches, from NIC to NIC), sent alike.
struct Stream {
  std::size_t from, to;  // nodes: the switches next to the NICs
  CodePoint sent;
  bool roce;  // data of RoCE
  auto operator<=>(const Stream&) const = default;
};

class Walk {
 public:
  explicit Walk(const build::BuiltLab& lab) : lab_(lab.spec()), graph_(lab_), classes_(graph_) {}

  // Data from `a` to `b`, and what comes back: READ requests and, unless the NIC at `b` has a class of their own for
  // them, acknowledgements like the data.
  void add_pair(const spec::PortName& a, const spec::PortName& b, const spec::TrafficSpec& like) {
    add_way(a, b, like, like.is_roce());
    add_way(b, a, like, false);
    if (const auto ack = acks_like(b, like)) add_way(b, a, *ack, false);
  }

  // Each with each other.
  void add_all_pairs(const std::vector<spec::PortName>& nics, const spec::TrafficSpec& like) {
    struct Senders {
      bool roce = false;  // data, or else acknowledgements
      std::set<std::size_t> hosts;
    };
    std::map<std::size_t, std::set<std::size_t>> hosts;  // by the switch beside
    std::map<std::pair<std::size_t, CodePoint>, Senders> senders;
    for (const spec::PortName& nic : nics) {
      const auto at = beside(nic);
      if (!at) continue;
      const std::size_t host = graph_.node(nic.node);
      hosts[*at].insert(host);
      Senders& data = senders[{*at, routing::sent_by(lab_, nic, like)}];
      data.roce = like.is_roce();
      data.hosts.insert(host);
      if (const auto ack = acks_like(nic, like)) senders[{*at, routing::sent_by(lab_, nic, *ack)}].hosts.insert(host);
    }
    for (const auto& [sender, from] : senders)
      for (const auto& [b, to] : hosts) {
        Ends& ends = streams_[{sender.first, b, sender.second, from.roce}];
        ends.sources.insert(from.hosts.begin(), from.hosts.end());
        ends.destinations.insert(to.begin(), to.end());
      }
  }

  const std::map<Stream, Ends>& streams() const noexcept { return streams_; }
  const routing::Graph& graph() const noexcept { return graph_; }

  struct Place {
    std::size_t node;
    std::uint16_t port;  // from 0
    std::size_t priority;
    auto operator<=>(const Place&) const = default;
  };
  struct Found {
    std::set<Place> places;
    bool lossless = false;
    std::size_t first_class = 0;
    std::set<CodePoint> arrives;  // at the hosts behind the last switch
  };

  // The ports and classes on all shortest paths of a stream.
  Found follow(const Stream& s, const Ends& ends) {
    Found found;
    found.first_class = class_of(s.from, s.sent);
    for (const routing::ClassStep& step : classes_.steps(s.from, s.to, s.sent)) {
      const auto in = static_cast<std::size_t>(step.in_class);
      found.lossless |= lossless_at(step.node, in);
      const auto leave = [&](const routing::ClassStep::Exit& x) {
        const auto out = static_cast<std::size_t>(x.out_class);
        found.lossless |= lossless_at(step.node, out);
        found.places.insert({step.node, x.edge->port.value, out});
      };
      for (const routing::Graph::Edge& e : graph_.edges(step.node)) {
        if (step.node == s.from && ends.sources.contains(e.neighbour))
          found.places.insert({step.node, e.port.value, in});
        if (step.node == s.to && ends.destinations.contains(e.neighbour)) {
          const routing::ClassStep::Exit last = classes_.exit(step.node, e, step.arrives);
          leave(last);
          found.arrives.insert(last.leaves);
        }
      }
      for (const routing::ClassStep::Exit& x : step.next) {
        leave(x);
        found.places.insert({x.edge->neighbour, x.edge->neighbour_port.value, class_of(x.edge->neighbour, x.leaves)});
      }
    }
    return found;
  }

  std::size_t class_of(std::size_t node, const CodePoint& p) const {
    return static_cast<std::size_t>(routing::class_of(spec::qos_of(lab_, lab_.nodes[node]), p));
  }
  bool lossless_at(std::size_t node, std::size_t priority) const {
    return spec::qos_of(lab_, lab_.nodes[node]).classes[priority].lossless;
  }

 private:
  void add_way(const spec::PortName& from, const spec::PortName& to, const spec::TrafficSpec& like, bool roce) {
    const auto a = beside(from);
    const auto b = beside(to);
    if (!a || !b) return;
    Ends& ends = streams_[{*a, *b, routing::sent_by(lab_, from, like), roce}];
    ends.sources.insert(graph_.node(from.node));
    ends.destinations.insert(graph_.node(to.node));
  }

  // Nothing: like the data.
  std::optional<spec::TrafficSpec> acks_like(const spec::PortName& nic, const spec::TrafficSpec& data) const {
    const spec::NodeSpec& node = *lab_.find(nic.node);
    if (!data.is_roce() || node.kind != spec::NodeSpec::Kind::kHost) return std::nullopt;
    const spec::AckSpec& ack = lab_.hosts.at(node.profile).roce.ack;
    if (!ack.dscp && !ack.priority) return std::nullopt;
    spec::TrafficSpec like = data;
    like.pcp.reset();
    like.dscp = ack.dscp.value_or(data.dscp);
    like.priority = ack.priority;
    return like;
  }

  // The switch at the other end of a NIC's link; the far host where there is none.
  std::optional<std::size_t> beside(const spec::PortName& nic) const {
    for (const routing::Graph::Edge& e : graph_.edges(graph_.node(nic.node)))
      if (e.port.value + 1 == nic.port) return e.neighbour;
    return std::nullopt;
  }

  const spec::Lab& lab_;
  routing::Graph graph_;
  routing::ClassWalk classes_;
  std::map<Stream, Ends> streams_;
};

}  // namespace

RdmaClasses::RdmaClasses(const build::BuiltLab& lab, bool ports) {
  Walk walk(lab);
  for (const build::Flow& f : lab.flows()) {
    if (f.is_generated()) continue;
    any_ = true;
    walk.add_pair(f.plan.source, f.plan.destination, lab.spec().traffic[f.plan.traffic]);
  }
  for (const build::Collective& c : lab.collectives()) {
    any_ = true;
    for (const spec::TrafficSpec& like : spec::all_like_traffic(lab.spec().collectives[c.spec])) walk.add_all_pairs(c.nics, like);
  }
  const auto mark = [&](std::size_t node, std::uint16_t port, std::size_t priority, bool lossless) {
    Kind& kind = ports_[{lab.spec().nodes[node].name, port + 1}][priority];
    if (lossless) kind = Kind::kLossless;
    if (kind == Kind::kNone) kind = Kind::kLossy;
  };
  for (const auto& [stream, ends] : walk.streams()) {
    if (!ports && (!stream.roce || !lossy_roce_.empty())) continue;
    const Walk::Found found = walk.follow(stream, ends);
    const bool through_switches = walk.graph().is_switch(stream.from);
    if (ports)
      for (const Walk::Place& p : found.places) mark(p.node, p.port, p.priority, found.lossless);
    for (const std::size_t host : ports ? ends.destinations : std::set<std::size_t>{})
      for (const CodePoint& p : through_switches ? found.arrives : std::set{stream.sent}) {
        const std::size_t k = walk.class_of(host, p);
        for (const routing::Graph::Edge& e : walk.graph().edges(host))
          if (through_switches ? e.neighbour == stream.to : ends.sources.contains(e.neighbour))
            mark(host, e.port.value, k, through_switches ? found.lossless : walk.lossless_at(host, k));
      }
    if (!found.places.empty() && !found.lossless && stream.roce && lossy_roce_.empty())
      lossy_roce_ = fmt::format("class {} at {}", found.first_class, lab.spec().nodes[stream.from].name);
  }
}

RdmaClasses::Kind RdmaClasses::at(const std::string& node, int port, std::size_t priority) const {
  const auto found = ports_.find({node, port});
  return found == ports_.end() ? Kind::kNone : found->second[priority];
}

}  // namespace railyard::report
