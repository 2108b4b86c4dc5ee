// Instants as tests write them.
#pragma once

#include "dataplane/base/units.h"

namespace railyard {

/// The instant that is `d` after the start of a run.
constexpr Instant at(Duration d) { return Instant{} + d; }

}  // namespace railyard
