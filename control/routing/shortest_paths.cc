#include "control/routing/shortest_paths.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

#include "dataplane/base/hash.h"

namespace railyard::routing {
namespace {

// Weights in units of a thousandth of the largest; none where all are alike.
std::vector<std::uint32_t> scaled(const std::vector<std::int64_t>& weights) {
  std::vector<std::uint32_t> out;
  if (std::adjacent_find(weights.begin(), weights.end(), std::not_equal_to<>{}) == weights.end()) return out;
  const std::int64_t common =
      std::accumulate(weights.begin(), weights.end(), std::int64_t{0}, std::gcd<std::int64_t, std::int64_t>);
  const std::int64_t most = *std::max_element(weights.begin(), weights.end());
  const std::int64_t unit = std::max(common, most / 1000);
  for (const std::int64_t w : weights) out.push_back(static_cast<std::uint32_t>(std::max<std::int64_t>(1, w / unit)));
  return out;
}

// Whether any of its trunks is up, if it needs one.
bool reaches(const Graph& graph, const Origin::Owner& owner) {
  return owner.ports.empty() || std::ranges::any_of(graph.edges(owner.node), [&](const Graph::Edge& e) {
           return graph.is_up(e.link) && std::ranges::find(owner.ports, e.port) != owner.ports.end();
         });
}

bool is_behind_trunks(const Origin& origin) { return !origin.owners.front().ports.empty(); }

}  // namespace

std::vector<std::uint32_t> weights_of(const Graph& graph, const std::vector<Member>& members) {
  const bool alike =
      std::ranges::adjacent_find(members, std::not_equal_to<>{}, &Member::worth) == members.end();
  if (!graph.is_weighted() && alike) return {};
  std::vector<std::int64_t> worth;
  std::vector<std::int64_t> said;
  bool any_said = false;
  for (const Member& m : members) {
    worth.push_back(m.worth);
    said.push_back(graph.weight(m.link));
    any_said |= graph.says_weight(m.link);
  }
  return scaled(any_said ? said : worth);
}

std::size_t Rib::Hash::operator()(const NextHopGroup& group) const noexcept {
  std::uint64_t h = group.ports.size();
  for (const PortIndex p : group.ports) h = mix64(h ^ p.value);
  for (const std::uint32_t w : group.weights) h = mix64(h ^ w);
  return static_cast<std::size_t>(h);
}

void Rib::set(std::size_t origin, const NextHopGroup& group) {
  if (groups_[last_] == group) {
    of_[origin] = last_;
    return;
  }
  const auto [known, is_new] = numbers_.try_emplace(group, static_cast<std::uint32_t>(groups_.size()));
  if (is_new) groups_.push_back(group);
  of_[origin] = last_ = known->second;
}

PathsTo::PathsTo(const Graph& graph)
    : graph_(graph),
      distance_(graph.size(), kUnreached),
      groups_(graph.size()),
      through_(graph.size(), 0),
      last_resort_(graph.size(), false) {
  if (!graph.order().any()) return;
  rank_.assign(graph.size(), Rank::kInOrder);
  suffix_.assign(graph.size(), PathOrder::kEnd);
}

// Of the nodes that were reached only: memory is kept, and most of a large graph is hosts.
void PathsTo::forget() {
  for (const std::size_t n : nearest_first_) {
    distance_[n] = kUnreached;
    groups_[n].ports.clear();
    groups_[n].weights.clear();
    through_[n] = 0;
    last_resort_[n] = false;
    if (rank_.empty()) continue;
    rank_[n] = Rank::kInOrder;
    suffix_[n] = PathOrder::kEnd;
  }
  nearest_first_.clear();
}

void PathsTo::find(const Origin& origin) {
  forget();
  find_owners(origin);
  if (graph_.order().any()) {
    find_in_order();
    find_others(Rank::kOutOfOrder);
    find_others(Rank::kDrained);
  } else {
    find_distances();
  }
  for (const std::size_t n : nearest_first_)
    if (distance_[n] != 0) add_group(n);
  for (const Origin::Owner& owner : origin.owners)
    if (distance_[owner.node] == 0) groups_[owner.node].ports = owner.ports;
}

void PathsTo::find_owners(const Origin& origin) {
  for (const Origin::Owner& owner : origin.owners) {
    if (!reaches(graph_, owner)) continue;
    distance_[owner.node] = 0;
    through_[owner.node] = kAnyWorth;
    nearest_first_.push_back(owner.node);
  }
}

void PathsTo::find_distances() {
  std::vector<std::size_t> drained;
  bool at_last = false;
  const auto look_from = [&](std::size_t n) {
    for (const Graph::Edge& e : graph_.edges(n)) {
      if (!graph_.is_switch(e.neighbour) || distance_[e.neighbour] != kUnreached || !graph_.is_up(e.link)) continue;
      distance_[e.neighbour] = distance_[n] + 1;
      last_resort_[e.neighbour] = at_last;
      nearest_first_.push_back(e.neighbour);
    }
  };
  for (std::size_t i = 0; i < nearest_first_.size(); ++i) {
    const std::size_t n = nearest_first_[i];
    if (graph_.is_drained(n) && distance_[n] != 0)
      drained.push_back(n);
    else
      look_from(n);
  }
  at_last = true;  // who is left has no other way
  for (const std::size_t d : drained) {
    const std::size_t known = nearest_first_.size();
    look_from(d);
    for (std::size_t i = known; i < nearest_first_.size(); ++i) look_from(nearest_first_[i]);
  }
}

// Hop by hop: all that are equally far have their suffix, the lowest, before anybody is found behind them.
void PathsTo::find_in_order() {
  for (std::size_t i = 0; i < nearest_first_.size(); ++i) {
    const std::size_t n = nearest_first_[i];
    if (graph_.is_drained(n) && distance_[n] != 0) continue;
    for (const Graph::Edge& e : graph_.edges(n)) {
      const std::size_t m = e.neighbour;
      if (!graph_.is_switch(m) || !graph_.is_up(e.link)) continue;
      if (distance_[m] != kUnreached && distance_[m] != distance_[n] + 1) continue;
      const std::optional<PathOrder::Suffix> suffix = graph_.order().before(suffix_[n], m, n);
      if (!suffix) continue;
      if (distance_[m] == kUnreached) nearest_first_.push_back(m);
      distance_[m] = distance_[n] + 1;
      suffix_[m] = std::min(suffix_[m], *suffix);
    }
  }
}

// Who is left, behind all that are known, nearest first.
void PathsTo::find_others(Rank rank) {
  std::vector<std::vector<std::size_t>> at;  // by distance
  const auto put = [&](std::size_t n) {
    const auto distance = static_cast<std::size_t>(distance_[n]);
    if (at.size() <= distance) at.resize(distance + 1);
    at[distance].push_back(n);
  };
  for (const std::size_t n : nearest_first_) put(n);
  std::size_t known = nearest_first_.size();
  if (known == graph_.size()) return;
  for (std::size_t d = 0; d < at.size(); ++d)
    for (std::size_t i = 0; i < at[d].size(); ++i) {
      const std::size_t n = at[d][i];
      if (graph_.is_drained(n) && d != 0 && rank != Rank::kDrained) continue;
      for (const Graph::Edge& e : graph_.edges(n)) {
        if (!graph_.is_switch(e.neighbour) || distance_[e.neighbour] != kUnreached || !graph_.is_up(e.link)) continue;
        distance_[e.neighbour] = distance_[n] + 1;
        rank_[e.neighbour] = rank;
        last_resort_[e.neighbour] = rank == Rank::kDrained;
        nearest_first_.push_back(e.neighbour);
        put(e.neighbour);
      }
    }
  if (known == nearest_first_.size()) return;
  std::ranges::stable_sort(nearest_first_, {}, [&](std::size_t n) { return distance_[n]; });
}

bool PathsTo::leads_on(std::size_t n, std::size_t to) const {
  if (distance_[to] != distance_[n] - 1) return false;
  if (graph_.is_drained(to) && distance_[to] != 0 && !last_resort_[n]) return false;
  if (rank_.empty()) return true;
  if (rank_[to] > rank_[n]) return false;
  return rank_[n] != Rank::kInOrder || graph_.order().before(suffix_[to], n, to) == suffix_[n];
}

void PathsTo::add_group(std::size_t n) {
  NextHopGroup& g = groups_[n];
  members_.clear();
  for (const Graph::Edge& e : graph_.edges(n)) {
    if (!graph_.is_switch(e.neighbour) || !graph_.is_up(e.link) || !leads_on(n, e.neighbour)) continue;
    g.ports.push_back(e.port);
    members_.push_back({e.link, std::min(graph_.bps(e.link), through_[e.neighbour])});
    through_[n] += members_.back().worth;
  }
  g.weights = weights_of(graph_, members_);
}

std::vector<Route> Routes::table_of(std::size_t node, const Rib& rib) const {
  std::vector<Route> table;
  bool has_local = false;
  const auto add_local = [&] {
    if (!has_local) table.insert(table.end(), announced.local[node].begin(), announced.local[node].end());
    has_local = true;
  };
  for (std::size_t o = 0; o < announced.origins.size(); ++o) {
    const Origin& origin = announced.origins[o];
    if (is_behind_trunks(origin) || origin.owners.front().node >= node) add_local();
    const NextHopGroup& group = rib.group(o);
    if (group.ports.empty()) continue;
    for (const wire::IpPrefix& p : origin.prefixes) {
      table.push_back({p, group.ports, group.weights});
      if (detours != nullptr) detours->add_to(table.back(), node, o);
    }
  }
  add_local();
  return table;
}

ForwardingTable Routes::forwarding_of(std::size_t node) const {
  if (detours != nullptr) return ForwardingTable(*fecs, table_of(node));
  const Rib& rib = ribs[node];
  ForwardingTable::Builder builder(*fecs);
  std::vector<std::uint16_t> targets(rib.groups().size());
  for (std::size_t g = 1; g < targets.size(); ++g)
    targets[g] = builder.add_group(rib.groups()[g].ports, rib.groups()[g].weights);
  std::map<PortIndex, std::uint16_t> to_host;
  for (const Route& route : announced.local[node]) {
    std::uint16_t target = ForwardingTable::Builder::kItself;
    if (!route.ports.empty()) {
      const auto [known, is_new] = to_host.try_emplace(route.ports.front());
      if (is_new) known->second = builder.add_group(route.ports, route.weights);
      target = known->second;
    }
    builder.set(fecs->find(route.prefix), target);
  }
  for (std::size_t o = 0; o < classes.size(); ++o)
    if (const std::uint32_t group = rib.number(o); group != 0)
      for (const Fec fec : classes[o]) builder.set(fec, targets[group]);
  return std::move(builder).build();
}

Routes shortest_paths(const Graph& graph) {
  Routes routes;
  routes.announced = announcements(graph);
  const std::vector<Origin>& origins = routes.announced.origins;
  for (std::size_t n = 0; n < graph.size(); ++n) routes.ribs.emplace_back(graph.is_switch(n) ? origins.size() : 0);
  const auto detours = Detours::wanted(graph) ? std::make_shared<Detours>(graph) : nullptr;
  PathsTo paths(graph);
  for (std::size_t o = 0; o < origins.size(); ++o) {
    paths.find(origins[o]);
    if (detours != nullptr) detours->add_origin(origins[o].owners.front().node, paths.distances());
    for (std::size_t n = 0; n < graph.size(); ++n)
      if (graph.is_switch(n)) routes.ribs[n].set(o, paths.group(n));
  }
  routes.detours = detours;
  std::vector<wire::IpPrefix> prefixes;
  for (const std::vector<Route>& local : routes.announced.local)
    for (const Route& r : local) prefixes.push_back(r.prefix);
  for (const Origin& origin : origins) prefixes.insert(prefixes.end(), origin.prefixes.begin(), origin.prefixes.end());
  routes.fecs = std::make_shared<const FecTable>(std::move(prefixes));
  for (const Origin& origin : origins) {
    std::vector<Fec>& classes = routes.classes.emplace_back();
    for (const wire::IpPrefix& p : origin.prefixes) classes.push_back(routes.fecs->find(p));
  }
  return routes;
}

}  // namespace railyard::routing
