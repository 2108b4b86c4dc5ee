// The longest IP packet that is sure to pass between two NICs.
#pragma once

#include <cstddef>
#include <map>
#include <tuple>
#include <vector>

#include "control/spec/spec.h"
#include "control/spec/switch_graph.h"

namespace railyard::spec {

// Packets take shortest paths through switches, any of several: the least MTU of all of them counts.
class PathMtu {
 public:
  explicit PathMtu(const Lab& lab) : graph_(lab) {}

  // 0 if there is no path. Quick for one `to` after the other.
  int between(const PortName& from, const PortName& to);
  // Whether there is a path from every NIC to every other.
  bool all_connected();
  // NICs with the same number (at one switch, with one MTU) have the same paths.
  std::size_t group(const PortName& nic);

 private:
  const std::vector<int>& towards(std::size_t node);

  SwitchGraph graph_;
  std::map<std::tuple<std::size_t, int, int>, std::size_t> groups_;
  std::size_t towards_ = ~std::size_t{0};  // the switch that least_ is about
  std::vector<int> least_;                 // MTU to there, by the node where one begins; 0: no path
};

}  // namespace railyard::spec
