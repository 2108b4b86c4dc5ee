#include "control/sites/placement.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/sites/groups.h"
#include "control/spec/select.h"
#include "control/spec/spec_error.h"
#include "control/spec/suggest.h"
#include "dataplane/graph/partition.h"

namespace railyard::sites {
namespace {

using spec::SpecError;

constexpr std::size_t kNowhere = ~std::size_t{0};

// Groups of nodes, and how many links lie between two of them.
class Cut {
 public:
  Cut(const spec::Lab& lab, const std::vector<std::string>& sites)
      : lab_(lab), sites_(sites), group_of_(groups_of(lab)), graph_(count()), site_of_(count(), kNowhere) {
    std::unordered_map<std::string, std::size_t> index;
    for (std::size_t n = 0; n < lab.nodes.size(); ++n) index[lab.nodes[n].name] = n;
    for (const spec::LinkSpec& link : lab.links) {
      const std::size_t a = group_of_[index.at(link.a.node)];
      const std::size_t b = group_of_[index.at(link.b.node)];
      graph_.add_weight(a, 1);
      graph_.add_weight(b, 1);
      graph_.add_edge(a, b);
    }
  }

  Placement run() {
    if (count() < sites_.size())
      throw SpecError({}, fmt::format("the lab has {} parts that can be at different sites, and {} sites are chosen; hosts "
                                      "stay with their switches, racks and scale-up networks stay whole",
                                      count(), sites_.size()));
    place_named();
    if (std::ranges::all_of(site_of_, [](std::size_t s) { return s == kNowhere; }))
      place_all();
    else
      place_rest();
    for (std::size_t s = 0; s < sites_.size(); ++s)
      if (std::ranges::find(site_of_, s) == site_of_.end())
        throw SpecError(place_of(s), fmt::format("no node is left for site {}; expected fewer sites, or `sites.{}.nodes`",
                                                 sites_[s], sites_[s]));
    Placement placement;
    for (const std::size_t group : group_of_) placement.push_back(sites_[site_of_[group]]);
    return placement;
  }

 private:
  std::size_t count() const { return group_of_.empty() ? 0 : *std::ranges::max_element(group_of_) + 1; }
  spec::Place place_of(std::size_t site) const { return lab_.sites.at(sites_[site]).place; }

  void place_named() {
    std::map<std::size_t, std::size_t> first;  // by group: the node that says where it is
    for (std::size_t s = 0; s < sites_.size(); ++s) {
      // Most are names: what is sent to sites lists all nodes.
      std::unordered_set<std::string> names;
      std::vector<std::string> patterns;
      for (const std::string& said : lab_.sites.at(sites_[s]).nodes)
        if (said.find_first_of("*?") == said.npos)
          names.insert(said);
        else
          patterns.push_back(said);
      for (std::size_t n = 0; n < lab_.nodes.size(); ++n) {
        const std::string& name = lab_.nodes[n].name;
        if (!names.contains(name) && std::ranges::none_of(patterns, [&](const auto& p) { return spec::matches(p, name); }))
          continue;
        const std::size_t group = group_of_[n];
        if (site_of_[group] != kNowhere && site_of_[group] != s)
          throw SpecError(place_of(s),
                          fmt::format("{} is at site {} and {} at site {}, but both have to be at one site: hosts stay with "
                                      "their switches, racks and scale-up networks stay whole",
                                      lab_.nodes[first[group]].name, sites_[site_of_[group]], lab_.nodes[n].name, sites_[s]));
        site_of_[group] = s;
        first.try_emplace(group, n);
      }
    }
  }

  // Sites are numbered in the order of their first nodes.
  void place_all() {
    std::vector<std::size_t> part = by_metis();
    for (std::size_t s = 0; s < sites_.size() && !part.empty(); ++s)
      if (std::ranges::find(part, s) == part.end()) part.clear();  // a small graph, and a site without nodes
    if (part.empty()) part = in_turn();
    std::map<std::size_t, std::size_t> number;
    for (std::size_t g = 0; g < count(); ++g) site_of_[g] = number.try_emplace(part[g], number.size()).first->second;
  }

  std::vector<std::size_t> by_metis() const {
    if (sites_.size() == 1) return std::vector<std::size_t>(count(), 0);
    if (count() == sites_.size()) return {};
    return partition(graph_, sites_.size());
  }

