// The virtual clock: modelled time goes as fast as the machine does.
#pragma once

#include <atomic>
#include <functional>

#include "dataplane/base/time.h"
#include "dataplane/run/engine.h"

namespace railyard {

// Does everything due before `until`, or until nothing is left to do, or until `stop` is set. Every device is then done
// up to engine.reached(): `until`, or the end of the last window if that is earlier. `progress`, if given, is told the
// instant reached now and then.
void run_virtual(Engine& engine, Instant until, const std::atomic<bool>* stop = nullptr,
                 const std::function<void(Instant)>& progress = {});

}  // namespace railyard
