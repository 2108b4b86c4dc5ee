#include "control/report/rdma_classes.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/routing/graph.h"

namespace railyard::report {
namespace {

constexpr int kFar = -1;

// Traffic from the hosts at one switch to those at another (or, without switches, from NIC to NIC), with one DSCP.
struct Stream {
  std::size_t from, to;  // nodes: the switches next to the NICs
  int dscp;
  bool roce;
  auto operator<=>(const Stream&) const = default;
};

class Walk {
 public:
  explicit Walk(const build::BuiltLab& lab) : lab_(lab.spec()), graph_(lab_) {}

  // Both ways: answers and acknowledgements are RDMA's too.
  void add_pair(const spec::PortName& a, const spec::PortName& b, int dscp, bool roce) {
    add_way(a, b, dscp, roce);
    add_way(b, a, dscp, roce);
  }

  // Each with each other.
  void add_all_pairs(const std::vector<spec::PortName>& nics, int dscp, bool roce) {
    std::map<std::size_t, std::set<std::size_t>> hosts;  // by the switch beside
    for (const spec::PortName& nic : nics)
      if (const auto at = beside(nic)) hosts[*at].insert(graph_.node(nic.node));
    for (const auto& [a, from] : hosts)
      for (const auto& [b, to] : hosts) streams_[{a, b, dscp, roce}].insert(to.begin(), to.end());
  }

  const std::map<Stream, std::set<std::size_t>>& streams() const noexcept { return streams_; }
  const routing::Graph& graph() const noexcept { return graph_; }

  struct Place {
    std::size_t node;
    std::size_t priority;
    auto operator<=>(const Place&) const = default;
  };
  struct Found {
    std::set<Place> places;
    bool lossless = false;
    Place first{};
  };

  // The classes on all shortest paths of a stream.
  Found follow(const Stream& s) {
    Found found;
    found.first = {s.from, class_of(s.from, s.dscp)};
    if (!graph_.is_switch(s.from)) return found;
    const std::vector<int>& hops = hops_to(s.to);
    if (hops[s.from] == kFar) return found;
    std::set<std::pair<std::size_t, int>> seen{{s.from, s.dscp}};
    std::deque<std::pair<std::size_t, int>> next(seen.begin(), seen.end());
    while (!next.empty()) {
      const auto [node, dscp] = next.front();
      next.pop_front();
      const spec::QosProfile& qos = qos_of(node);
      const std::size_t in = class_of(node, dscp);
      const int remap = qos.classes[in].remap_to;
      const std::size_t out = remap >= 0 ? static_cast<std::size_t>(remap) : in;
      for (const std::size_t k : {in, out}) {
        found.places.insert({node, k});
        found.lossless |= qos.classes[k].lossless;
      }
      const int onwards = out == in ? dscp : dscp_of(qos, out, dscp);
      last_dscp_ = onwards;
      for (const routing::Graph::Edge& e : graph_.edges(node))
        if (graph_.is_switch(e.neighbour) && hops[e.neighbour] == hops[node] - 1 && hops[node] > 0)
          if (seen.insert({e.neighbour, onwards}).second) next.emplace_back(e.neighbour, onwards);
    }
    return found;
  }

  // Of frames as they arrive at a host behind the last switch that follow() came to.
  std::size_t class_of(std::size_t node, int dscp) const {
    return static_cast<std::size_t>(qos_of(node).class_of_untagged(dscp));
  }
  int last_dscp() const noexcept { return last_dscp_; }
  bool lossless_at(std::size_t node, std::size_t priority) const { return qos_of(node).classes[priority].lossless; }

 private:
  void add_way(const spec::PortName& from, const spec::PortName& to, int dscp, bool roce) {
    const auto a = beside(from);
    const auto b = beside(to);
    if (!a || !b) return;
    streams_[{*a, *b, dscp, roce}].insert(graph_.node(to.node));
  }

