#include "control/spec/switch_graph.h"

#include <string_view>
#include <unordered_map>

namespace railyard::spec {

SwitchGraph::SwitchGraph(const Lab& lab) : forwards(lab.nodes.size()), edges(lab.nodes.size()) {
  std::unordered_map<std::string_view, std::size_t> index;
  for (std::size_t i = 0; i < lab.nodes.size(); ++i) {
    index[lab.nodes[i].name] = i;
    forwards[i] = lab.nodes[i].kind == NodeSpec::Kind::kSwitch;
  }
  for (const LinkSpec& link : lab.links) {
    const std::size_t a = index.at(link.a.node);
    const std::size_t b = index.at(link.b.node);
    if (forwards[a] && forwards[b]) {
      edges[a].push_back({b, link.mtu});
      edges[b].push_back({a, link.mtu});
    }
    if (!forwards[a]) access[link.a] = {b, link.b, link.mtu};
    if (!forwards[b]) access[link.b] = {a, link.a, link.mtu};
  }
}

}  // namespace railyard::spec
