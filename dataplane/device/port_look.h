// What a look at a port shows, of all its classes together.
#pragma once

#include <cstdint>

#include "dataplane/base/time.h"

namespace railyard {

// A port at an instant. Counts are from the start of the run. Octets are of frames with FCS.
struct PortLook {
  std::uint64_t depth_octets = 0;  // egress queues, with the frame in transmission
  std::uint64_t tx_octets = 0;
  Duration paused{};  // how long the peer had classes paused, all of them added up
  bool held = false;  // a class is held back by the peer: paused, or without credits
};

}  // namespace railyard
