#include "control/routing/graph.h"

#include <algorithm>

namespace railyard::routing {

Graph::Graph(const spec::Lab& lab)
    : lab_(&lab), order_(lab), edges_(lab.nodes.size()), up_(lab.links.size(), true), drained_(lab.nodes.size(), false) {
  for (std::size_t i = 0; i < lab.nodes.size(); ++i) {
    by_name_.emplace(lab.nodes[i].name, i);
    is_switch_.push_back(lab.nodes[i].kind == spec::NodeSpec::Kind::kSwitch ? 1 : 0);
  }
  for (const spec::LinkSpec& l : lab.links) bps_.push_back(l.rate.bps);
  if (std::ranges::any_of(lab.links, [](const spec::LinkSpec& l) { return l.weight.has_value(); }))
    for (const spec::LinkSpec& l : lab.links) weights_.push_back(static_cast<std::uint32_t>(l.weight.value_or(1)));
  for (std::size_t i = 0; i < lab.links.size(); ++i) {
    const spec::LinkSpec& l = lab.links[i];
    const std::size_t a = node(l.a.node);
    const std::size_t b = node(l.b.node);
    const PortIndex pa{static_cast<std::uint16_t>(l.a.port - 1)};
    const PortIndex pb{static_cast<std::uint16_t>(l.b.port - 1)};
    edges_[a].push_back({b, pa, pb, i});
    edges_[b].push_back({a, pb, pa, i});
  }
  for (auto& e : edges_) std::sort(e.begin(), e.end(), [](const Edge& x, const Edge& y) { return x.port < y.port; });
}

std::size_t Graph::ports(std::size_t node) const noexcept {
  return edges_[node].empty() ? 0 : edges_[node].back().port.index() + 1;
}

}  // namespace railyard::routing
