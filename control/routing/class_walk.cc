#include "control/routing/class_walk.h"

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

#include "control/routing/shortest_paths.h"
#include "control/spec/frame_tags.h"
#include "control/spec/port_class.h"

namespace railyard::routing {

CodePoint sent_by(const spec::Lab& lab, const spec::PortName& nic, const spec::TrafficSpec& like) {
  CodePoint p{like.dscp};
  const auto tag = spec::tag_of(lab, nic, like);
  if (!tag) return p;
  const int priority =
      like.priority.value_or(spec::qos_of(lab, *lab.find(nic.node)).dscp_to_class[static_cast<std::size_t>(like.dscp)]);
  const auto own = spec::tags_of(lab, nic);
  p.pcp = tag->pcp.value_or(own ? own->pcp[static_cast<std::size_t>(priority)] : priority);
  return p;
}

int class_of(const spec::QosProfile& qos, const CodePoint& point) {
  if (qos.trust == spec::Trust::kDscp) return qos.dscp_to_class[static_cast<std::size_t>(point.dscp)];
  return point.pcp == CodePoint::kUntagged ? qos.default_class : qos.pcp_to_class[static_cast<std::size_t>(point.pcp)];
}

CodePoint remarked(const spec::QosProfile& qos, int priority, CodePoint point) {
  const auto number = [&](const auto& map, int before) {
    const auto found = std::ranges::find(map, priority);
    return found == map.end() ? before : static_cast<int>(found - map.begin());
  };
  if (qos.trust == spec::Trust::kDscp)
    point.dscp = number(qos.dscp_to_class, point.dscp);
  else if (point.pcp != CodePoint::kUntagged)
    point.pcp = number(qos.pcp_to_class, point.pcp);
  return point;
}

std::vector<ClassStep> ClassWalk::steps(std::size_t from, std::size_t to, const CodePoint& sent) {
  std::vector<ClassStep> all;
  if (!graph_.is_switch(from)) return all;
  const std::vector<int>& left = distances(to);
  if (left[from] == kUnreachable) return all;
  const Onward* const ordered = graph_.order().any() ? &onward(to) : nullptr;
  std::set<std::pair<std::size_t, CodePoint>> seen{{from, sent}};
  std::deque<std::pair<std::size_t, CodePoint>> next(seen.begin(), seen.end());
  for (; !next.empty(); next.pop_front()) {
    const auto [node, point] = next.front();
    const spec::QosProfile& qos = spec::qos_of(graph_.lab(), graph_.lab().nodes[node]);
    ClassStep step{.node = node, .arrives = point, .in_class = class_of(qos, point)};
    for (const Graph::Edge& e : graph_.edges(node)) {
      if (!graph_.is_switch(e.neighbour) || node == to) continue;
      if (ordered != nullptr ? std::ranges::find((*ordered)[node], e.port) == (*ordered)[node].end()
                             : left[e.neighbour] != left[node] - 1)
        continue;
      step.next.push_back(exit(node, e, point));
      const CodePoint& leaves = step.next.back().leaves;
      if (seen.insert({e.neighbour, leaves}).second) next.emplace_back(e.neighbour, leaves);
    }
    all.push_back(std::move(step));
  }
  return all;
}

ClassStep::Exit ClassWalk::exit(std::size_t node, const Graph::Edge& by, const CodePoint& arrives) const {
  const spec::NodeSpec& here = graph_.lab().nodes[node];
  const spec::QosProfile& qos = spec::qos_of(graph_.lab(), here);
  const int in_class = class_of(qos, arrives);
  const int out = spec::remap_at(graph_.lab(), here, by.port.value + 1, graph_.lab().links[by.link].rate,
                                 static_cast<std::size_t>(in_class));
  return {&by, out, out == in_class ? arrives : remarked(qos, out, arrives)};
}

const ClassWalk::Onward& ClassWalk::onward(std::size_t to) {
  const auto [found, is_new] = onward_.try_emplace(to);
  if (!is_new) return found->second;
  const PathsTo paths(graph_, Origin{{}, {{to, {}}}});
  for (std::size_t n = 0; n < graph_.size(); ++n) found->second.push_back(paths.group(n).ports);
  return found->second;
}

const std::vector<int>& ClassWalk::distances(std::size_t to) {
  const auto [found, is_new] = distances_.try_emplace(to);
  std::vector<int>& hops = found->second;
  if (!is_new) return hops;
  hops.assign(graph_.size(), kUnreachable);
  hops[to] = 0;
  for (std::deque<std::size_t> next{to}; !next.empty(); next.pop_front())
    for (const Graph::Edge& e : graph_.edges(next.front()))
      if (graph_.is_switch(e.neighbour) && hops[e.neighbour] == kUnreachable) {
        hops[e.neighbour] = hops[next.front()] + 1;
        next.push_back(e.neighbour);
      }
  return hops;
}

}  // namespace railyard::routing