  // The switch at the other end of a NIC's link; the far host where there is none.
  std::optional<std::size_t> beside(const spec::PortName& nic) const {
    for (const routing::Graph::Edge& e : graph_.edges(graph_.node(nic.node)))
      if (e.port.value + 1 == nic.port) return e.neighbour;
    return std::nullopt;
  }

  const spec::QosProfile& qos_of(std::size_t node) const {
    const spec::NodeSpec& n = lab_.nodes[node];
    const bool is_switch = n.kind == spec::NodeSpec::Kind::kSwitch;
    return lab_.qos.at(is_switch ? lab_.switches.at(n.profile).qos : lab_.hosts.at(n.profile).qos);
  }

  // The code point that a switch writes for a class that it remaps to (dataplane/switch/class_remap.cc).
  static int dscp_of(const spec::QosProfile& qos, std::size_t priority, int before) {
    if (qos.trust == spec::Trust::kPcp) return before;
    const auto found = std::ranges::find(qos.dscp_to_class, static_cast<int>(priority));
    return found == qos.dscp_to_class.end() ? before : static_cast<int>(found - qos.dscp_to_class.begin());
  }

  // By node, through switches.
  const std::vector<int>& hops_to(std::size_t to) {
    const auto [found, is_new] = hops_.try_emplace(to);
    std::vector<int>& hops = found->second;
    if (!is_new) return hops;
    hops.assign(graph_.size(), kFar);
    hops[to] = 0;
    for (std::deque<std::size_t> next{to}; !next.empty(); next.pop_front())
      for (const routing::Graph::Edge& e : graph_.edges(next.front()))
        if (graph_.is_switch(e.neighbour) && hops[e.neighbour] == kFar) {
          hops[e.neighbour] = hops[next.front()] + 1;
          next.push_back(e.neighbour);
        }
    return hops;
  }

  const spec::Lab& lab_;
  routing::Graph graph_;
  std::map<Stream, std::set<std::size_t>> streams_;  // with the hosts that they end at
  std::map<std::size_t, std::vector<int>> hops_;
  int last_dscp_ = 0;
};

}  // namespace

RdmaClasses::RdmaClasses(const build::BuiltLab& lab) {
  Walk walk(lab);
  for (const build::Flow& f : lab.flows()) {
    if (f.is_generated()) continue;
    any_ = true;
    walk.add_pair(f.plan.source, f.plan.destination, lab.spec().traffic[f.plan.traffic].dscp, f.is_roce());
  }
  for (const build::Collective& c : lab.collectives()) {
    any_ = true;
    const spec::CollectiveSpec& s = lab.spec().collectives[c.spec];
    walk.add_all_pairs(c.nics, s.dscp, !s.is_uet());
  }
  const auto mark = [&](std::size_t node, std::size_t priority, bool lossless) {
    Kind& kind = nodes_[lab.spec().nodes[node].name][priority];
    if (lossless) kind = Kind::kLossless;
    if (kind == Kind::kNone) kind = Kind::kLossy;
  };
  for (const auto& [stream, ends] : walk.streams()) {
    const Walk::Found found = walk.follow(stream);
    const bool through_switches = !found.places.empty();
    for (const Walk::Place& p : found.places) mark(p.node, p.priority, found.lossless);
    for (const std::size_t host : ends) {
      const std::size_t k = walk.class_of(host, through_switches ? walk.last_dscp() : stream.dscp);
      mark(host, k, through_switches ? found.lossless : walk.lossless_at(host, k));
    }
    if (through_switches && !found.lossless && stream.roce && lossy_roce_.empty())
      lossy_roce_ = fmt::format("class {} at {}", found.first.priority, lab.spec().nodes[found.first.node].name);
  }
}

RdmaClasses::Kind RdmaClasses::at(const std::string& node, std::size_t priority) const {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? Kind::kNone : found->second[priority];
}

}  // namespace railyard::report
