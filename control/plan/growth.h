// From now to 18 months: what is bought later, what has to be free for it now, and what nobody will use.
#pragma once

#include <string>
#include <vector>

#include "control/plan/sizing.h"

namespace railyard::plan {

// Of the switches of one tier that are bought now, in ports of the switch.
struct TierPorts {
  std::string tier;  // "leaf"
  int switches = 0;  // now
  int switches_later = 0;
  std::int64_t ports = 0;     // of those of now
  std::int64_t used = 0;      // now
  std::int64_t reserved = 0;  // free now; nodes and leaves of later use them
  std::int64_t stranded() const noexcept { return ports - used - reserved; }
};

std::vector<TierPorts> ports_by_tier(const Shape& shape);

}  // namespace railyard::plan
