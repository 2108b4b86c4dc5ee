#include "control/plan/nics.h"

#include <algorithm>

#include "control/spec/pcie.h"

namespace railyard::plan {

NicCheck check_nics(const Request& r) {
  const BitRate slot = spec::rate_of(r.pcie());
  const BitRate usable = std::min(slot, r.nic_rate());
  return {.slot = slot, .usable = usable, .for_gpu = usable * r.nics() / r.gpus_per_node, .held_up = slot < r.nic_rate()};
}

}  // namespace railyard::plan
