#include "control/routing/buffer_cycles.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>

#include "control/routing/up_down.h"
#include "control/spec/port_class.h"
#include "dataplane/base/hash.h"

namespace railyard::routing {
namespace {

class Dependencies {
 public:
  Dependencies(const Graph& graph, const Routes& routes) : graph_(graph), routes_(routes) {
    for (std::size_t n = 0; n < graph.size(); ++n) {
      by_port_.emplace_back(graph.ports(n), kNoEdge);
      for (const Graph::Edge& e : graph.edges(n)) {
        if (!graph.is_switch(n) || !graph.is_switch(e.neighbour)) continue;
        by_port_.back()[e.port.index()] = edges_.size();
        edges_.push_back({n, &e, {}});
        for (std::size_t k = 0; k < kPriorities; ++k)
          edges_.back().to[k] = static_cast<std::int8_t>(spec::remap_at(
              graph.lab(), graph.lab().nodes[n], e.port.value + 1, graph.lab().links[e.link].rate, k));
      }
    }
    for (const CodePoint& p : kinds_of_code_points(graph.lab())) number_of(p);
    sent_ = points_.size();
    for (std::size_t n = 0; n < graph.size(); ++n) has_senders_.push_back(has_senders(n));
    find();
  }

  std::vector<WaitingBuffer> cycle() const;

 private:
  struct DirectedLink {
    std::size_t from;
    const Graph::Edge* edge;
    std::array<std::int8_t, kPriorities> to;  // what frames of a class become that leave by it
  };
  using State = std::uint32_t;  // a link and the code point that frames have on it: link x kMostPoints + point
  static constexpr std::uint32_t kMostPoints = 512;
  struct Here {  // frames with one code point at one switch, on the way to one origin
    std::vector<State> in;
    std::vector<State> out;
    bool seen = false;
  };

  std::uint32_t number_of(const CodePoint& point) {
    const auto [known, is_new] = numbers_.try_emplace(point, static_cast<std::uint32_t>(points_.size()));
    if (is_new) points_.push_back(point);
    return known->second;
  }
  const spec::QosProfile& qos(std::size_t node) const { return spec::qos_of(graph_.lab(), graph_.lab().nodes[node]); }
  int class_at(std::size_t node, std::uint32_t point) const { return class_of(qos(node), points_[point]); }
  bool is_lossless(std::size_t node, std::uint32_t point) const {
    return qos(node).classes[static_cast<std::size_t>(class_at(node, point))].lossless;
  }
  bool takes_detours(std::size_t node, std::uint32_t point) const {
    const PathPolicy policy = qos(node).classes[static_cast<std::size_t>(class_at(node, point))].path.policy;
    return policy == PathPolicy::kValiant || policy == PathPolicy::kUgal;
  }
  bool has_senders(std::size_t node) const {
    return graph_.is_switch(node) && std::ranges::any_of(graph_.edges(node), [&](const Graph::Edge& e) {
             return !graph_.is_switch(e.neighbour);
           });
  }
  State leaves_as(std::size_t link, std::uint32_t point) {
    const std::size_t node = edges_[link].from;
    const int in_class = class_at(node, point);
    const int to = edges_[link].to[static_cast<std::size_t>(in_class)];
    const std::uint32_t leaves = to == in_class ? point : number_of(remarked(qos(node), to, points_[point]));
    return static_cast<State>(link * kMostPoints + leaves);
  }

  void find() {
    for (std::size_t o = 0; o < routes_.announced.origins.size(); ++o) {
      const std::vector<Origin::Owner>& owners = routes_.announced.origins[o].owners;
      // Nobody sends to a switch itself what could fill a buffer.
      if (std::ranges::any_of(owners, [&](const Origin::Owner& owner) { return has_senders_[owner.node]; })) find_to(o);
    }
    for (auto& [state, after] : after_) {
      std::ranges::sort(after);
      const auto rest = std::ranges::unique(after);
      after.erase(rest.begin(), rest.end());
    }
  }

  void find_to(std::size_t origin) {
    const auto come = [&](std::size_t node, std::uint32_t point) -> Here& {
      if (here_.size() <= point) here_.resize(point + std::size_t{1}, std::vector<Here>(graph_.size()));
      Here& h = here_[point][node];
      if (!h.seen) next_.emplace_back(node, point);
      h.seen = true;
      return h;
    };
    for (std::size_t n = 0; n < graph_.size(); ++n)
      if (has_senders_[n])
        for (std::uint32_t p = 0; p < sent_; ++p) come(n, p);
    for (std::size_t i = 0; i < next_.size(); ++i) {
      const auto [node, point] = next_[i];
      const NextHopGroup& group = routes_.ribs[node].group(origin);
      if (group.ports.empty()) continue;
      const auto leave = [&](PortIndex port) {
        const std::size_t link = by_port_[node][port.index()];
        if (link == kNoEdge) return std::optional<State>{};
        const State state = leaves_as(link, point);
        come(edges_[link].edge->neighbour, state % kMostPoints).in.push_back(state);
        return std::optional(state);
      };
      for (const PortIndex port : group.ports)
        if (const std::optional<State> state = leave(port)) here_[point][node].out.push_back(*state);
      // Only what comes from hosts takes detours: no buffer of another switch waits for these.
      if (routes_.detours != nullptr && has_senders_[node] && point < sent_ && takes_detours(node, point))
        for (const Graph::Edge* e : routes_.detours->from(node, origin)) leave(e->port);
    }
    for (const auto& [node, point] : next_) {
      Here& h = here_[point][node];
      if (is_lossless(node, point)) add(h);
      h.in.clear();
      h.out.clear();
      h.seen = false;
    }
    next_.clear();
  }

