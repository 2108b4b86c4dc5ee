// The longest IP packet that is sure to pass between two NICs.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "control/spec/spec.h"

namespace railyard::spec {

// Packets take shortest paths through switches, any of several: the least MTU of all of them counts.
class PathMtu {
 public:
  explicit PathMtu(const Lab& lab);

  // 0 if there is no path. Quick for one `to` after the other.
  int between(const PortName& from, const PortName& to);
  // Whether there is a path from every NIC to every other.
  bool all_connected();
  // NICs with the same number (at one switch, with one MTU) have the same paths.
  std::size_t group(const PortName& nic);

 private:
  struct Edge {
    std::size_t node;
    int mtu;
  };
  struct Access {
    std::size_t peer;  // node at the other end of the NIC's link
    PortName peer_port;
    int mtu;
  };
  const std::vector<int>& towards(std::size_t node);

  std::unordered_map<std::string, std::size_t> index_;
  std::vector<bool> forwards_;            // switches do, hosts do not
  std::vector<std::vector<Edge>> edges_;  // by node, between switches only
  std::map<PortName, Access> access_;     // of NICs
  std::map<std::tuple<std::size_t, int, int>, std::size_t> groups_;
  std::size_t towards_ = ~std::size_t{0};  // the switch that least_ is about
  std::vector<int> least_;                 // MTU to there, by the node where one begins; 0: no path
};

}  // namespace railyard::spec
