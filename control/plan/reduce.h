// A smaller fabric of the same shape, for a live lab or a quick run.
#pragma once

#include "control/plan/sizing.h"

namespace railyard::plan {

// With about 1/factor of the nodes of now, two at least: fewer nodes at each leaf first, then fewer groups and pods.
// Uplinks, spines and cores become fewer in step, so that the oversubscription stays, rounded up to whole links. Throws
// spec::SpecError: fewer than two nodes would be left.
Shape reduced(const Shape& shape, int factor);

}  // namespace railyard::plan
