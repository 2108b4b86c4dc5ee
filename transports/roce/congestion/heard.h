// What acknowledgements, and their absence, tell a congestion control.
#pragma once

#include <cstdint>

#include "dataplane/base/time.h"

namespace railyard::roce {

// Since it was asked last.
struct Heard {
  std::uint32_t packets = 0;  // newly acknowledged
  Duration delay{};           // of one of them, from its sending; 0: not known
  bool lost = false;          // something is, as what came behind it shows
  bool timed_out = false;
};

}  // namespace railyard::roce
