// How one device says that another one has something to do, of what they share besides links.
#pragma once

#include "dataplane/base/time.h"

namespace railyard {

class DeviceWake {
 public:
  // At `due`, a lookahead or more after what the caller does now: the other device is to be advanced.
  void at(Instant due) noexcept {
    if (due < *next_) *next_ = due;
  }
  // Where the engine wants to read it: a place that the caller's worker may write. Only while the engine rests.
  void through(Instant* next) noexcept { next_ = next; }

 private:
  Instant unheard_ = Instant::never();
  Instant* next_ = &unheard_;
};

}  // namespace railyard
