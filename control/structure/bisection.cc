#include "control/structure/bisection.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boykov_kolmogorov_max_flow.hpp>

#include "control/spec/spec.h"

namespace railyard::structure {

Bisection bisection(const routing::Graph& graph) {
  using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
  using Flow = boost::adjacency_list<
      boost::vecS, boost::vecS, boost::directedS,
      boost::property<boost::vertex_index_t, std::size_t,
                      boost::property<boost::vertex_color_t, boost::default_color_type,
                                      boost::property<boost::vertex_distance_t, long,
                                                      boost::property<boost::vertex_predecessor_t, Traits::edge_descriptor>>>>,
      boost::property<boost::edge_capacity_t, std::int64_t,
                      boost::property<boost::edge_residual_capacity_t, std::int64_t,
                                      boost::property<boost::edge_reverse_t, Traits::edge_descriptor>>>>;
  std::vector<std::size_t> hosts;
  for (std::size_t n = 0; n < graph.size(); ++n)
    if (graph.is_host(n) && !graph.edges(n).empty()) hosts.push_back(n);
  Bisection out;
  if (hosts.size() < 2) return out;
  Flow flow(graph.size() + 2);
  const std::size_t source = graph.size();
  const std::size_t sink = graph.size() + 1;
  const auto add = [&](std::size_t from, std::size_t to, std::int64_t there, std::int64_t back) {
    const auto a = boost::add_edge(from, to, flow).first;
    const auto b = boost::add_edge(to, from, flow).first;
    boost::put(boost::edge_capacity, flow, a, there);
    boost::put(boost::edge_capacity, flow, b, back);
    boost::put(boost::edge_reverse, flow, a, b);
    boost::put(boost::edge_reverse, flow, b, a);
  };
  // Parallel links are one. Hosts are ends of all flow: what comes back to a source brings nothing.
  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> links;
  for (std::size_t n = 0; n < graph.size(); ++n)
    for (const routing::Graph::Edge& e : graph.edges(n))
      if (n < e.neighbour) links[{n, e.neighbour}] += graph.lab().links[e.link].rate.bps;
  for (const auto& [ends, bps] : links) add(ends.first, ends.second, bps, bps);
  std::int64_t halves[2] = {0, 0};
  constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max() / 4;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const bool first = i < hosts.size() / 2;
    for (const routing::Graph::Edge& e : graph.edges(hosts[i]))
      halves[first ? 0 : 1] += graph.lab().links[e.link].rate.bps;
    if (first)
      add(source, hosts[i], kAny, 0);
    else
      add(hosts[i], sink, kAny, 0);
  }
  out.bps = boost::boykov_kolmogorov_max_flow(flow, source, sink);
  out.half_bps = std::min(halves[0], halves[1]);
  return out;
}

}  // namespace railyard::structure
