// Where a capture looks at a port. Without one there is nothing in a packet's path but a null pointer.
#pragma once

#include <cstdint>
#include <string_view>

#include "dataplane/base/drop_reason.h"
#include "dataplane/base/ids.h"
#include "dataplane/base/time.h"
#include "dataplane/packet/packet.h"

namespace railyard {

// What a device knows about a frame at the moment it is seen.
struct TapNote {
  enum class Event : std::uint8_t { kReceived, kSent, kDropped };
  Event event = Event::kSent;
  DropReason reason = DropReason::kCount;  // with kDropped
  Priority priority{};                     // class it is in at this port
  std::int64_t depth_octets = -1;          // egress queue behind it (kSent) or found (kDropped); -1: does not apply
  bool marked_here = false;                // this device set CE on it
};

class Tap {
 public:
  virtual ~Tap() = default;
  // Called by the worker that runs the device, in the device's order of events.
  virtual void see(Instant at, const Packet& packet, const TapNote& note) = 0;
};

}  // namespace railyard
