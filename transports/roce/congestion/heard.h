// What acknowledgements, and their absence, tell a congestion control; and what it tells of its window.
#pragma once

#include <cstdint>
#include <string_view>

#include "dataplane/base/time.h"

namespace railyard::roce {

// Since it was asked last.
struct Heard {
  std::uint32_t packets = 0;  // newly acknowledged
  Duration delay{};           // of one of them, from its sending; 0: not known
  bool lost = false;          // something is, as what came behind it shows
  bool timed_out = false;
};

// A window that a congestion control never exceeds, and the parameter that says so.
struct LargestWindow {
  std::string_view key;
  int packets;
};

}  // namespace railyard::roce
