// A controller that sees every link and writes every table at once: how good routing can be at all.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "control/routing/protocol.h"

namespace railyard::routing {

// Shortest paths over the links that are up and the switches that are not drained, `reaction` after each change.
class Instantly final : public Protocol {
 public:
  Instantly(const Graph& graph, const Routes& routes, Duration reaction);

  void port_changed(const PortChange& change) override;
  void drain(Instant at, std::size_t node, bool on) override;
  Instant next() const override { return due_; }
  void run(Instant until, const std::function<void(TableChange)>& write) override;
  ProtocolCounters counters() const override { return counters_; }
  const Rib& rib(std::size_t node) const override { return ribs_[node]; }

 private:
  void due(Instant at) { due_ = std::min(due_, at); }

  Graph graph_;
  const Routes& routes_;
  Duration reaction_;
  std::vector<Rib> ribs_;
  std::vector<int> ends_down_;  // by link
  Instant due_ = Instant::never();
  ProtocolCounters counters_;
};

}  // namespace railyard::routing