  // As many ports for each, in the order of the lab, one group at least.
  std::vector<std::size_t> in_turn() const {
    std::size_t all = 0;
    for (std::size_t g = 0; g < count(); ++g) all += graph_.weight(g);
    std::vector<std::size_t> part;
    std::size_t site = 0, before = 0;
    for (std::size_t g = 0; g < count(); ++g) {
      const std::size_t groups_left = count() - g;
      const std::size_t sites_left = sites_.size() - site - 1;
      const bool full = before * sites_.size() >= all * (site + 1);
      if (!part.empty() && sites_left > 0 && part.back() == site && (full || groups_left <= sites_left)) ++site;
      part.push_back(site);
      before += graph_.weight(g);
    }
    return part;
  }

  // One group after the other to where most of its links lead; of equals to the site with the fewest ports. Sites without
  // nodes first take one each.
  void place_rest() {
    std::vector<std::size_t> load(sites_.size(), 0);
    for (std::size_t g = 0; g < count(); ++g)
      if (site_of_[g] != kNowhere) load[site_of_[g]] += std::max<std::size_t>(graph_.weight(g), 1);
    const auto put = [&](std::size_t g, std::size_t site) {
      site_of_[g] = site;
      load[site] += std::max<std::size_t>(graph_.weight(g), 1);
    };
    for (std::size_t s = 0; s < sites_.size(); ++s)
      if (load[s] == 0)
        if (const auto free = std::ranges::find(site_of_, kNowhere); free != site_of_.end())
          put(static_cast<std::size_t>(free - site_of_.begin()), s);
    while (const auto next = most_bound()) {
      std::vector<std::size_t> links(sites_.size(), 0);
      for (const auto& [other, n] : graph_.neighbours(*next))
        if (site_of_[other] != kNowhere) links[site_of_[other]] += n;
      std::size_t best = 0;
      for (std::size_t s = 1; s < sites_.size(); ++s)
        if (links[s] > links[best] || (links[s] == links[best] && load[s] < load[best])) best = s;
      put(*next, best);
    }
  }

  // Of the groups that are nowhere yet, the one with the most links to those that are somewhere.
  std::optional<std::size_t> most_bound() const {
    std::optional<std::size_t> best;
    std::size_t most = 0;
    for (std::size_t g = 0; g < count(); ++g) {
      if (site_of_[g] != kNowhere) continue;
      std::size_t bound = 0;
      for (const auto& [other, n] : graph_.neighbours(g))
        if (site_of_[other] != kNowhere) bound += n;
      if (best && bound <= most) continue;
      most = bound;
      best = g;
    }
    return best;
  }

  const spec::Lab& lab_;
  const std::vector<std::string>& sites_;
  std::vector<std::size_t> group_of_;  // by node
  WeightedGraph graph_;                // of groups, with their ports and the links between them
  std::vector<std::size_t> site_of_;  // by group
};

}  // namespace

Placement place(const spec::Lab& lab, const std::vector<std::string>& sites) {
  std::vector<std::string> known;
  for (const auto& [name, site] : lab.sites) known.push_back(name);
  for (std::size_t s = 0; s < sites.size(); ++s) {
    if (!lab.sites.contains(sites[s]))
      throw SpecError({}, fmt::format("there is no site '{}'{}", sites[s], spec::meant_or_known(sites[s], known)));
    if (std::ranges::find(sites.begin(), sites.begin() + static_cast<std::ptrdiff_t>(s), sites[s]) !=
        sites.begin() + static_cast<std::ptrdiff_t>(s))
      throw SpecError({}, fmt::format("site '{}' is chosen twice", sites[s]));
  }
  return Cut(lab, sites).run();
}

std::vector<std::size_t> crossing_links(const spec::Lab& lab, const Placement& placement) {
  std::unordered_map<std::string, std::size_t> index;
  for (std::size_t n = 0; n < lab.nodes.size(); ++n) index[lab.nodes[n].name] = n;
  std::vector<std::size_t> links;
  for (std::size_t i = 0; i < lab.links.size(); ++i)
    if (placement[index.at(lab.links[i].a.node)] != placement[index.at(lab.links[i].b.node)]) links.push_back(i);
  return links;
}

spec::Lab with_placement(const spec::Lab& lab, const Placement& placement) {
  spec::Lab out = lab;
  for (auto& [name, site] : out.sites) site.nodes.clear();
  for (std::size_t n = 0; n < lab.nodes.size(); ++n)
    if (!lab.nodes[n].reduces) out.sites.at(placement[n]).nodes.push_back(lab.nodes[n].name);
  std::erase_if(out.sites, [](const auto& s) { return s.second.nodes.empty(); });
  for (auto& [name, site] : out.sites)
    std::erase_if(site.ports, [&](const auto& p) { return !out.sites.contains(p.first); });
  return out;
}

}  // namespace railyard::sites
