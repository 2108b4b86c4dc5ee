// The links that the messages of a critical path take, and how busy they were.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "control/report/report.h"
#include "control/report/timeline_report.h"
#include "control/routing/class_walk.h"
#include "control/spec/value.h"

namespace railyard::report {
namespace {

constexpr std::size_t kMostHops = 8;
constexpr std::size_t kMostLinks = 3;

class Links {
 public:
  Links(const build::BuiltLab& lab, const std::vector<PortReport>& ports) : graph_(lab.spec()), walk_(graph_) {
    for (const PortReport& p : ports) utilisation_[fmt::format("{}:{}", p.node, p.port)] = p.utilisation;
  }

  void add(TimelineReport::Hop& hop) {
    hop.links.clear();
    if (hop.scale_up) return;
    const routing::Graph::Edge* const out = edge(hop.from_nic);
    const routing::Graph::Edge* const in = edge(hop.to_nic);
    if (out == nullptr || in == nullptr) return;
    std::set<std::string> names{spec::format(hop.from_nic)};
    if (graph_.is_switch(in->neighbour)) names.insert(name(in->neighbour, in->neighbour_port));
    if (graph_.is_switch(out->neighbour) && graph_.is_switch(in->neighbour)) add_between(out->neighbour, in->neighbour, names);
    for (const std::string& n : names) hop.links.push_back({n, utilisation_[n]});
    std::ranges::stable_sort(hop.links, std::ranges::greater{}, &TimelineReport::Hop::Link::utilisation);
    if (hop.links.size() > kMostLinks) hop.links.resize(kMostLinks);
  }

 private:
  std::string name(std::size_t node, PortIndex port) const {
    return fmt::format("{}:{}", graph_.lab().nodes[node].name, port.value + 1);
  }

  const routing::Graph::Edge* edge(const spec::PortName& nic) const {
    for (const routing::Graph::Edge& e : graph_.edges(graph_.node(nic.node)))
      if (e.port.value + 1 == nic.port) return &e;
    return nullptr;
  }

  // Ports of switches on shortest paths.
  void add_between(std::size_t from, std::size_t to, std::set<std::string>& names) {
    const std::vector<int>& distance = walk_.distances(to);
    std::vector<std::size_t> open{from};
    std::set<std::size_t> seen{from};
    while (!open.empty()) {
      const std::size_t node = open.back();
      open.pop_back();
      if (node == to) continue;
      for (const routing::Graph::Edge& e : graph_.edges(node)) {
        if (!graph_.is_switch(e.neighbour) || distance[e.neighbour] != distance[node] - 1) continue;
        names.insert(name(node, e.port));
        if (seen.insert(e.neighbour).second) open.push_back(e.neighbour);
      }
    }
  }

  routing::Graph graph_;
  routing::ClassWalk walk_;
  std::map<std::string, double> utilisation_;
};

}  // namespace

void add_path_links(const build::BuiltLab& lab, Report& report) {
  if (std::ranges::none_of(report.collectives, [](const CollectiveReport& c) { return c.timeline.has_value(); })) return;
  Links links(lab, report.ports);
  for (CollectiveReport& c : report.collectives)
    if (c.timeline)
      for (std::size_t i = 0; i < std::min(c.timeline->path.hops.size(), kMostHops); ++i) links.add(c.timeline->path.hops[i]);
}

}  // namespace railyard::report
