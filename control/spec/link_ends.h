// Which link each port has, and what is at its other end.
#pragma once

#include <map>

#include "control/spec/spec.h"

namespace railyard::spec {

struct LinkEnd {
  const LinkSpec* link = nullptr;
  PortName peer;
};

// By port, of all ports with a link. `lab` outlives it.
std::map<PortName, LinkEnd> link_ends(const Lab& lab);

}  // namespace railyard::spec
