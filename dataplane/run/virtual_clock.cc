#include "dataplane/run/virtual_clock.h"

#include <algorithm>

namespace railyard {

void run_virtual(Engine& engine, Instant until, const std::atomic<bool>* stop,
                 const std::function<void(Instant)>& progress) {
  constexpr unsigned kLookUpEvery = 256;  // windows
  unsigned windows = 0;
  Instant next = engine.next();
  while (next < until) {
    next = engine.step(std::min(next + engine.window(), until));
    if (++windows % kLookUpEvery != 0) continue;
    if (progress) progress(next);
    if (stop != nullptr && stop->load(std::memory_order_relaxed)) return engine.settle(engine.reached());
  }
  // Nothing more before `until`; time goes on until then, unless there is nothing more at all.
  engine.settle(next == Instant::never() ? engine.reached() : until);
}

}  // namespace railyard
