#include <array>

#include "control/export/export.h"

namespace railyard::exporting {

namespace {

// Of the lab alone.
template <std::string (*kWrite)(const spec::Lab&)>
std::string whole(const spec::Lab& lab, const Options&) {
  return kWrite(lab);
}

}  // namespace

std::span<const Format> formats() {
  static constexpr std::array kFormats{
      Format{"graphviz", "a graph for dot, neato, ...", whole<graphviz>},
      Format{"containerlab", "nodes and links as a topology file of containerlab", whole<containerlab>},
      Format{"address-plan", "CSV: the addresses of all NICs and switches", whole<address_plan>},
      Format{"frr", "the configuration of FRR of each switch with control: frr, or of all switches", whole<frr>},
      Format{"nccl-topology", "a host's PCIe and NICs, for NCCL_TOPO_FILE (--node, --gpus)", nccl_topology, true, true},
      Format{"nccl-hca", "NCCL_IB_HCA of all hosts, or of --node", nccl_hca, true},
      Format{"sonic", "config_db.json of a switch: ports and QoS (--node; default: the first)", sonic, true},
  };
  return kFormats;
}

}  // namespace railyard::exporting
