#include "control/structure/structure.h"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "control/picture/tiers.h"
#include "control/report/units.h"
#include "control/spec/spec.h"
#include "control/spec/switch_graph.h"
#include "control/structure/bisection.h"

namespace railyard::structure {
namespace {

using routing::Graph;

void add_tiers(const Graph& graph, Structure& out) {
  const std::vector<int> tier = picture::tiers(graph);
  std::map<int, Tier> tiers;
  for (std::size_t n = 0; n < graph.size(); ++n) {
    if (!graph.is_switch(n)) continue;
    Tier& t = tiers[tier[n]];
    t.number = tier[n];
    ++t.switches;
    const std::size_t used = graph.edges(n).size();
    if (used > t.ports_used) {
      t.ports_used = used;
      t.ports_offered = static_cast<std::size_t>(graph.lab().switches.at(graph.lab().nodes[n].profile).linked_ports());
    }
    for (const Graph::Edge& e : graph.edges(n)) {
      const std::int64_t rate = graph.lab().links[e.link].rate.bps;
      const int other = graph.is_switch(e.neighbour) ? tier[e.neighbour] : 0;
      if (other < tier[n]) t.down_bps += rate;
      if (other > tier[n]) t.up_bps += rate;
      if (graph.is_switch(e.neighbour) && other == tier[n] && n < e.neighbour) ++out.lateral_links;
    }
  }
  for (auto& [number, t] : tiers) out.tiers.push_back(t);
}

// NICs at ports of one switch that take part in the same VLANs.
struct Ports {
  std::size_t at = 0;  // the switch
  spec::SwitchGraph::Access like;
  std::map<std::size_t, std::uint64_t> nics;  // of each host
  std::uint64_t all = 0;
};

std::vector<Ports> ports_of(const Graph& graph) {
  const spec::SwitchGraph switches(graph.lab());
  std::map<std::tuple<std::size_t, int, bool, std::vector<int>, int>, Ports> known;
  for (const auto& [nic, access] : switches.access) {
    const std::size_t host = graph.node(nic.node);
    if (!graph.is_host(host) || !switches.is_at_switch(access)) continue;
    const spec::VlanSpec& v = access.vlans;
    Ports& ports = known[{access.peer, v.native, v.all_tagged, v.tagged, access.vlan}];
    ports.at = access.peer;
    ports.like = access;
    ++ports.nics[host];
    ++ports.all;
  }
  std::vector<Ports> out;
  for (auto& [key, ports] : known) out.push_back(std::move(ports));
  return out;
}

// In switches, from the one at `from`; 0: not reached.
std::vector<int> distances(const Graph& graph, std::size_t from) {
  std::vector<int> distance(graph.size(), 0);
  distance[from] = 1;
  for (std::deque<std::size_t> next{from}; !next.empty(); next.pop_front())
    for (const Graph::Edge& e : graph.edges(next.front()))
      if (graph.is_switch(e.neighbour) && distance[e.neighbour] == 0) {
        distance[e.neighbour] = distance[next.front()] + 1;
        next.push_back(e.neighbour);
      }
  return distance;
}

// By breadth first search from each switch with hosts: pairs of NICs are counted, not walked.
void add_hops(const Graph& graph, Structure& out) {
  std::uint64_t all = 0;
  std::uint64_t own = 0;  // ordered pairs of NICs of one host
  for (std::size_t n = 0; n < graph.size(); ++n) {
    if (!graph.is_host(n)) continue;
    const std::uint64_t nics = graph.edges(n).size();
    all += nics;
    own += nics * nics;
  }
  std::uint64_t reached = 0;
  double sum = 0;
  const std::vector<Ports> places = ports_of(graph);
  std::vector<int> distance;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Ports& from = places[i];
    if (i == 0 || places[i - 1].at != from.at) distance = distances(graph, from.at);
    for (const Ports& to : places) {
      if (distance[to.at] == 0 || !spec::SwitchGraph::share_vlan(from.like, to.like)) continue;
      std::uint64_t pairs = from.all * to.all;
      for (const auto& [host, count] : from.nics)
        if (const auto same = to.nics.find(host); same != to.nics.end()) pairs -= count * same->second;
      if (pairs == 0) continue;
      out.least_switches = reached == 0 ? distance[to.at] : std::min(out.least_switches, distance[to.at]);
      out.most_switches = std::max(out.most_switches, distance[to.at]);
      sum += static_cast<double>(pairs) * distance[to.at];
      reached += pairs;
    }
  }
  // NICs that are cabled to each other pass no switch.
  for (std::size_t n = 0; n < graph.size(); ++n)
    if (graph.is_host(n))
      for (const Graph::Edge& e : graph.edges(n)) reached += graph.is_host(e.neighbour) ? 1 : 0;
  out.mean_switches = reached > 0 ? sum / static_cast<double>(reached) : 0;
  out.unreachable_pairs = all * all - own - reached;
}

}  // namespace

Structure structure(const Graph& graph) {
  Structure out;
  add_tiers(graph, out);
  add_hops(graph, out);
  const Bisection b = bisection(graph);
  out.bisection_bps = b.bps;
  out.half_bps = b.half_bps;
  return out;
}

std::vector<std::string> lines(const Structure& s) {
  std::vector<std::string> out;
  if (s.tiers.empty()) return out;
  const std::size_t tiers = s.tiers.size();
  out.push_back(fmt::format("{} {}, {} {}; switches between NICs: {} to {}, mean {:.2f}", tiers,
                            tiers == 1 ? "tier" : "tiers", s.most_switches, s.most_switches == 1 ? "stage" : "stages",
                            s.least_switches, s.most_switches, s.mean_switches));
  for (const Tier& t : s.tiers) {
    std::string line = fmt::format("tier {}: {} {}, up to {}{} ports used, {} down", t.number, t.switches,
                                   t.switches == 1 ? "switch" : "switches", t.ports_used,
                                   t.ports_offered > 0 ? fmt::format(" of {}", t.ports_offered) : "",
                                   report::rate_text(static_cast<double>(t.down_bps)));
    if (const auto ratio = t.oversubscription())
      line += fmt::format(", {} up ({:.3g}:1)", report::rate_text(static_cast<double>(t.up_bps)), *ratio);
    out.push_back(std::move(line));
  }
  if (s.lateral_links > 0) out.push_back(fmt::format("{} links within a tier", s.lateral_links));
  if (s.bisection_bps)
    out.push_back(fmt::format("bisection: {} of {} that half of the hosts can send ({:.3g}:1)",
                              report::rate_text(static_cast<double>(*s.bisection_bps)),
                              report::rate_text(static_cast<double>(s.half_bps)),
                              *s.bisection_bps > 0 ? static_cast<double>(s.half_bps) / static_cast<double>(*s.bisection_bps) : 0));
  if (s.unreachable_pairs > 0)
    out.push_back(fmt::format("{} ordered pairs of NICs of different hosts have no path through switches",
                              report::count_text(s.unreachable_pairs)));
  return out;
}

}  // namespace railyard::structure
