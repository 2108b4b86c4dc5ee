// What routing promises when it is at rest: tables that lead where they say.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "control/build/built_lab.h"
#include "control/rerouting/route_updates.h"

namespace railyard::swarm {

// For how long at most routing may be at work after the last change of a link: each switch notices, decides and tells
// its neighbours once for each hop. Nothing for RoutingProtocol::kStatic.
Duration longest_convergence(const spec::Lab& lab);

class RoutingPromises {
 public:
  using Broken = std::function<void(const std::string& what)>;
  RoutingPromises(build::BuiltLab& lab, const rerouting::RouteUpdates& updates, Broken broken)
      : lab_(lab), updates_(updates), broken_(std::move(broken)) {}

  // With all links up again, and time enough since: routing is at rest, and what each switch forwards by is what it
  // began with, which are all shortest paths.
  void look_in_calm();
  // At any time: if routing is at rest, no table leads into a circle, to a port whose link is down, or to a switch that
  // has no route; and with BGP no way goes through an AS twice, so that with a number per tier none goes down and up
  // again.
  void look_at_rest();
  // At any time: no session of BFD is up that has heard nothing for longer than its detection time (RFC 5880 §6.8.4).
  void look_at_sessions(Instant now);

 private:
  bool is_up(std::size_t node, PortIndex port) const;
  void look_at(std::size_t origin);
  void look_for_valleys(std::size_t origin);

  build::BuiltLab& lab_;
  const rerouting::RouteUpdates& updates_;
  Broken broken_;
};

}  // namespace railyard::swarm
