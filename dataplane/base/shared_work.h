// What endpoints of one host have to do with those of others besides frames: a scale-up network of several hosts.
#pragma once

#include "dataplane/base/time.h"

namespace railyard {

// The part of one host. Its device asks for it; nobody else does anything here but hand over what is due a window later
// at the earliest.
class SharedWork {
 public:
  virtual ~SharedWork() = default;

  // Takes what others have handed over so far.
  virtual void collect() = 0;
  // When something is due here or at an endpoint of the host. The host is there at that very instant, whatever its NICs
  // are about: others may rely on it that what follows is not handed over late.
  virtual Instant next_due() const = 0;
  // All that is due up to `now`. What endpoints said about being ready holds no longer.
  virtual void run_due(Instant now) = 0;
};

}  // namespace railyard
