// Frames whose 802.1Q tag is not what it should be: priorities that do not reach those that trust them, VLANs that do not
// reach the receiver.
#include <algorithm>
#include <set>
#include <variant>

#include <fmt/format.h>

#include "control/lint/rules/rules.h"
#include "control/spec/frame_tags.h"
#include "control/spec/port_class.h"
#include "control/spec/switch_graph.h"
#include "control/spec/value.h"

namespace railyard::lint {
namespace {

using Kind = spec::NodeSpec::Kind;

bool trusts_pcp(const spec::Lab& lab, const spec::NodeSpec& node) {
  return spec::qos_of(lab, node).trust == spec::Trust::kPcp;
}

int native_at(const spec::NodeSpec& node, int port) {
  const auto found = node.vlans.find(port);
  return found == node.vlans.end() ? spec::VlanSpec{}.native : found->second.native;
}

bool has_lossless_class(const spec::QosProfile& qos) {
  return std::ranges::any_of(qos.classes, [](const spec::TrafficClass& c) { return c.lossless; });
}

bool is_built_in(const spec::NodeSpec& host, int port) {
  return std::holds_alternative<std::monostate>(host.nics[static_cast<std::size_t>(port) - 1].attach);
}

void find_frames_without_pcp(const Facts& facts, Findings& findings) {
  const spec::Lab& lab = facts.lab();
  for (const spec::LinkSpec& l : lab.links)
    for (const auto& [near, far] : {std::pair(l.a, l.b), std::pair(l.b, l.a)}) {
      const spec::NodeSpec& host = *lab.find(near.node);
      const spec::NodeSpec& leaf = *lab.find(far.node);
      if (host.kind != Kind::kHost || leaf.kind != Kind::kSwitch || !trusts_pcp(lab, leaf)) continue;
      if (!is_built_in(host, near.port) || spec::tags_of(lab, near)) continue;
      findings.add(fmt::format("hosts.{}.vlan", host.profile),
                   fmt::format("{} trusts PCP, but frames of {} carry no 802.1Q tag: all are in class {} "
                               "(default-class).",
                               leaf.name, spec::format(near), spec::qos_of(lab, leaf).default_class),
                   "Set vlan: auto, or a VLAN.");
    }
}

void find_pcp_lost(const Facts& facts, Findings& findings) {
  const spec::Lab& lab = facts.lab();
  std::set<int> vlans;  // that tagged frames are in
  for (const spec::LinkSpec& l : lab.links)
    for (const auto& [near, far] : {std::pair(l.a, l.b), std::pair(l.b, l.a)}) {
      const spec::NodeSpec& host = *lab.find(near.node);
      const spec::NodeSpec& leaf = *lab.find(far.node);
      if (host.kind != Kind::kHost || leaf.kind != Kind::kSwitch || !is_built_in(host, near.port)) continue;
      if (const auto tags = spec::tags_of(lab, near))
        vlans.insert(tags->vid != 0 ? tags->vid : native_at(leaf, far.port));
    }
  for (const spec::LinkSpec& l : lab.links)
    for (const auto& [near, far] : {std::pair(l.a, l.b), std::pair(l.b, l.a)}) {
      const spec::NodeSpec& from = *lab.find(near.node);
      const spec::NodeSpec& to = *lab.find(far.node);
      if (from.kind != Kind::kSwitch || !trusts_pcp(lab, to)) continue;
      // A host's class decides what its NIC pauses, and nothing else.
      if (to.kind == Kind::kHost && !(is_built_in(to, far.port) && has_lossless_class(spec::qos_of(lab, to)))) continue;
      const int native = native_at(from, near.port);
      if (!vlans.contains(native)) continue;
      findings.add(fmt::format("nodes.{}.vlans.{}", from.name, near.port),
                   fmt::format("{} sends VLAN {} untagged, but {} trusts PCP: the class of its frames is lost.",
                               spec::format(near), native, to.name),
                   fmt::format("Carry VLAN {} tagged at {}.", native, spec::format(near)));
    }
}

// Ports between switches are not looked at.
void find_vlans_apart(const Facts& facts, Findings& findings) {
  const spec::SwitchGraph graph(facts.lab());
  for (const Stream& s : facts.streams()) {
    const auto from = graph.access.find(s.from);
    const auto to = graph.access.find(s.to);
    if (from == graph.access.end() || to == graph.access.end() || !graph.is_at_switch(from->second) ||
        !graph.is_at_switch(to->second) || spec::SwitchGraph::share_vlan(from->second, to->second, s.like.vlan))
      continue;
    findings.add(s.path,
                 fmt::format("{}: {} sends in VLAN {}, which the port of {} does not carry (native VLAN {}): nothing arrives.",
                             s.name, spec::format(s.from), s.like.vlan.value_or(from->second.vlan), spec::format(s.to),
                             to->second.vlans.native),
                 "Send within a VLAN, or carry it at both ports. Between rails: hosts.<profile>.scale-up and pxn: true.");
  }
}

}  // namespace

const Rule kFramesWithoutPcp{"frames-without-pcp", Severity::kWarning,
                             "A switch trusts PCP, and built-in NICs send it frames without an 802.1Q tag.",
                             find_frames_without_pcp};
const Rule kPcpLost{"pcp-lost", Severity::kWarning,
                    "A switch port removes the 802.1Q tag towards a switch or NIC that trusts PCP.", find_pcp_lost};
const Rule kVlansApart{"vlans-apart", Severity::kWarning, "Traffic between NICs whose switch ports share no VLAN.",
                       find_vlans_apart};

}  // namespace railyard::lint
