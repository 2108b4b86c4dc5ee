// Routing of a lab that runs: what happens to links becomes tables of switches, at their instants.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "control/build/built_lab.h"
#include "control/rerouting/rerouting.h"
#include "control/routing/protocol.h"
#include "dataplane/run/engine.h"

namespace railyard::rerouting {

// Everything while the engine rests. The protocol is asked after every window, so that no table changes sooner after
// its cause than a window is long: the same on any number of workers.
class RouteUpdates {
 public:
  // The engine, which runs the lab, outlives it. Nothing is done for RoutingProtocol::kStatic.
  RouteUpdates(build::BuiltLab& lab, Engine& engine);
  ~RouteUpdates();
  RouteUpdates(const RouteUpdates&) = delete;
  RouteUpdates& operator=(const RouteUpdates&) = delete;

  // What has happened to tables so far: once for each time in which routing was not at rest.
  const std::vector<Rerouting>& reroutings() const {
    if (!reroutings_.empty()) add_losses(reroutings_.back());
    return reroutings_;
  }
  // Whether nothing is on its way from switch to switch, and no table will change.
  bool at_rest() const noexcept { return reroutings_.empty() || reroutings_.back().at_rest; }
  // What `node` has in its table, or will have from an instant on that is known.
  const routing::Rib& rib(std::size_t node) const { return ribs_.empty() ? lab_.routes().ribs[node] : ribs_[node]; }
  // A speaker outside has `node` forward by `table` from `at` on, and has these addresses itself.
  void take_table(Instant at, DeviceId node, std::vector<Route> table, std::vector<wire::IpAddress> local);

  // What routing has to lead around: ends of links that cannot be used, and switches that are drained. Those of this lab;
  // and, at one of several sites, those that all other sites have. Only while the engine rests.
  struct Outages {
    std::vector<spec::PortName> down;
    std::vector<std::string> drained;
    bool operator==(const Outages&) const = default;
  };
  Outages outages() const;
  void set_outages_elsewhere(Instant at, const Outages& outages);

  // What `node` forwards by at the instant reached.
  std::vector<Route> table_of(DeviceId node) const;

  // Has `see` told all that happens to links and switches, by the engine's thread, each end of a link by itself.
  void tell(std::function<void(const TopologyEvent&)> see) { see_ = std::move(see); }

 private:
  // As routing sees the lab: at one of several sites with the nodes at other sites.
  const spec::Lab& routed() const noexcept { return lab_.routed_graph().lab(); }
  bool is_here(std::size_t node) const noexcept { return node < lab_.spec().nodes.size(); }
  void look();
  void run_protocol();
  void rest_if_quiet();
  void add_losses(Rerouting& r) const;
  std::uint64_t reordered() const;
  void take(const TopologyEvent& event);
  void take_link(const TopologyEvent& event);
  void take_drain(const TopologyEvent& event);
  void note(Instant at, std::string what);
  void note_change(Instant at, std::size_t node, std::size_t routes);
  void write(routing::TableChange change);
  void give_table(Instant at, std::size_t node, const std::shared_ptr<const std::vector<Route>>& table);
  void wake();
  Rerouting& rerouting(Instant at);

  build::BuiltLab& lab_;
  Engine& engine_;
  std::function<void(const TopologyEvent&)> see_;
  std::unique_ptr<routing::Protocol> protocol_;  // made when it is first needed; never where all switches have speakers
  std::vector<bool> has_speaker_;                // by node
  bool is_outside_ = false;                      // all switches have speakers
  std::map<std::size_t, std::vector<Route>> tables_;  // of speakers, by node
  Instant active_{};                                  // where is_outside_: the last cause or change
  std::vector<routing::Rib> ribs_;               // by node: what has been written, from its instant on
  mutable std::vector<Rerouting> reroutings_;  // the losses of the last one are counted when somebody asks
  std::vector<bool> changed_;         // nodes, in the last of these
  struct Port {
    bool signal = true;
    bool bfd = true;
    bool up() const noexcept { return signal && bfd; }
  };
  // Ports of `node` that are one with the one of this link, the link's own included.
  std::vector<PortIndex> members_of(std::size_t node, const routing::Graph::Edge& edge) const;
  bool any_up(std::size_t node, const std::vector<PortIndex>& ports) const;

  std::map<std::pair<std::size_t, std::uint16_t>, Port> ports_;  // to switches: those of which anything was heard
  std::vector<int> drains_;           // by node: those in force
  routing::ProtocolCounters before_;  // when it began
  std::uint64_t reordered_before_ = 0;  // when it began
  Instant wakes_at_ = Instant::never();
};

}  // namespace railyard::rerouting
