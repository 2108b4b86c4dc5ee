#include "dataplane/switch/forwarding_table.h"

#include <algorithm>
#include <map>

namespace railyard {

ForwardingTable::ForwardingTable(const FecTable& fecs, std::span<const Route> routes) : entries_(fecs.size()) {
  std::map<wire::IpPrefix, NextHops> by_prefix;
  std::map<std::vector<PortIndex>, NextHops> groups;  // equal groups are kept once
  for (const Route& route : routes) {
    NextHops hops;
    if (route.ports.empty()) {
      hops.kind = NextHops::Kind::kLocal;
    } else if (const auto known = groups.find(route.ports); known != groups.end()) {
      hops = known->second;
    } else {
      hops = {static_cast<std::uint32_t>(members_.size()), static_cast<std::uint16_t>(route.ports.size()),
              NextHops::Kind::kGroup};
      members_.insert(members_.end(), route.ports.begin(), route.ports.end());
      groups.emplace(route.ports, hops);
    }
    by_prefix[route.prefix] = hops;
  }
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const wire::IpPrefix& covered = fecs.prefix(Fec{static_cast<std::uint32_t>(i)});
    for (int length = covered.length; length >= 0; --length) {
      const auto found = by_prefix.find(wire::IpPrefix::of(covered.address, static_cast<std::uint8_t>(length)));
      if (found == by_prefix.end()) continue;
      entries_[i] = found->second;
      break;
    }
  }
}

}  // namespace railyard
