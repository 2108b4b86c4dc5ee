#include "dataplane/switch/forwarding_table.h"

#include <unordered_map>

#include "dataplane/base/hash.h"

namespace railyard {

namespace {

// What makes two routes one group.
struct Group {
  const Route* route;

  bool operator==(const Group& other) const noexcept {
    const Route& a = *route;
    const Route& b = *other.route;
    return a.ports == b.ports && a.weights == b.weights && a.detours == b.detours && a.hops == b.hops;
  }
};

struct GroupHash {
  std::size_t operator()(const Group& group) const noexcept {
    std::uint64_t hash = mix64(group.route->ports.size());
    for (const PortIndex port : group.route->ports) hash = mix64(hash ^ port.value);
    return hash;
  }
};

}  // namespace

ForwardingTable::ForwardingTable(const FecTable& fecs, std::span<const Route> routes) : entries_(fecs.size()) {
  std::unordered_map<Group, NextHops, GroupHash> groups;  // equal ones are kept once
  Fec fec{0};  // of the route, which is mostly the one behind that of the route before it
  for (const Route& route : routes) {
    fec = fecs.find(route.prefix, fec);
    NextHops& hops = entries_[fec.index()];
    fec = Fec{fec.value + 1};
    if (route.ports.empty()) {
      hops = {.kind = NextHops::Kind::kLocal};
      continue;
    }
    const auto [known, is_new] = groups.try_emplace(Group{&route});
    if (is_new) known->second = add_group(route);
    hops = known->second;
  }
  // Prefixes come after those that contain them.
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].kind != NextHops::Kind::kNone) continue;
    const Fec parent = fecs.parent(Fec{static_cast<std::uint32_t>(i)});
    if (parent != kNoFec) entries_[i] = entries_[parent.index()];
  }
}

NextHops ForwardingTable::add_group(const Route& route) {
  const NextHops hops{static_cast<std::uint32_t>(members_.size()), static_cast<std::uint16_t>(route.ports.size()),
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
  return hops;
}

}  // namespace railyard
