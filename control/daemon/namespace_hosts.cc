#include "control/daemon/namespace_hosts.h"

#include <cstdint>
#include <map>
#include <utility>

#include "control/spec/addresses.h"
#include "control/spec/interface_name.h"
#include "control/spec/link_ends.h"

namespace railyard::daemon {
namespace {

// What the link of a NIC leads to.
hosts::Neighbour neighbour(const spec::Lab& lab, const spec::PortName& peer) {
  const spec::NodeSpec& node = *lab.find(peer.node);
  const wire::MacAddress mac = spec::port_mac(lab, peer);
  if (node.kind == spec::NodeSpec::Kind::kSwitch) return {true, mac, node.loopback_v4, node.loopback_v6};
  const spec::NicSpec& nic = node.nics[static_cast<std::size_t>(peer.port) - 1];
  return {false, mac, nic.address_v4, nic.address_v6};
}

// Hosts and switches at other sites.
void add_elsewhere(const spec::Lab& lab, hosts::LabHosts& out) {
  const spec::Lab& whole = *lab.whole.lab;
  for (std::size_t n = lab.nodes.size(); n < whole.nodes.size(); ++n) {
    const spec::NodeSpec& node = whole.nodes[n];
    if (node.kind == spec::NodeSpec::Kind::kSwitch) out.others.push_back({node.name, 0, node.loopback_v4, node.loopback_v6});
    for (std::size_t i = 0; i < node.nics.size(); ++i) {
      const int port = static_cast<int>(i) + 1;
      out.others.push_back({node.name, port, node.nics[i].address_v4, node.nics[i].address_v6,
                            spec::interface_name(whole, node, port)});
    }
  }
}

}  // namespace

hosts::LabHosts namespace_hosts(const spec::Lab& lab, const std::string& name) {
  const std::map<spec::PortName, spec::LinkEnd> ends = spec::link_ends(lab);
  hosts::LabHosts out{.name = name, .hosts = {}, .others = {}};
  std::size_t nics = 0;
  for (const spec::NodeSpec& node : lab.nodes) {
    if (node.kind == spec::NodeSpec::Kind::kSwitch) {
      out.others.push_back({node.name, 0, node.loopback_v4, node.loopback_v6});
      // Whose interfaces are made with the lab's ports.
      if (spec::has_speaker(lab, node)) out.hosts.push_back({.name = node.name, .nics = {}, .first_nic = nics});
      continue;
    }
    if (node.kind == spec::NodeSpec::Kind::kTrunk) continue;
    const bool is_namespace = std::holds_alternative<spec::AttachNamespace>(node.nics[0].attach);
    hosts::NamespaceHost host{.name = node.name, .nics = {}, .first_nic = nics};
    nics += node.nics.size();
    for (std::size_t i = 0; i < node.nics.size(); ++i) {
      const spec::NicSpec& nic = node.nics[i];
      const int port = static_cast<int>(i) + 1;
      if (!is_namespace) {
        out.others.push_back(
            {node.name, port, nic.address_v4, nic.address_v6, spec::interface_name(lab, node, port)});
        continue;
      }
      hosts::HostNic made;
      made.interface = spec::interface_name(lab, node, port);
      made.mac = nic.mac.value_or(wire::MacAddress{});
      made.address_v4 = nic.address_v4;
      made.address_v6 = nic.address_v6;
      if (const auto end = ends.find({node.name, port}); end != ends.end()) {
        made.mtu = end->second.link->mtu;
        made.rate = {static_cast<std::int64_t>(static_cast<Int128>(end->second.link->rate.bps) *
                                               lab.run.scale_numerator / lab.run.scale_denominator)};
        made.framing = end->second.link->framing;
        made.neighbour = neighbour(lab, end->second.peer);
      }
      host.nics.push_back(made);
    }
    if (is_namespace) out.hosts.push_back(std::move(host));
  }
  if (lab.whole.lab != nullptr) add_elsewhere(lab, out);
  return out;
}

}  // namespace railyard::daemon
