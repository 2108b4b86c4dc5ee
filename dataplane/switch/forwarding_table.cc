#include "dataplane/switch/forwarding_table.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

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

ForwardingTable::ForwardingTable(const FecTable& fecs, std::span<const Route> routes) {
  Builder builder(fecs);
  std::unordered_map<Group, Target, GroupHash> groups;  // equal ones are kept once
  for (const Route& route : routes) {
    Target target = Builder::kItself;
    if (!route.ports.empty()) {
      const auto [known, is_new] = groups.try_emplace(Group{&route});
      if (is_new) known->second = builder.add_group(route.ports, route.weights, route.detours, route.hops);
      target = known->second;
    }
    builder.set(route.prefix, target);
  }
  *this = std::move(builder).build();
}

void ForwardingTable::set_targets(const std::vector<Target>& of) {
  std::unordered_map<std::string_view, std::uint16_t> known;  // views of `of`
  classes_ = of.size();
  for (std::size_t first = 0; first < of.size(); first += kPage) {
    const std::size_t count = std::min(kPage, of.size() - first);
    const std::string_view page(reinterpret_cast<const char*>(&of[first]), count * sizeof(Target));
    const std::size_t place = pages_kept();
    if (place == kMostPages) throw std::length_error(fmt::format("more than {} classes of routes", kMostPages * kPage));
    const auto [same, is_new] = known.try_emplace(page, static_cast<std::uint16_t>(place));
    page_of_.push_back(same->second);
    if (!is_new) continue;
    targets_of_.insert(targets_of_.end(), &of[first], &of[first] + count);
    targets_of_.resize((place + 1) * kPage, kNone);
  }
  targets_of_.shrink_to_fit();
}

ForwardingTable::Builder::Builder(const FecTable& fecs) : fecs_(fecs), target_of_(fecs.size(), kNone) {
  table_.targets_[kLocal].kind = NextHops::Kind::kLocal;
}

ForwardingTable::Target ForwardingTable::Builder::add_group(std::span<const PortIndex> ports,
                                                            std::span<const std::uint32_t> weights,
                                                            std::span<const Detour> detours, std::uint8_t hops) {
  ForwardingTable& t = table_;
  if (t.targets_.size() - kGroups == kMostGroups)
    throw std::length_error(fmt::format("more than {} groups of next hops at one switch", kMostGroups));
  t.targets_.push_back({static_cast<std::uint32_t>(t.members_.size()), static_cast<std::uint16_t>(ports.size()),
                        NextHops::Kind::kGroup, static_cast<std::uint8_t>(detours.size())});
  t.members_.insert(t.members_.end(), ports.begin(), ports.end());
  t.weights_.insert(t.weights_.end(), weights.begin(), weights.end());
  t.lengths_.resize(t.members_.size(), hops);
  for (const Detour& d : detours) {
    t.members_.push_back(d.port);
    t.lengths_.push_back(d.hops);
  }
  t.weights_.resize(t.members_.size(), 1);
  return static_cast<Target>(t.targets_.size() - 1);
}

void ForwardingTable::Builder::set(const wire::IpPrefix& prefix, Target target) {
  const Fec fec = fecs_.find(prefix);
  if (fec == kNoFec)
    others_.push_back({prefix, target});
  else
    set(fec, target);
}

ForwardingTable ForwardingTable::Builder::build() && {
  std::vector<std::uint8_t> lengths = inherit();
  for (const Other& other : others_) apply(other, lengths);
  table_.set_targets(target_of_);
  return std::move(table_);
}

// A class comes after those whose prefixes contain its own. Returns, if it matters, by class the length of the prefix
// that it is forwarded by.
std::vector<std::uint8_t> ForwardingTable::Builder::inherit() {
  std::vector<Target>& of = target_of_;
  std::vector<std::uint8_t> lengths(others_.empty() ? 0 : of.size());
  // Mostly every class has a route of its own.
  const auto without = std::ranges::find(of, kNone);
  for (std::size_t i = lengths.empty() ? static_cast<std::size_t>(without - of.begin()) : 0; i < of.size(); ++i) {
    const Fec fec{static_cast<std::uint32_t>(i)};
    const bool own = of[i] != kNone;
    const Fec parent = fecs_.parent(fec);
    if (!own && parent != kNoFec) of[i] = of[parent.index()];
    if (lengths.empty()) continue;
    lengths[i] = own ? fecs_.prefix(fec).length : parent != kNoFec ? lengths[parent.index()] : std::uint8_t{0};
  }
  return lengths;
}

void ForwardingTable::Builder::apply(const Other& other, std::vector<std::uint8_t>& lengths) {
  std::vector<Target>& of = target_of_;
  for (std::size_t i = 0; i < of.size(); ++i) {
    const wire::IpPrefix& p = fecs_.prefix(Fec{static_cast<std::uint32_t>(i)});
    if (p.length < other.prefix.length || !other.prefix.contains(p.address)) continue;
    if (of[i] != kNone && lengths[i] > other.prefix.length) continue;
    of[i] = other.target;
    lengths[i] = other.prefix.length;
  }
}

}  // namespace railyard
