#include "control/build/quality_reports.h"

#include <algorithm>
#include <unordered_set>

#include "control/spec/spec.h"

namespace railyard::build {
namespace {

// The finer and the more frequent of two, if there are two.
void add(std::optional<QualityReportConfig>& to, const QualityReportConfig& also) {
  if (!to) to = also;
  to->every = std::min(to->every, also.every);
  to->band = std::min(to->band, also.band);
}

}  // namespace

QualityReports::QualityReports(const routing::Graph& graph, const routing::Routes& routes)
    : graph_(graph), routes_(routes), listeners_(graph.size()), tables_(graph.size()) {
  const spec::Lab& lab = graph.lab();
  // Ways to the switches themselves are not worth a report.
  std::unordered_set<wire::IpAddress> loopbacks;
  for (const spec::NodeSpec& node : lab.nodes) {
    if (node.loopback_v4) loopbacks.insert(*node.loopback_v4);
    if (node.loopback_v6) loopbacks.insert(*node.loopback_v6);
  }
  for (std::size_t n = 0; n < graph.size(); ++n) {
    if (!graph.is_switch(n)) continue;
    Listener& listener = listeners_[n];
    for (const spec::TrafficClass& c : lab.qos.at(lab.switches.at(lab.nodes[n].profile).qos).classes)
      if (c.path.global)
        add(listener.wants, {c.path.report_every, c.path.band});
    if (!listener.wants) continue;
    listener.at.resize(graph.ports(n));
    for (const Route& route : routes.table_of(n))
      if (route.ports.size() > 1 && !(route.prefix.length == 128 && loopbacks.contains(route.prefix.address)))
        for (const PortIndex port : route.ports) listener.at[port.index()] = true;
    for (const routing::Graph::Edge& e : graph.edges(n))
      if (!graph.is_switch(e.neighbour)) listener.at[e.port.index()] = false;
  }
}

std::optional<QualityReportConfig> QualityReports::of(std::size_t node) const {
  std::optional<QualityReportConfig> all;
  for (const routing::Graph::Edge& e : graph_.edges(node))
    if (is_told(e)) add(all, *listeners_[e.neighbour].wants);
  return all;
}

bool QualityReports::is_told(const routing::Graph::Edge& edge) const noexcept {
  return listens(edge.neighbour, edge.neighbour_port);
}

std::shared_ptr<const ForwardingTable> QualityReports::beyond(std::size_t node, const routing::Graph::Edge& edge) {
  if (!listens(node, edge.port)) return nullptr;
  std::shared_ptr<const ForwardingTable>& table = tables_[edge.neighbour];
  if (table == nullptr)
    table = std::make_shared<const ForwardingTable>(routes_.forwarding_of(edge.neighbour));
  return table;
}

}  // namespace railyard::build
