// The switches of a lab and the links between them, and where NICs are linked: what paths are looked for in.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "control/spec/spec.h"

namespace railyard::spec {

// Nodes by their place in Lab::nodes. Hosts forward nothing, so that a path has them at its ends only.
struct SwitchGraph {
  struct Edge {
    std::size_t node;
    int mtu;
  };
  // Of a NIC's link.
  struct Access {
    std::size_t peer = 0;  // node at the other end
    PortName peer_port;
    int mtu = 0;
    VlanSpec vlans;  // of the switch's port
    int vlan = 0;    // that the NIC's frames are in, unless traffic says another; 0: they are not let in
  };

  explicit SwitchGraph(const Lab& lab);

  // Whether it leads to a switch; else to a NIC of another host.
  bool is_at_switch(const Access& a) const { return forwards[a.peer]; }

  // Whether the port at `to` takes part in the VLAN that the NIC at `from` sends in, or in `vlan`, which its frames have
  // as a tag. Ports between switches are taken to carry it.
  static bool share_vlan(const Access& from, const Access& to, std::optional<int> vlan = {});

  std::vector<bool> forwards;            // switches do
  std::vector<std::vector<Edge>> edges;  // between switches only
  std::map<PortName, Access> access;     // of NICs
};

}  // namespace railyard::spec
