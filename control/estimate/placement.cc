#include "control/estimate/placement.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "control/spec/collective_ranks.h"
#include "control/spec/scale_up_networks.h"
#include "dataplane/base/assert.h"

namespace railyard::estimate {
namespace {

using spec::RankAt;

// All GPUs that the job may use, host by host as they are named.
std::vector<RankAt> gpus(const spec::Lab& lab, const spec::CollectiveSpec& job) {
  spec::CollectiveSpec all = job;
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
std::expected<Placement, std::string> try_one(const spec::Lab& lab, std::size_t job, Placement p) {
  spec::Lab changed = lab;
  spec::CollectiveSpec c = lab.collectives[job];
  c.placed.clear();
  for (const RankAt& r : p.ranks) c.placed.push_back({r.nic.node, r.nic.port, r.gpu});
  jobs::Training& t = c.job->training;
  t.parallelism.order = p.order;
  auto graph = jobs::make_graph(t);
  auto matches = jobs::check(graph);
  RAILYARD_ASSERT(matches.has_value(), "a schedule of our own fits together");
  c.traced = {std::make_shared<const jobs::JobGraph>(std::move(graph)), std::make_shared<const jobs::Matches>(std::move(*matches))};
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

std::expected<Advice, std::string> advise(const spec::Lab& lab, std::size_t job) {
  const spec::CollectiveSpec& said = lab.collectives[job];
  const jobs::Parallelism& p = said.job->training.parallelism;
  const auto ranks = static_cast<std::size_t>(p.ranks());
  const std::vector<RankAt> all = gpus(lab, said);
  // Axes of one rank change nothing wherever they are: they are left at the end.
  std::vector<jobs::Axis> used, rest;
  for (const jobs::Axis a : jobs::kAxes) (p.degree(a) > 1 ? used : rest).push_back(a);
  Advice advice;
  std::set<std::vector<RankAt>> seen;  // hosts in another order may be in the same
  for (const HostOrder hosts : {HostOrder::kAsSaid, HostOrder::kByLeaf, HostOrder::kAcrossLeaves}) {
    std::vector<RankAt> at = in_order(lab, all, hosts);
    at.resize(std::min(at.size(), ranks));
    if (!seen.insert(at).second) continue;
    std::vector<jobs::Axis> axes = used;
    do {
      Placement one{.hosts = hosts, .ranks = at};
      std::ranges::copy(axes, one.order.begin());
      std::ranges::copy(rest, one.order.begin() + static_cast<std::ptrdiff_t>(axes.size()));
      auto tried = try_one(lab, job, std::move(one));
      if (!tried) return std::unexpected(tried.error());
      advice.tried.push_back(std::move(*tried));
    } while (std::ranges::next_permutation(axes).found);
  }
  auto now = try_one(lab, job, {.hosts = HostOrder::kAsSaid, .order = p.order, .ranks = spec::ranks_at(lab, said)});
  if (!now) return std::unexpected(now.error());
  advice.now = std::move(*now);
  std::ranges::stable_sort(advice.tried, {}, &Placement::step);
  return advice;
}

}  // namespace railyard::estimate
