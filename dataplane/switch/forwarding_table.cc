#include "dataplane/switch/forwarding_table.h"

#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "dataplane/base/hash.h"

namespace railyard {

namespace {

struct PrefixHash {
  std::size_t operator()(const wire::IpPrefix& p) const noexcept {
    return std::hash<wire::IpAddress>{}(p.address) ^ mix64(p.length);
  }
};

}  // namespace

ForwardingTable::ForwardingTable(const FecTable& fecs, std::span<const Route> routes) : entries_(fecs.size()) {
  std::unordered_map<wire::IpPrefix, NextHops, PrefixHash> by_prefix;
  using Group = std::tuple<const std::vector<PortIndex>&, const std::vector<std::uint32_t>&,
                           const std::vector<Detour>&, std::uint8_t>;
  std::map<Group, NextHops> groups;  // equal ones are kept once
  std::set<std::uint8_t, std::greater<>> lengths;     // that occur: the longest is tried first
  for (const Route& route : routes) {
    NextHops hops;
    if (route.ports.empty()) {
      hops.kind = NextHops::Kind::kLocal;
    } else if (const auto known = groups.find(Group{route.ports, route.weights, route.detours, route.hops});
               known != groups.end()) {
      hops = known->second;
    } else {
      hops = {static_cast<std::uint32_t>(members_.size()), static_cast<std::uint16_t>(route.ports.size()),
              NextHops::Kind::kGroup, static_cast<std::uint8_t>(route.detours.size())};
      members_.insert(members_.end(), route.ports.begin(), route.ports.end());
      weights_.insert(weights_.end(), route.weights.begin(), route.weights.end());
      lengths_.resize(members_.size(), route.hops);
      for (const Detour& d : route.detours) {
        members_.push_back(d.port);
        lengths_.push_back(d.hops);
      }
      weights_.resize(members_.size(), 1);
      groups_.push_back(hops);
      groups.emplace(Group{route.ports, route.weights, route.detours, route.hops}, hops);
    }
    by_prefix[route.prefix] = hops;
    lengths.insert(route.prefix.length);
  }
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const wire::IpPrefix& covered = fecs.prefix(Fec{static_cast<std::uint32_t>(i)});
    for (const std::uint8_t length : lengths) {
      if (length > covered.length) continue;
      const auto found = by_prefix.find(wire::IpPrefix::of(covered.address, length));
      if (found == by_prefix.end()) continue;
      entries_[i] = found->second;
      break;
    }
  }
}

}  // namespace railyard
