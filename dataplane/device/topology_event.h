// What happens to a device that routing must know of, and reacts to later.
#pragma once

#include <cstdint>

#include "dataplane/base/ids.h"
#include "dataplane/base/time.h"

namespace railyard {

struct TopologyEvent {
  enum class Kind : std::uint8_t { kLinkDown, kLinkUp, kDrained, kUndrained, kBfdDown, kBfdUp };

  Instant at;
  DeviceId device;
  Kind kind;
  PortIndex port{};  // of a link
};

}  // namespace railyard
