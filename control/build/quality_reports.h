// Global load balancing between the switches of a lab: who reports the quality of its ports to whom.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "control/routing/graph.h"
#include "control/routing/shortest_paths.h"
#include "dataplane/switch/forwarding_table.h"
#include "dataplane/switch/path/quality_reporter.h"

namespace railyard::build {

// A switch listens at a port if a class of its asks for it (`global: true`), if it chooses among that port and others
// for some destination that is not a switch itself, and if there is another switch behind it. What is behind a trunk is
// in another daemon, which is not asked.
class QualityReports {
 public:
  // Both outlive it.
  QualityReports(const routing::Graph& graph, const routing::Routes& routes);

  // How switch `node` reports: as often and as finely as the most demanding of its listeners asks. Nothing: nobody
  // asks.
  std::optional<QualityReportConfig> of(std::size_t node) const;
  // Whether the switch at the far end of `edge` listens there.
  bool is_told(const routing::Graph::Edge& edge) const noexcept;
  // What the switch at the far end of `edge`, one of `node`, forwards by; nullptr if `node` does not listen there.
  std::shared_ptr<const ForwardingTable> beyond(std::size_t node, const routing::Graph::Edge& edge);

 private:
  struct Listener {
    std::optional<QualityReportConfig> wants;
    std::vector<bool> at;  // by port; empty: nowhere
  };

  bool listens(std::size_t node, PortIndex port) const noexcept {
    return port.index() < listeners_[node].at.size() && listeners_[node].at[port.index()];
  }

  const routing::Graph& graph_;
  const routing::Routes& routes_;
  std::vector<Listener> listeners_;                             // by node
  std::vector<std::shared_ptr<const ForwardingTable>> tables_;  // by node, as far as asked for
};

}  // namespace railyard::build
