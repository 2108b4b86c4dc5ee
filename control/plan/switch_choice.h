// The switch that a plan is made of: ports, their rate, its buffer.
#pragma once

#include <string>

#include "control/plan/request.h"
#include "control/spec/spec.h"

namespace railyard::plan {

struct SwitchChoice {
  int radix = 0;
  BitRate port_rate{};
  std::string asic;             // the shipped profile that its buffer is from
  bool is_asic = false;         // its ports are those of the profile, too
  spec::SwitchProfile profile;  // buffer, cell, latency, headroom pool

  BitRate capacity() const noexcept { return {port_rate.bps * radix}; }
};

// `asic`, or the numbers; without either 64 ports of 400 Gb/s. The buffer is that of the shipped ASIC with the nearest
// capacity. Throws spec::SpecError: no switch has ports for NICs of this rate.
SwitchChoice choose_switch(const Request& request);

// Of the shipped chips whose ports have this rate or more, deep buffers left out; 0: there is none.
BitRate largest_capacity(BitRate port_rate);

}  // namespace railyard::plan
