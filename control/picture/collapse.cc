#include "control/picture/collapse.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace railyard::picture {
namespace {

// What still reads well.
constexpr std::size_t kMostBoxesUncollapsed = 20;  // side by side
constexpr std::size_t kMostBoxes = 40;
constexpr std::size_t kMostLines = 160;  // between boxes

// A class per node: nodes of one class look alike.
using Classes = std::vector<std::size_t>;

// One link as a node sees it: the NIC (0 between switches), the kind of link, and what is at its other end.
using Sight = std::array<std::size_t, 3>;

class Collapse {
 public:
  Collapse(const routing::Graph& graph, const std::vector<int>& tiers) : graph_(graph), tiers_(tiers) {
    std::map<std::tuple<std::int64_t, std::int64_t, int>, std::size_t> kinds;
    for (const spec::LinkSpec& l : graph.lab().links)
      link_kind_.push_back(kinds.try_emplace({l.rate.bps, l.delay.ps, l.mtu}, kinds.size()).first->second);
    for (std::size_t n = 0; n < graph.size(); ++n) {
      const auto& edges = graph.edges(n);
      has_hosts_.push_back(
          std::any_of(edges.begin(), edges.end(), [&](const auto& e) { return !graph.is_switch(e.neighbour); }));
    }
  }

  Classes each_by_itself() const {
    Classes out(graph_.size());
    for (std::size_t n = 0; n < out.size(); ++n) out[n] = n;
    return out;
  }

  // Nodes with the same neighbours: hosts, and if `switches`, switches without hosts.
  Classes twins(bool switches) const {
    const Classes nodes = each_by_itself();
    const Classes alike = by_themselves();
    std::map<std::pair<std::size_t, std::vector<Sight>>, std::size_t> classes;
    Classes out = nodes;
    for (std::size_t n = 0; n < out.size(); ++n)
      if (!graph_.is_switch(n) || (switches && !has_hosts_[n]))
        out[n] = classes.try_emplace({alike[n], sights(n, nodes)}, n).first->second;
    return out;
  }

  // The coarsest classes in which nodes of one class see the same number of links to each class: colour refinement.
  Classes like_linked_to_like() const {
    Classes now = by_themselves();
    for (std::size_t count = 0;;) {
      std::map<std::pair<std::size_t, std::vector<Sight>>, std::size_t> classes;
      Classes next;
      for (std::size_t n = 0; n < now.size(); ++n)
        next.push_back(classes.try_emplace({now[n], sights(n, now)}, classes.size()).first->second);
      now = std::move(next);
      if (classes.size() == count) return now;
      count = classes.size();
    }
  }

  Classes by_tier() const { return {tiers_.begin(), tiers_.end()}; }

  bool readable(const Classes& classes, std::size_t most_boxes) const {
    std::map<int, std::set<std::size_t>> rows;
    std::set<std::pair<std::size_t, std::size_t>> lines;
    for (std::size_t n = 0; n < classes.size(); ++n) {
      auto& row = rows[tiers_[n]];
      row.insert(classes[n]);
      if (row.size() > most_boxes) return false;
      for (const routing::Graph::Edge& e : graph_.edges(n)) lines.insert(std::minmax(classes[n], classes[e.neighbour]));
      if (lines.size() > kMostLines) return false;
    }
    return true;
  }

 private:
  // By what can be told without looking at links.
  Classes by_themselves() const {
    using Self = std::tuple<int, std::string, std::string, std::vector<std::size_t>>;
    std::map<Self, std::size_t> classes;
    Classes out;
    for (std::size_t n = 0; n < graph_.size(); ++n) {
      const spec::NodeSpec& node = graph_.lab().nodes[n];
      std::vector<std::size_t> attached;
      for (const spec::NicSpec& nic : node.nics) attached.push_back(nic.attach.index());
      out.push_back(classes.try_emplace(Self{tiers_[n], node.role, node.profile, std::move(attached)}, classes.size())
                        .first->second);
    }
    return out;
  }

  std::vector<Sight> sights(std::size_t n, const Classes& classes) const {
    std::vector<Sight> out;
    for (const routing::Graph::Edge& e : graph_.edges(n)) {
      const std::size_t nic = !graph_.is_switch(n)             ? e.port.index() + std::size_t{1}
                              : !graph_.is_switch(e.neighbour) ? e.neighbour_port.index() + std::size_t{1}
                                                               : 0;
      out.push_back({nic, link_kind_[e.link], classes[e.neighbour]});
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  const routing::Graph& graph_;
  const std::vector<int>& tiers_;
  std::vector<std::size_t> link_kind_;  // by link
  std::vector<bool> has_hosts_;         // by node
};

std::vector<Group> groups(const Classes& classes) {
  std::map<std::size_t, std::size_t> group_of;
  std::vector<Group> out;
  for (std::size_t n = 0; n < classes.size(); ++n) {
    const auto [it, is_new] = group_of.try_emplace(classes[n], out.size());
    if (is_new) out.emplace_back();
    out[it->second].push_back(n);
  }
  return out;
}

}  // namespace

std::vector<Group> hosts_together(const routing::Graph& graph, const std::vector<int>& tiers) {
  return groups(Collapse(graph, tiers).twins(false));
}

std::vector<Group> collapse(const routing::Graph& graph, const std::vector<int>& tiers) {
  const Collapse c(graph, tiers);
  Classes classes = c.each_by_itself();
  if (c.readable(classes, kMostBoxesUncollapsed)) return groups(classes);
  for (const bool switches : {false, true})
    if (classes = c.twins(switches); c.readable(classes, kMostBoxes)) return groups(classes);
  if (classes = c.like_linked_to_like(); c.readable(classes, kMostBoxes)) return groups(classes);
  return groups(c.by_tier());
}

}  // namespace railyard::picture
