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
  for (std::size_t n = 0; n < graph.size(); ++n) {
    if (!graph.is_switch(n)) continue;
    bool one = true;
    for (const routing::Graph::Edge& e : graph.edges(n)) {
      if (graph.is_switch(e.neighbour)) continue;
      const int rail = static_cast<int>(e.neighbour_port.index()) + 1;
      out.of_link[e.link] = rail;
      one = one && (out.of_node[n] == kNoRail || out.of_node[n] == rail);
      out.of_node[n] = rail;
    }
    if (!one) out.of_node[n] = kNoRail;
  }
  for (std::size_t n = 0; n < graph.size(); ++n)
    for (const routing::Graph::Edge& e : graph.edges(n))
      if (graph.is_switch(n) && graph.is_switch(e.neighbour) && out.of_node[e.neighbour] == kNoRail &&
          out.of_node[n] != kNoRail)
        out.of_link[e.link] = out.of_node[n];
  return out;
}

}  // namespace railyard::picture
