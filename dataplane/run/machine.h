// The machine as a run by the wall clock sees it: what time it is, and how to wait. A test brings one of its own.
#pragma once

#include <span>

#include "dataplane/base/time.h"

namespace railyard {

class Machine {
 public:
  virtual ~Machine() = default;

  // Since some moment in the past; never goes back (CLOCK_MONOTONIC).
  virtual Duration time();
  // Lets others use the core, if there are any.
  virtual void yield();
  // Less than a second.
  virtual void sleep(Duration duration);
  // Until one of `descriptors` is readable, for at most `most` (less than a minute). Whether one is.
  virtual bool wait(Duration most, std::span<const int> descriptors);

  // The one that we run on.
  static Machine& real();
};

}  // namespace railyard
