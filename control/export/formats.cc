#include <array>

#include "control/export/export.h"

namespace railyard::exporting {

std::span<const Format> formats() {
  static constexpr std::array kFormats{
      Format{"graphviz", "a graph for dot, neato, ...", graphviz},
      Format{"containerlab", "nodes and links as a topology file of containerlab", containerlab},
      Format{"address-plan", "CSV: the addresses of all NICs and switches", address_plan},
      Format{"frr", "the configuration of FRR of each switch with control: frr, or of all switches", frr},
  };
  return kFormats;
}

}  // namespace railyard::exporting
