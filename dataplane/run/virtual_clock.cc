#include "dataplane/run/virtual_clock.h"

#include <algorithm>

namespace railyard {

bool run_virtual(Engine& engine, Instant until, const std::function<void(Instant)>& progress) {
  constexpr unsigned kTellEvery = 1024;  // windows
  unsigned windows = 0;
  Instant next = engine.next();
  for (; next < until; next = engine.next()) {
    engine.step(std::min(next + engine.window(), until));
    if (progress && ++windows % kTellEvery == 0) progress(next);
  }
  engine.settle(until);
  return engine.next() != Instant::never();
}

}  // namespace railyard
