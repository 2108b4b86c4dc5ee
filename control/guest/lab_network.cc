#include "control/guest/lab_network.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "control/guest/guest_error.h"
#include "control/spec/addresses.h"

namespace railyard::guest {
namespace {

using spec::NodeSpec;
using wire::IpAddress;
using wire::IpPrefix;

// The MTU of the link at a NIC, and who is at its other end.
void add_link(const spec::Lab& lab, const spec::PortName& port, GuestNic& nic) {
  for (const spec::LinkSpec& link : lab.links) {
    if (link.a != port && link.b != port) continue;
    nic.mtu = link.mtu;
    nic.rate = link.rate;
    const NodeSpec* peer = lab.find((link.a == port ? link.b : link.a).node);
    if (peer == nullptr || peer->kind != NodeSpec::Kind::kSwitch) return;
    nic.gateway_v4 = peer->loopback_v4;
    nic.gateway_v6 = peer->loopback_v6;
    return;
  }
}

// As a namespace has them (control/hosts/hosts_file.h).
void add_names(const spec::Lab& lab, GuestNetwork& network) {
  const auto add = [&](const auto& v4, const auto& v6, const std::string& names) {
    for (const auto& address : {v4, v6})
      if (address) network.hosts.emplace_back(*address, names);
  };
  for (const NodeSpec& node : lab.nodes) {
    if (node.kind == NodeSpec::Kind::kSwitch) add(node.loopback_v4, node.loopback_v6, node.name);
    if (node.kind != NodeSpec::Kind::kHost) continue;
    for (std::size_t k = 0; k < node.nics.size(); ++k)
      add(node.nics[k].address_v4, node.nics[k].address_v6,
          fmt::format("{}{}.eth{}", k == 0 ? node.name + " " : "", node.name, k + 1));
  }
}

// The block that an address is in as a rule (control/spec/addresses.h).
IpPrefix block_of(const IpAddress& address) { return IpPrefix::of(address, address.is_v4() ? 96 + 24 : 64); }

// By which NIC (from 0) other hosts' NICs are reached, as few prefixes: a whole block where all known addresses in it
// have the same way, else single addresses.
void add_routes(const spec::Lab& lab, const std::string& host, GuestNetwork& network) {
  network.nics[0].routes = {IpPrefix::of(IpAddress{0u}, 96), IpPrefix{}};
  if (network.nics.size() == 1) return;
  std::map<IpPrefix, std::set<std::pair<IpAddress, std::size_t>>> blocks;
  for (const NodeSpec& node : lab.nodes) {
    if (node.name == host) continue;
    for (std::size_t k = 0; k < node.nics.size(); ++k)
      for (const auto& address : {node.nics[k].address_v4, node.nics[k].address_v6})
        if (address) blocks[block_of(*address)].emplace(*address, k % network.nics.size());
  }
  for (const auto& [block, ways] : blocks) {
    const std::size_t way = ways.begin()->second;
    const bool same = std::ranges::all_of(ways, [&](const auto& entry) { return entry.second == way; });
    if (same) {
      if (way != 0) network.nics[way].routes.push_back(block);
      continue;
    }
    for (const auto& [address, nic] : ways)
      if (nic != 0) network.nics[nic].routes.push_back(IpPrefix::of(address, 128));
  }
}

}  // namespace

GuestNetwork network_of(const spec::Lab& lab, const std::string& host) {
  const NodeSpec* node = lab.find(host);
  if (node == nullptr || node->kind != NodeSpec::Kind::kHost)
    throw GuestError(fmt::format("lab {1} has no host {0}", host, lab.name));
  GuestNetwork network{.hostname = host};
  const auto index = static_cast<std::size_t>(node - lab.nodes.data());
  for (std::size_t k = 0; k < node->nics.size(); ++k) {
    const spec::NicSpec& spec = node->nics[k];
    const int port = static_cast<int>(k) + 1;
    GuestNic& nic = network.nics.emplace_back();
    nic.mac = spec.mac.value_or(spec::automatic_mac(index, port));
    nic.address_v4 = spec.address_v4;
    nic.address_v6 = spec.address_v6;
    add_link(lab, {host, port}, nic);
  }
  add_names(lab, network);
  if (!network.nics.empty()) add_routes(lab, host, network);
  return network;
}

}  // namespace railyard::guest
