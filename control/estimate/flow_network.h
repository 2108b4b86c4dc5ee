// A lab's links as what flows share: which links the octets from one NIC to another take, and how long the way is.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "control/estimate/max_min.h"
#include "control/routing/graph.h"
#include "control/routing/path_times.h"
#include "control/routing/shortest_paths.h"
#include "control/spec/spec.h"

namespace railyard::estimate {

class FlowNetwork {
 public:
  // `lab` outlives it.
  explicit FlowNetwork(const spec::Lab& lab);

  // Both directions of a link are links of their own, and so are those of an uplink of PCI Express that NICs share. Octets in
  // a second, framing included.
  std::size_t links() const noexcept { return 2 * (lab_.links.size() + uplinks_.size()); }
  double capacity(std::uint32_t link) const;
  // By the port that sends; of an uplink by its NICs and the direction: "h1:1-2 PCIe out".
  std::string name(std::uint32_t link) const;
  bool between_switches(std::uint32_t link) const;
  bool is_uplink(std::uint32_t link) const noexcept { return link / 2 >= lab_.links.size(); }  // of PCI Express

  // By shortest paths. `spread`: over all of them, as next-hop groups divide it; else over one, drawn by `draw`. Empty: there
  // is none.
  const std::vector<LinkUse>& path(const spec::PortName& from, const spec::PortName& to, bool spread, std::uint64_t draw);

  // Of a frame of so many octets, from its first octet at one NIC until all of it is at the other, less the time that the
  // first link takes to send it.
  Duration latency(const spec::PortName& from, const spec::PortName& to, int frame_octets);

 private:
  struct Edge {
    std::uint32_t link;
    std::size_t neighbour;
  };
  Edge edge(std::size_t node, PortIndex port) const;
  struct Uplink {
    std::string name;
    BitRate rate;
  };
  enum class Direction : std::uint8_t { kOut, kIn };
  void use_uplink(const spec::PortName& nic, Direction direction, std::vector<LinkUse>& uses) const;
  const routing::PathsTo& paths_to(std::size_t node);

  const spec::Lab& lab_;
  std::vector<Uplink> uplinks_;
  std::map<spec::PortName, std::uint32_t> uplink_of_;  // of NICs that share one
  routing::Graph graph_;
  routing::PathTimes times_;
  std::map<std::size_t, std::unique_ptr<routing::PathsTo>> paths_to_;
  std::map<std::tuple<spec::PortName, spec::PortName, bool, std::uint64_t>, std::vector<LinkUse>> paths_;
  std::map<std::tuple<spec::PortName, spec::PortName, int>, Duration> latencies_;
};

}  // namespace railyard::estimate
