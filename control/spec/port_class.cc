#include "control/spec/port_class.h"

#include <utility>

#include <fmt/format.h>

namespace railyard::spec {
namespace {

void apply(const ClassOverride& over, TrafficClass& c) {
  if (over.pfc != PfcMode::kAuto) c.pfc = over.pfc;
  if (over.alpha_exponent) {
    c.alpha_exponent = *over.alpha_exponent;
    c.xoff.reset();
  }
  if (over.xoff) c.xoff = over.xoff;
  if (over.xon_offset) c.xon_offset = *over.xon_offset;
  if (over.headroom) c.headroom = over.headroom;
  if (over.remap_to) c.remap_to = *over.remap_to;
}

const PortSpec* port_spec(const NodeSpec& node, int port) {
  const auto found = node.ports.find(port);
  return found == node.ports.end() ? nullptr : &found->second;
}

enum class PfcSource { kClassAtPort, kPort, kHost, kClass };

// The nearest that says something: the class at the port, the port, the host, the class.
std::pair<PfcMode, PfcSource> mode_at(const Lab& lab, const NodeSpec& node, int port, std::size_t priority,
                                      const TrafficClass& merged) {
  if (const PortSpec* p = port_spec(node, port)) {
    const auto over = p->classes.find(static_cast<int>(priority));
    if (over != p->classes.end() && over->second.pfc != PfcMode::kAuto)
      return {over->second.pfc, PfcSource::kClassAtPort};
    if (p->pfc != PfcMode::kAuto) return {p->pfc, PfcSource::kPort};
  }
  if (node.kind == NodeSpec::Kind::kHost)
    if (const PfcMode host = lab.hosts.at(node.profile).pfc; host != PfcMode::kAuto) return {host, PfcSource::kHost};
  return {merged.pfc, PfcSource::kClass};
}

}  // namespace

const QosProfile& qos_of(const Lab& lab, const NodeSpec& node) {
  return lab.qos.at(node.kind == NodeSpec::Kind::kSwitch ? lab.switches.at(node.profile).qos
                                                         : lab.hosts.at(node.profile).qos);
}

TrafficClass class_at(const Lab& lab, const NodeSpec& node, int port, BitRate rate, std::size_t priority) {
  TrafficClass c = qos_of(lab, node).classes[priority];
  if (const auto over = c.by_rate.find(rate); over != c.by_rate.end()) apply(over->second, c);
  if (const PortSpec* p = port_spec(node, port))
    if (const auto over = p->classes.find(static_cast<int>(priority)); over != p->classes.end()) apply(over->second, c);
  return c;
}

int remap_at(const Lab& lab, const NodeSpec& node, int port, BitRate rate, std::size_t priority) {
  if (const PortSpec* p = port_spec(node, port))
    if (const auto over = p->classes.find(static_cast<int>(priority));
        over != p->classes.end() && over->second.remap_to)
      return *over->second.remap_to;
  const TrafficClass& c = qos_of(lab, node).classes[priority];
  if (const auto over = c.by_rate.find(rate); over != c.by_rate.end() && over->second.remap_to)
    return *over->second.remap_to;
  return c.remap_to < 0 ? static_cast<int>(priority) : c.remap_to;
}

std::string pfc_key(const Lab& lab, const NodeSpec& node, int port, BitRate rate, std::size_t priority) {
  switch (mode_at(lab, node, port, priority, class_at(lab, node, port, rate, priority)).second) {
    case PfcSource::kClassAtPort:
      return fmt::format("nodes.{}.ports.{}.classes.{}.pfc", node.name, port, priority);
    case PfcSource::kPort:
      return fmt::format("nodes.{}.ports.{}.pfc", node.name, port);
    case PfcSource::kHost:
      return fmt::format("hosts.{}.pfc", node.profile);
    case PfcSource::kClass:
      break;
  }
  const std::string& qos = node.kind == NodeSpec::Kind::kSwitch ? lab.switches.at(node.profile).qos
                                                                : lab.hosts.at(node.profile).qos;
  return fmt::format("qos.{}.classes.{}.pfc", qos, priority);
}

PfcClasses pfc_at(const Lab& lab, const NodeSpec& node, int port, BitRate rate) {
  PfcClasses classes;
  for (std::size_t k = 0; k < kPriorities; ++k) {
    const TrafficClass c = class_at(lab, node, port, rate, k);
    if (c.lossless && c.cbfc) continue;  // a sender with credits is never paused
    const PfcMode mode = mode_at(lab, node, port, k, c).first;
    const PriorityMask here = bit(Priority{static_cast<std::uint8_t>(k)});
    const bool on = mode == PfcMode::kOn || (mode == PfcMode::kAuto && c.lossless);
    if (on || mode == PfcMode::kRx) classes.rx = static_cast<PriorityMask>(classes.rx | here);
    if (on || mode == PfcMode::kTx) classes.tx = static_cast<PriorityMask>(classes.tx | here);
  }
  return classes;
}

}  // namespace railyard::spec
