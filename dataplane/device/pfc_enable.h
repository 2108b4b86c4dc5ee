// For which priorities a port takes part in PFC: it is enabled per port and priority (IEEE 802.1Q clause 36.1.2).
#pragma once

#include "dataplane/base/ids.h"

namespace railyard {

struct PfcEnable {
  PriorityMask rx = 0xFF;  // pause requests for these are obeyed; for others they are counted and ignored
  PriorityMask tx = 0xFF;  // pause requests for these are sent when the buffer asks for it

  bool operator==(const PfcEnable&) const = default;
};

}  // namespace railyard
