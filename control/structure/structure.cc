#include "control/structure/structure.h"

#include <algorithm>
#include <deque>
#include <map>

#include <fmt/format.h>

#include "control/picture/tiers.h"
#include "control/report/units.h"
#include "control/spec/spec.h"
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

// By breadth first search from each switch with hosts: pairs of NICs are counted, not walked.
void add_hops(const Graph& graph, Structure& out) {
  std::vector<std::map<std::size_t, std::uint64_t>> hosts(graph.size());  // by switch: NICs of each host
  std::vector<std::uint64_t> nics(graph.size(), 0);                       // by switch
  std::map<std::size_t, std::uint64_t> of_host;
  std::uint64_t all = 0;
  std::uint64_t own = 0;  // ordered pairs of NICs of one host
  for (std::size_t n = 0; n < graph.size(); ++n) {
    if (!graph.is_host(n)) continue;
    for (const Graph::Edge& e : graph.edges(n)) {
      ++of_host[n];
      if (!graph.is_switch(e.neighbour)) continue;
      ++hosts[e.neighbour][n];
      ++nics[e.neighbour];
    }
    all += of_host[n];
  }
  for (const auto& [host, count] : of_host) own += count * count;
  std::uint64_t reached = 0;
  double sum = 0;
  for (std::size_t from = 0; from < graph.size(); ++from) {
    if (nics[from] == 0) continue;
    std::vector<int> distance(graph.size(), -1);
    distance[from] = 1;
    for (std::deque<std::size_t> next{from}; !next.empty(); next.pop_front()) {
      const std::size_t n = next.front();
      if (nics[n] > 0) {
        std::uint64_t pairs = nics[from] * nics[n];
        for (const auto& [host, count] : hosts[from])
          if (const auto same = hosts[n].find(host); same != hosts[n].end()) pairs -= count * same->second;
        if (pairs > 0) {
          out.least_switches = reached == 0 ? distance[n] : std::min(out.least_switches, distance[n]);
          out.most_switches = std::max(out.most_switches, distance[n]);
          sum += static_cast<double>(pairs) * distance[n];
          reached += pairs;
        }
      }
      for (const Graph::Edge& e : graph.edges(n))
        if (graph.is_switch(e.neighbour) && distance[e.neighbour] < 0) {
          distance[e.neighbour] = distance[n] + 1;
          next.push_back(e.neighbour);
        }
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
