#include "control/estimate/placement.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "control/spec/collective_ranks.h"
#include "control/spec/scale_up_networks.h"
#include "dataplane/base/assert.h"

namespace railyard::estimate {
namespace {

using spec::RankAt;

// All GPUs that it may use, host by host as they are named.
std::vector<RankAt> gpus(const spec::Lab& lab, const spec::CollectiveSpec& work) {
  spec::CollectiveSpec all = work;
  all.traced = {};
  return spec::ranks_at(lab, all);
}

std::vector<RankAt> in_order(const spec::Lab& lab, const std::vector<RankAt>& all, HostOrder order) {
  if (order == HostOrder::kAsSaid) return all;
  std::vector<spec::PortName> nics;
  for (const RankAt& r : all) nics.push_back(r.nic);
  const std::vector<std::uint32_t> leaf = spec::leaves(lab, nics);
  // Hosts that share a scale-up network stay together: they are called by the first of them.
  const std::map<std::string, spec::ScaleUpPlace> networks = spec::scale_up_places(lab);
  std::map<std::uint32_t, std::string> first;
  const auto host_of = [&](const RankAt& rank) -> std::string {
    const auto place = networks.find(rank.nic.node);
    return place == networks.end() ? rank.nic.node : first.try_emplace(place->second.network, rank.nic.node).first->second;
  };
  // A host stands at the leaf of the first of its GPUs.
  std::vector<std::string> hosts;
  std::map<std::string, std::vector<RankAt>> of_host;
  std::map<std::uint32_t, std::vector<std::string>> at_leaf;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string host = host_of(all[i]);
    auto& own = of_host[host];
    if (own.empty()) at_leaf[leaf[i]].push_back(host);
    own.push_back(all[i]);
  }
  if (order == HostOrder::kByLeaf)
    for (const auto& [number, there] : at_leaf) hosts.insert(hosts.end(), there.begin(), there.end());
  else
    for (std::size_t i = 0; hosts.size() < of_host.size(); ++i)
      for (const auto& [number, there] : at_leaf)
        if (i < there.size()) hosts.push_back(there[i]);
  std::vector<RankAt> out;
  for (const std::string& host : hosts) out.insert(out.end(), of_host[host].begin(), of_host[host].end());
  return out;
}

// The same with other ranks and another order of axes.
std::expected<Placement, std::string> try_one(const spec::Lab& lab, std::size_t work, Placement p) {
  spec::Lab changed = lab;
  spec::CollectiveSpec c = lab.collectives[work];
  c.placed.clear();
  for (const RankAt& r : p.ranks) c.placed.push_back({r.nic.node, r.nic.port, r.gpu});
  if (c.is_job()) {
    jobs::Training& t = c.job->training;
    t.parallelism.order = p.order;
    auto graph = jobs::make_graph(t);
    auto matches = jobs::check(graph);
    RAILYARD_ASSERT(matches.has_value(), "a schedule of our own fits together");
    c.traced = {std::make_shared<const jobs::JobGraph>(std::move(graph)), std::make_shared<const jobs::Matches>(std::move(*matches))};
  }
  changed.collectives = {std::move(c)};
  const auto estimated = estimate(changed);
  if (!estimated) return std::unexpected(estimated.error());
  p.step = estimated->collectives[0].time;
  return p;
}

}  // namespace

std::string_view name(HostOrder order) noexcept {
  if (order == HostOrder::kByLeaf) return "leaf by leaf";
  return order == HostOrder::kAsSaid ? "as said" : "across leaves";
}

std::vector<jobs::Axis> used_axes(const jobs::Parallelism& parallelism, const std::array<jobs::Axis, 4>& order) {
  std::vector<jobs::Axis> used;
  std::ranges::copy_if(order, std::back_inserter(used), [&](jobs::Axis a) { return parallelism.degree(a) > 1; });
  return used;
}

double Racks::difference() const noexcept {
  const auto [quick, slow] = std::minmax(same.ps, across.ps);
  return quick > 0 ? static_cast<double>(slow) / static_cast<double>(quick) - 1 : 0;
}

namespace {

// Used axes in this order; the others behind them, or all as the lab says it if that is the same.
std::array<jobs::Axis, 4> whole_order(const jobs::Parallelism& said, const std::vector<jobs::Axis>& used) {
  if (used_axes(said, said.order) == used) return said.order;
  std::array<jobs::Axis, 4> order{};
  const auto rest = std::ranges::copy(used, order.begin()).out;
  std::ranges::copy_if(jobs::kAxes, rest, [&](jobs::Axis a) { return said.degree(a) <= 1; });
  return order;
}

// The times of the lab's own order of axes, leaf by leaf and across leaves.
std::optional<Racks> racks_of(const Advice& advice, const std::vector<RankAt>& by_leaf, const std::vector<RankAt>& across) {
  if (by_leaf == across) return std::nullopt;
  const auto time = [&](const std::vector<RankAt>& ranks) {
    return std::ranges::find_if(advice.tried, [&](const Placement& p) { return p.ranks == ranks && advice.has_order_of_now(p); })->step;
  };
  return Racks{.same = time(by_leaf), .across = time(across)};
}

}  // namespace

std::expected<Advice, std::string> advise(const spec::Lab& lab, std::size_t work) {
  const spec::CollectiveSpec& said = lab.collectives[work];
  const jobs::Parallelism p = said.is_job() ? said.job->training.parallelism : jobs::Parallelism{};
  const std::vector<RankAt> all = gpus(lab, said);
  const std::size_t ranks = said.is_job() ? static_cast<std::size_t>(p.ranks()) : spec::ranks_at(lab, said).size();
  std::map<HostOrder, std::vector<RankAt>> at;
  for (const HostOrder hosts : {HostOrder::kAsSaid, HostOrder::kByLeaf, HostOrder::kAcrossLeaves}) {
    std::vector<RankAt> ordered = in_order(lab, all, hosts);
    ordered.resize(std::min(ordered.size(), ranks));
    at.emplace(hosts, std::move(ordered));
  }
  Advice advice{.tried = {}, .racks = {}, .parallelism = p};
  std::vector<Placement> tried;  // first the lab's own
  std::set<std::vector<RankAt>> seen;  // hosts in another order may be in the same
  const std::vector<jobs::Axis> own = used_axes(p, p.order);
  for (const auto& [hosts, there] : at) {
    if (!seen.insert(there).second) continue;
    std::vector<jobs::Axis> axes = own;
    std::ranges::sort(axes);
    std::vector<std::vector<jobs::Axis>> orders{own};
    do {
      if (axes != own) orders.push_back(axes);
    } while (std::ranges::next_permutation(axes).found);
    for (const std::vector<jobs::Axis>& order : orders) {
      auto one = try_one(lab, work, {.hosts = hosts, .order = whole_order(p, order), .ranks = there});
      if (!one) return std::unexpected(one.error());
      tried.push_back(std::move(*one));
    }
  }
  std::vector<std::size_t> sorted(tried.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  std::ranges::stable_sort(sorted, {}, [&](std::size_t i) {
    return std::pair(tried[i].step, used_axes(p, tried[i].order) != own);
  });
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] == 0) advice.now = i;
    advice.tried.push_back(std::move(tried[sorted[i]]));
  }
  advice.racks = racks_of(advice, at[HostOrder::kByLeaf], at[HostOrder::kAcrossLeaves]);
  return advice;
}

}  // namespace railyard::estimate
