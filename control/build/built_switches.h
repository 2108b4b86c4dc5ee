// What a fabric file says of a switch, as the switch wants it: ports, classes, buffers, headroom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "control/build/built_lab.h"
#include "control/build/quality_reports.h"
#include "control/routing/graph.h"
#include "control/routing/shortest_paths.h"
#include "control/spec/spec.h"
#include "dataplane/switch/switch.h"

namespace railyard::build {

// Of a switch's or trunk's port.
wire::MacAddress port_mac(std::size_t node, PortIndex port) noexcept;
// Of any port; nothing: an attached host's that has not spoken.
std::optional<wire::MacAddress> mac_of(const spec::Lab& lab, std::size_t node, PortIndex port);

class BuiltSwitches {
 public:
  // All outlive this.
  BuiltSwitches(const spec::Lab& lab, const routing::Graph& graph, const routing::Routes& routes);

  // Of node `n`, a switch, which will be device `id`. Its headrooms come to those that are there. Throws spec::SpecError:
  // a headroom is too small.
  SwitchConfig of(std::size_t n, DeviceId id, std::vector<Headroom>& headrooms);

 private:
  struct Headrooms;
  SwitchPortConfig port_config(std::size_t n, const routing::Graph::Edge& e, Headrooms& headrooms) const;
  // What the class sets aside for itself, and what it may have from the pool beyond that. With a pool, `headroom: auto`
  // leaves all of it to the pool.
  void set_headroom(std::size_t n, const routing::Graph::Edge& e, std::size_t k, const spec::TrafficClass& t,
                    ClassBuffer& buffer, Headrooms& headrooms) const;

  const spec::Lab& lab_;
  const routing::Graph& graph_;
  const routing::Routes& routes_;
  QualityReports reports_;
  std::vector<std::uint16_t> bundle_of_link_;  // from 1, in the order of the bundles
};

}  // namespace railyard::build
