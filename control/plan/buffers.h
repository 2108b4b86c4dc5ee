// Buffer of a switch: what PFC sets aside, and what is left to share.
#pragma once

#include "control/plan/sizing.h"
#include "dataplane/switch/headroom_mix.h"

namespace railyard::plan {

struct HeadroomOfLink {
  Length cable{};
  HeadroomTerms terms;
  Bytes octets{};     // of wire time
  HeadroomMix mix{};  // the frames of it that take most cells
  Bytes buffer{};     // these cells
};

struct Buffers {
  HeadroomOfLink node, fabric, core;  // fabric, core: octets 0 without such links
  // Headroom of all ports of a switch that is full in 18 months, all lossless classes.
  Bytes leaf{}, spine{};
  int spine_down = 0;  // ports of a spine to leaves
  Bytes left_leaf{}, left_spine{};  // of the buffer; below 0: the headroom pool has to be shared
};

// By the formula of the switch model (dataplane/switch/headroom.h), which `railyard check` uses too.
Buffers buffers(const Request& request, const Shape& shape, const SwitchChoice& chosen);

}  // namespace railyard::plan
