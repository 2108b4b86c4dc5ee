// The virtual clock: modelled time goes as fast as the machine does.
#pragma once

#include <functional>

#include "dataplane/base/time.h"
#include "dataplane/run/engine.h"

namespace railyard {

// Does everything due before `until`. Returns false if nothing is left to do at all (it may stop earlier then), true
// otherwise; every device is done up to `until`. `progress`, if given, is told the instant reached now and then.
bool run_virtual(Engine& engine, Instant until, const std::function<void(Instant)>& progress = {});

}  // namespace railyard
