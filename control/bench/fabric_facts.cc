#include "control/bench/fabric_facts.h"

#include <algorithm>
#include <set>

#include "control/routing/graph.h"
#include "control/structure/structure.h"

namespace railyard::bench {

FabricFacts facts_of(const spec::Lab& lab) {
  FabricFacts f;
  const routing::Graph graph(lab);
  bool rails = false;
  f.links = lab.links.size();
  for (std::size_t n = 0; n < graph.size(); ++n) {
    if (graph.is_switch(n)) ++f.switches;
    if (!graph.is_host(n) || lab.nodes[n].reduces) continue;
    ++f.hosts;
    std::size_t nics = 0;
    std::int64_t bps = 0;
    std::set<std::size_t> edges;
    for (const routing::Graph::Edge& e : graph.edges(n)) {
      if (!graph.is_switch(e.neighbour)) continue;
      ++nics;
      bps += graph.bps(e.link);
      edges.insert(e.neighbour);
    }
    if (nics == 0) continue;
    rails = rails || edges.size() > 1;
    const auto gpus = static_cast<std::size_t>(lab.hosts.at(lab.nodes[n].profile).gpus.value_or(0));
    const std::size_t accelerators = gpus > 0 ? gpus : nics;
    f.accelerators += accelerators;
    f.accelerators_per_host = std::max(f.accelerators_per_host, accelerators);
    const std::int64_t each = bps / static_cast<std::int64_t>(accelerators);
    f.b_acc_bps = f.b_acc_bps == 0 ? each : std::min(f.b_acc_bps, each);
  }
  const structure::Structure s = structure::structure(graph);
  f.tiers = s.tiers.size();
  f.least_switches = s.least_switches;
  f.most_switches = s.most_switches;
  f.bisection_bps = s.bisection_bps;
  if (!s.tiers.empty()) f.oversubscription = s.tiers.front().oversubscription();
  f.topology_class = rails ? "C" : f.tiers == 2 ? "A" : f.tiers == 3 ? "B" : "other";
  return f;
}

nlohmann::ordered_json topology_json(const FabricFacts& f) {
  using Json = nlohmann::ordered_json;
  constexpr double kGiga = 1e9;
  return {{"class", f.topology_class},
          {"tiers", f.tiers},
          {"hosts", f.hosts},
          {"switches", f.switches},
          {"links", f.links},
          {"hops", {f.least_switches, f.most_switches}},
          {"bisection_gbps", f.bisection_bps ? Json(static_cast<double>(*f.bisection_bps) / kGiga) : Json(nullptr)},
          {"oversub", f.oversubscription ? Json(*f.oversubscription) : Json(nullptr)}};
}

}  // namespace railyard::bench
