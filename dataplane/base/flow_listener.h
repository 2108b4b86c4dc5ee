// Who is told when an end of a flow is done.
#pragma once

#include <cstdint>

#include "dataplane/base/time.h"

namespace railyard {

class FlowListener {
 public:
  // By the device that the end is at, at the instant at which it is done, once. `token`: as it was given with the
  // listener.
  virtual void on_flow_done(Instant now, std::uint32_t token) = 0;

 protected:
  ~FlowListener() = default;
};

}  // namespace railyard
