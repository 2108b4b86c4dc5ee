// What a time series records of one queue.
#pragma once

#include <cstdint>

#include "dataplane/base/time.h"

namespace railyard {

// One class of one port at an instant. Counts are from the start of the run. Octets are of frames with FCS.
struct QueueSample {
  std::uint64_t depth_octets = 0;   // egress queue, with the frame in transmission
  std::uint64_t ingress_cells = 0;  // of the buffer, held by frames that came in here (switches only)
  std::uint64_t tx_octets = 0;
  std::uint64_t ecn_marked = 0;
  std::uint64_t xoff_sent = 0;
  std::uint64_t dropped = 0;  // in this class of this port, for whatever reason
  Duration paused{};          // how long the peer had it paused

  bool operator==(const QueueSample&) const = default;
};

}  // namespace railyard
