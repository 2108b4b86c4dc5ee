// NICs of a node, and what PCI Express lets through.
#pragma once

#include "control/plan/request.h"

namespace railyard::plan {

struct NicCheck {
  BitRate slot{};        // what the slot carries (control/spec/pcie.h)
  BitRate usable{};      // of the NIC: the smaller of the two
  BitRate for_gpu{};     // of it, for each GPU
  bool held_up = false;  // the slot carries less than the NIC
};

NicCheck check_nics(const Request& request);

}  // namespace railyard::plan
