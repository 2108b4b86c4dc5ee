#include "control/spec/frame_tags.h"

#include <algorithm>

#include "control/spec/port_class.h"

namespace railyard::spec {
namespace {

const LinkSpec* link_of(const Lab& lab, const PortName& nic) {
  const auto found =
      std::ranges::find_if(lab.links, [&](const LinkSpec& l) { return l.a == nic || l.b == nic; });
  return found == lab.links.end() ? nullptr : &*found;
}

bool any_trusts_pcp(const Lab& lab) {
  return std::ranges::any_of(lab.qos, [](const auto& named) { return named.second.trust == Trust::kPcp; });
}

// The VLAN of frames of a NIC whose host says `vlan: auto`.
std::optional<int> automatic_vlan(const Lab& lab, const PortName& nic) {
  if (!any_trusts_pcp(lab)) return {};
  const LinkSpec* link = link_of(lab, nic);
  if (link == nullptr) return {};
  const PortName& far = link->a == nic ? link->b : link->a;
  const NodeSpec* peer = lab.find(far.node);
  if (peer == nullptr || peer->kind != NodeSpec::Kind::kSwitch || qos_of(lab, *peer).trust != Trust::kPcp) return {};
  return peer->vlans.contains(far.port) ? 0 : kAutomaticVlan;
}

std::optional<int> vlan_of(const Lab& lab, const PortName& nic) {
  const NodeSpec* node = lab.find(nic.node);
  if (node == nullptr || node->kind != NodeSpec::Kind::kHost) return {};
  const int said = lab.hosts.at(node->profile).vlan;
  if (said == HostProfile::kVlanOff) return {};
  return said == HostProfile::kVlanAuto ? automatic_vlan(lab, nic) : std::optional(said);
}

// The class's own number, if the map has it so; else the least that it puts there.
int pcp_of(const QosProfile& qos, int priority) {
  const auto k = static_cast<std::size_t>(priority);
  if (qos.pcp_to_class[k] == priority) return priority;
  const auto found = std::ranges::find(qos.pcp_to_class, priority);
  return found == qos.pcp_to_class.end() ? priority : static_cast<int>(found - qos.pcp_to_class.begin());
}

}  // namespace

std::optional<NicTags> tags_of(const Lab& lab, const PortName& nic) {
  const std::optional<int> vid = vlan_of(lab, nic);
  if (!vid) return {};
  NicTags tags{*vid, {}};
  const QosProfile& qos = qos_of(lab, *lab.find(nic.node));
  for (int k = 0; k < static_cast<int>(kPriorities); ++k) tags.pcp[static_cast<std::size_t>(k)] = pcp_of(qos, k);
  return tags;
}

std::optional<TrafficTag> tag_of(const Lab& lab, const PortName& nic, const TrafficSpec& traffic) {
  const std::optional<int> own = vlan_of(lab, nic);
  if (!traffic.vlan && !traffic.pcp && !own) return {};
  return TrafficTag{traffic.vlan.value_or(own.value_or(0)), traffic.pcp};
}

int class_at_switch(const Lab& lab, const QosProfile& qos, const TrafficSpec& traffic) {
  if (qos.trust != Trust::kPcp) return qos.class_of_untagged(traffic.dscp);  // mostly; and labs may have many nodes
  const auto host = std::ranges::find(lab.nodes, NodeSpec::Kind::kHost, &NodeSpec::kind);
  if (host == lab.nodes.end()) return qos.class_of_untagged(traffic.dscp);
  const PortName nic{host->name, 1};
  const std::optional<TrafficTag> tag = tag_of(lab, nic, traffic);
  if (!tag) return qos.default_class;
  const QosProfile& own = qos_of(lab, *host);
  const int at_nic = traffic.priority.value_or(own.dscp_to_class[static_cast<std::size_t>(traffic.dscp)]);
  return qos.pcp_to_class[static_cast<std::size_t>(tag->pcp.value_or(pcp_of(own, at_nic)))];
}

int class_at_switch(const Lab& lab, const QosProfile& qos, int dscp) {
  TrafficSpec traffic;
  traffic.dscp = dscp;
  return class_at_switch(lab, qos, traffic);
}

}  // namespace railyard::spec
