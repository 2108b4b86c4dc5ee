// The share of its scale-up network's rate that a collective's messages reach.
#pragma once

#include "control/spec/spec.h"

namespace railyard::spec {

// As its protocol says (collectives/scale_up_share.h); of a job or trace the share that all its collectives have.
double scale_up_share(const Lab& lab, const CollectiveSpec& collective);

}  // namespace railyard::spec
