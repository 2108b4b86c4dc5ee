#include "control/spec/switch_graph.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "control/spec/frame_tags.h"

namespace railyard::spec {
namespace {

bool carries(const VlanSpec& port, int vlan) {
  return vlan == port.native || port.all_tagged || std::ranges::find(port.tagged, vlan) != port.tagged.end();
}

// Untagged and priority-tagged frames are in the port's native VLAN.
void set_vlan(const Lab& lab, const PortName& nic, SwitchGraph::Access& access) {
  const NodeSpec& node = lab.nodes[access.peer];
  if (const auto said = node.vlans.find(access.peer_port.port); said != node.vlans.end()) access.vlans = said->second;
  const std::optional<NicTags> tags = tags_of(lab, nic);
  const int vlan = tags && tags->vid != 0 ? tags->vid : access.vlans.native;
  access.vlan = carries(access.vlans, vlan) ? vlan : 0;
}

}  // namespace

bool SwitchGraph::share_vlan(const Access& from, const Access& to, std::optional<int> vlan) {
  if (vlan && *vlan != 0) return carries(from.vlans, *vlan) && carries(to.vlans, *vlan);
  return from.vlan != 0 && carries(to.vlans, from.vlan);
}

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
    if (!forwards[a]) access[link.a] = {b, link.b, link.mtu, {}, 0};
    if (!forwards[b]) access[link.b] = {a, link.a, link.mtu, {}, 0};
  }
  const bool any_vlan = std::ranges::any_of(lab.nodes, [](const NodeSpec& node) { return !node.vlans.empty(); });
  for (auto& [nic, at] : access) {
    at.vlan = at.vlans.native;
    if (any_vlan && forwards[at.peer]) set_vlan(lab, nic, at);
  }
}

}  // namespace railyard::spec
