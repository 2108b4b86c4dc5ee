#include "control/spec/collective_ranks.h"

#include <algorithm>
#include <map>
#include <string>

#include "control/spec/select.h"

namespace railyard::spec {

TrafficSpec like_traffic(const CollectiveSpec& c) {
  TrafficSpec t;
  t.name = c.name;
  t.transport = c.is_uet() ? TrafficSpec::Transport::kUet : TrafficSpec::Transport::kRoce;
  t.ip_version = c.ip_version;
  t.dscp = c.dscp;
  t.ect = c.ect;
  t.priority = c.priority;
  t.roce.path_mtu = c.path_mtu;
  return t;
}

std::vector<PortName> ranks(const Lab& lab, const CollectiveSpec& collective) {
  if (!collective.placed.empty()) {
    std::vector<PortName> nics;
    for (const PlacedRank& p : collective.placed) nics.push_back({p.host, p.rail});
    return nics;
  }
  return rank_nics(lab, collective.ranks);
}

bool has_agents(const Lab& lab, const std::vector<PortName>& ranks) {
  return std::ranges::any_of(ranks, [&](const PortName& nic) { return lab.find(nic.node)->agent.has_value(); });
}

RankPlaces places(const Lab& lab, const std::vector<PortName>& ranks) {
  RankPlaces out;
  std::map<std::string, std::uint32_t> number;
  std::uint32_t next = 0;
  for (const PortName& nic : ranks) {
    const bool joins = lab.hosts.at(lab.find(nic.node)->profile).scale_up.has_value();
    out.host.push_back(joins ? number.try_emplace(nic.node, next).first->second : next);
    if (out.host.back() == next) ++next;
    out.rail.push_back(static_cast<std::uint32_t>(nic.port));
  }
  if (next == ranks.size()) return {};
  return out;
}

std::vector<std::uint32_t> groups(const Lab& lab, const std::vector<PortName>& ranks) {
  const RankPlaces p = places(lab, ranks);
  return p.host.empty() ? leaves(lab, ranks) : p.host;
}

std::vector<std::uint32_t> leaves(const Lab& lab, const std::vector<PortName>& ranks) {
  std::map<PortName, std::string> leaf;
  for (const LinkSpec& link : lab.links) {
    leaf[link.a] = link.b.node;
    leaf[link.b] = link.a.node;
  }
  std::map<std::string, std::uint32_t> number;
  std::vector<std::uint32_t> out;
  for (const PortName& nic : ranks)
    out.push_back(number.try_emplace(leaf[nic], static_cast<std::uint32_t>(number.size())).first->second);
  return out;
}

}  // namespace railyard::spec
