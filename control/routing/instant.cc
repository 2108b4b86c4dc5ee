#include "control/routing/instant.h"

#include <algorithm>

namespace railyard::routing {

Instantly::Instantly(const Graph& graph, const Routes& routes, Duration reaction)
    : graph_(graph),
      routes_(routes),
      reaction_(reaction),
      ribs_(routes.ribs),
      ends_down_(graph.lab().links.size(), 0) {}

void Instantly::port_changed(const PortChange& change) {
  const auto edge = std::ranges::find(graph_.edges(change.node), change.port, &Graph::Edge::port);
  if (edge == graph_.edges(change.node).end()) return;
  ends_down_[edge->link] += change.up ? -1 : 1;
  graph_.set_up(edge->link, ends_down_[edge->link] <= 0);
  due(change.at);
}

void Instantly::drain(Instant at, std::size_t node, bool on) {
  graph_.set_drained(node, on);
  due(at);
}

void Instantly::run(Instant until, const std::function<void(TableChange)>& write) {
  if (due_ >= until) return;
  const Instant at = std::exchange(due_, Instant::never());
  std::vector<TableChange> changes;
  for (std::size_t n = 0; n < graph_.size(); ++n) changes.push_back({at + reaction_, n, {}});
  for (std::size_t o = 0; o < routes_.announced.origins.size(); ++o) {
    const PathsTo paths(graph_, routes_.announced.origins[o]);
    for (std::size_t n = 0; n < graph_.size(); ++n) {
      if (!graph_.is_switch(n) || paths.group(n) == ribs_[n].group(o)) continue;
      ribs_[n].set(o, paths.group(n));
      changes[n].groups.emplace_back(o, paths.group(n));
    }
  }
  for (TableChange& c : changes) {
    if (c.groups.empty()) continue;
    ++counters_.decisions;
    write(std::move(c));
  }
}

}  // namespace railyard::routing
