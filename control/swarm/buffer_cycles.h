// Whether a fabric can deadlock at all: whether buffers can wait for each other in a circle.
#pragma once

#include "control/spec/spec.h"

namespace railyard::swarm {

// Links between switches depend on each other where a shortest path to some host goes over one right after the other;
// true if these dependencies have a circle (Dally and Seitz 1987). Paths up and down a Clos have none; a ring of five
// has. Links that are down make no other paths.
bool has_buffer_cycle(const spec::Lab& lab);

}  // namespace railyard::swarm