  // Most origins bring about the same.
  void add(Here& h) {
    std::erase_if(h.out, [&](State s) { return !is_lossless(edges_[s / kMostPoints].edge->neighbour, s % kMostPoints); });
    if (h.in.empty() || h.out.empty()) return;
    std::uint64_t known = mix64(h.in.size());
    for (const State s : h.in) known = mix64(known ^ s);
    known = mix64(known ^ 0x9E3779B97F4A7C15u);
    for (const State s : h.out) known = mix64(known ^ s);
    if (!seen_.insert(known).second) return;
    for (const State s : h.in) after_[s].insert(after_[s].end(), h.out.begin(), h.out.end());
  }

  const Graph& graph_;
  const Routes& routes_;
  std::vector<DirectedLink> edges_;
  static constexpr std::size_t kNoEdge = static_cast<std::size_t>(-1);
  std::vector<std::vector<std::size_t>> by_port_;  // by node and port: the link, if it leads to a switch
  std::vector<CodePoint> points_;
  std::map<CodePoint, std::uint32_t> numbers_;
  std::size_t sent_ = 0;  // of the points: those that hosts send
  std::vector<bool> has_senders_;         // by node
  std::vector<std::vector<Here>> here_;  // by point and node; empty between origins
  std::vector<std::pair<std::size_t, std::uint32_t>> next_;
  std::map<State, std::vector<State>> after_;
  std::unordered_set<std::uint64_t> seen_;
};

// Depth first, without recursion: paths may be as long as the fabric has links.
std::vector<WaitingBuffer> Dependencies::cycle() const {
  enum class Seen : std::uint8_t { kOnTheWay, kDone };
  std::map<State, Seen> seen;
  struct Step {
    State state;
    std::size_t next;
  };
  static const std::vector<State> kNone;
  const auto after = [&](State s) -> const std::vector<State>& {
    const auto found = after_.find(s);
    return found == after_.end() ? kNone : found->second;
  };
  for (const auto& [first, unused] : after_) {
    if (seen.contains(first)) continue;
    std::vector<Step> way{{first, 0}};
    seen[first] = Seen::kOnTheWay;
    while (!way.empty()) {
      Step& top = way.back();
      if (top.next == after(top.state).size()) {
        seen[top.state] = Seen::kDone;
        way.pop_back();
        continue;
      }
      const State to = after(top.state)[top.next++];
      const auto known = seen.find(to);
      if (known == seen.end()) {
        seen[to] = Seen::kOnTheWay;
        way.push_back({to, 0});
      } else if (known->second == Seen::kOnTheWay) {
        std::vector<WaitingBuffer> circle;
        for (auto step = std::ranges::find(way, to, &Step::state); step != way.end(); ++step) {
          const DirectedLink& link = edges_[step->state / kMostPoints];
          circle.push_back({link.from, link.edge->port, link.edge->neighbour,
                            class_at(link.edge->neighbour, step->state % kMostPoints)});
        }
        return circle;
      }
    }
  }
  return {};
}

}  // namespace

std::vector<CodePoint> kinds_of_code_points(const spec::Lab& lab) {
  std::vector<CodePoint> all;
  for (int dscp = 0; dscp < 64; ++dscp) all.push_back({dscp});
  // What only some ports do with a class is not looked into: then every kind of code point matters.
  const bool remaps_by_port = std::ranges::any_of(lab.nodes, [](const spec::NodeSpec& n) {
    return std::ranges::any_of(n.ports, [](const auto& port) {
      return std::ranges::any_of(port.second.classes, [](const auto& over) { return over.second.remap_to.has_value(); });
    });
  }) || std::ranges::any_of(lab.qos, [](const auto& q) {
    return std::ranges::any_of(q.second.classes, [](const spec::TrafficClass& c) {
      return std::ranges::any_of(c.by_rate, [](const auto& over) { return over.second.remap_to.has_value(); });
    });
  });
  const bool by_pcp =
      std::ranges::any_of(lab.qos, [](const auto& q) { return q.second.trust == spec::Trust::kPcp; });
  for (int pcp = 0; by_pcp && pcp < 8; ++pcp) all.push_back({0, pcp});
  std::set<std::vector<int>> kinds;
  std::vector<CodePoint> out;
  for (const CodePoint& p : all) {
    std::vector<int> classes;
    bool lossless = remaps_by_port;
    for (const auto& [name, qos] : lab.qos) {
      classes.push_back(class_of(qos, p));
      lossless = lossless || qos.classes[static_cast<std::size_t>(classes.back())].lossless;
      const int to = qos.classes[static_cast<std::size_t>(classes.back())].remap_to;
      lossless = lossless || (to >= 0 && qos.classes[static_cast<std::size_t>(to)].lossless);
    }
    if (lossless && kinds.insert(classes).second) out.push_back(p);
  }
  return out;
}

std::vector<WaitingBuffer> buffer_cycle(const Graph& graph, const Routes& routes) {
  if (goes_up_then_down(graph, routes)) return {};
  return Dependencies(graph, routes).cycle();
}

}  // namespace railyard::routing
