#include "control/picture/rails.h"

#include <algorithm>

namespace railyard::picture {

Rails rails(const routing::Graph& graph) {
  const spec::Lab& lab = graph.lab();
  Rails out{.count = 0,
            .of_node = std::vector<int>(graph.size(), kNoRail),
            .of_link = std::vector<int>(lab.links.size(), kNoRail)};
  for (const spec::NodeSpec& node : lab.nodes) out.count = std::max(out.count, static_cast<int>(node.nics.size()));
  if (out.count < 2) {
    out.count = 0;
    return out;
  }
  bool all_of_one = true;
  std::vector<bool> has_hosts(graph.size());
  for (std::size_t n = 0; n < graph.size(); ++n) {
    if (!graph.is_switch(n)) continue;
    for (const routing::Graph::Edge& e : graph.edges(n)) {
      if (graph.is_switch(e.neighbour)) continue;
      const bool several = lab.nodes[e.neighbour].nics.size() > 1;
      const int rail = several ? static_cast<int>(e.neighbour_port.index()) + 1 : kNoRail;
      out.of_link[e.link] = rail;
      all_of_one = all_of_one && rail != kNoRail && (!has_hosts[n] || out.of_node[n] == rail);
      out.of_node[n] = rail;
      has_hosts[n] = true;
    }
  }
  if (!all_of_one) {
    out.of_node.assign(graph.size(), kNoRail);
    return out;
  }
  for (std::size_t n = 0; n < graph.size(); ++n)
    for (const routing::Graph::Edge& e : graph.edges(n))
      if (has_hosts[n] && graph.is_switch(e.neighbour) && !has_hosts[e.neighbour]) out.of_link[e.link] = out.of_node[n];
  return out;
}

}  // namespace railyard::picture
