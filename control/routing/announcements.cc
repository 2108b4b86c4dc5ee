#include "control/routing/announcements.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace railyard::routing {
namespace {

using wire::IpAddress;
using wire::IpPrefix;

// What a switch stands for in other switches' tables.
struct Behind {
  struct Address {
    IpAddress address;
    PortIndex port;
    int vlan;  // native VLAN of the port
  };
  std::vector<Address> hosts;
  std::vector<IpAddress> own;  // loopbacks
};

IpPrefix host_prefix(const IpAddress& a) { return IpPrefix::of(a, 128); }

// The longest prefix that covers all addresses of one family, if there are at least two.
std::optional<IpPrefix> common_prefix(const std::vector<IpAddress>& addresses) {
  if (addresses.size() < 2) return std::nullopt;
  const auto [least, most] = std::minmax_element(addresses.begin(), addresses.end());
  std::uint8_t length = 128;
  while (!IpPrefix::of(*least, length).contains(*most)) --length;
  return IpPrefix::of(*least, length);
}

// By prefix that some trunk leads to: the switches that have such a trunk, with its ports.
using Trunks = std::map<IpPrefix, std::map<std::size_t, std::vector<PortIndex>>>;

Trunks behind_trunks(const Graph& graph) {
  Trunks trunks;
  for (std::size_t n = 0; n < graph.size(); ++n) {
    if (!graph.is_switch(n)) continue;
    for (const Graph::Edge& e : graph.edges(n))
      if (graph.is_trunk(e.neighbour))
        for (const IpPrefix& p : graph.lab().nodes[e.neighbour].trunk.networks) {
          std::vector<PortIndex>& ports = trunks[p][n];
          if (std::find(ports.begin(), ports.end(), e.port) == ports.end()) ports.push_back(e.port);
        }
  }
  return trunks;
}

std::vector<Behind> behind_each(const Graph& graph) {
  std::vector<Behind> behind(graph.size());
  for (std::size_t n = 0; n < graph.size(); ++n) {
    const spec::NodeSpec& node = graph.lab().nodes[n];
    if (node.kind != spec::NodeSpec::Kind::kSwitch) continue;
    for (const auto& loopback : {node.loopback_v4, node.loopback_v6})
      if (loopback) behind[n].own.push_back(*loopback);
    for (const Graph::Edge& e : graph.edges(n)) {
      if (!graph.is_host(e.neighbour)) continue;
      const auto said = node.vlans.find(static_cast<int>(e.port.index()) + 1);
      const int vlan = said == node.vlans.end() ? spec::VlanSpec{}.native : said->second.native;
      const spec::NicSpec& nic = graph.lab().nodes[e.neighbour].nics[e.neighbour_port.index()];
      for (const auto& address : {nic.address_v4, nic.address_v6})
        if (address) behind[n].hosts.push_back({*address, e.port, vlan});
    }
  }
  return behind;
}

// Which prefixes a switch announces for what is behind it: one for all, else one for each of its VLANs.
class Summaries {
 public:
  Summaries(const std::vector<Behind>& behind, const Trunks& trunks) : trunks_(trunks) {
    for (const Behind& b : behind) {
      for (const auto& h : b.hosts) everybody_.push_back(h.address);
      everybody_.insert(everybody_.end(), b.own.begin(), b.own.end());
    }
    std::sort(everybody_.begin(), everybody_.end());
  }

  std::vector<IpPrefix> of(const Behind& b) const {
    std::vector<IpPrefix> announced;
    for (const bool v4 : {true, false}) {
      std::vector<IpAddress> family;
      std::map<int, std::vector<IpAddress>> by_vlan;
      for (const auto& h : b.hosts) {
        if (h.address.is_v4() != v4) continue;
        family.push_back(h.address);
        by_vlan[h.vlan].push_back(h.address);
      }
      if (const auto prefix = summary(family)) {
        announced.push_back(*prefix);
        continue;
      }
      for (const auto& [vlan, addresses] : by_vlan)
        if (const auto prefix = summary(addresses))
          announced.push_back(*prefix);
        else
          for (const IpAddress& a : addresses) announced.push_back(host_prefix(a));
    }
    for (const IpAddress& a : b.own) announced.push_back(host_prefix(a));
    return announced;
  }

 private:
  // One prefix for all of them, if nobody else has an address in it.
  std::optional<IpPrefix> summary(const std::vector<IpAddress>& addresses) const {
    const auto prefix = common_prefix(addresses);
    return prefix && !within_trunk(*prefix) && covered(*prefix) == static_cast<std::ptrdiff_t>(addresses.size())
               ? prefix
               : std::nullopt;
  }
  std::ptrdiff_t covered(const IpPrefix& p) const {
    const auto first = std::lower_bound(everybody_.begin(), everybody_.end(), p.address);
    return std::find_if_not(first, everybody_.end(), [&](const IpAddress& a) { return p.contains(a); }) - first;
  }
  // A prefix within a network behind a trunk would draw in what lies behind the trunk.
  bool within_trunk(const IpPrefix& p) const {
    return std::any_of(trunks_.begin(), trunks_.end(),
                       [&](const auto& t) { return t.first.length <= p.length && t.first.contains(p.address); });
  }

  const Trunks& trunks_;
  std::vector<IpAddress> everybody_;
};

}  // namespace

Announcements announcements(const Graph& graph) {
  const std::vector<Behind> behind = behind_each(graph);
  const Trunks trunks = behind_trunks(graph);
  const Summaries summaries(behind, trunks);
  Announcements all;
  all.local.resize(graph.size());
  for (std::size_t n = 0; n < graph.size(); ++n) {
    if (!graph.is_switch(n)) continue;
    for (const auto& h : behind[n].hosts) all.local[n].push_back({host_prefix(h.address), {h.port}});
    for (const IpAddress& a : behind[n].own) all.local[n].push_back({host_prefix(a), {}});
    if (std::vector<IpPrefix> announced = summaries.of(behind[n]); !announced.empty())
      all.origins.push_back({std::move(announced), {{n, {}}}});
  }
  for (const auto& [prefix, owners] : trunks) {
    Origin origin{{prefix}, {}};
    for (const auto& [owner, ports] : owners) origin.owners.push_back({owner, ports});
    all.origins.push_back(std::move(origin));
  }
  return all;
}

}  // namespace railyard::routing
