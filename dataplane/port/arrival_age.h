// When something came in, as seen from the moment at which a loop looks outside.
#pragma once

#include "dataplane/base/time.h"

namespace railyard {

// How long before `wall`, a moment of CLOCK_MONOTONIC at most a second ago, something came in that has waited for
// `waited` up to now; negative if it came after. `waited` 0: nobody knows when it came, and now is the latest that it
// can have been. A `wall` that is of another clock is taken for now.
Duration age_at(Duration wall, Duration waited) noexcept;

}  // namespace railyard
