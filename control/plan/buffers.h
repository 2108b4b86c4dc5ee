// Buffer of a switch: what PFC sets aside, and what is left to share.
#pragma once

#include "control/plan/sizing.h"
#include "dataplane/switch/headroom.h"

namespace railyard::plan {

struct HeadroomOfLink {
  Length cable{};
  HeadroomTerms terms;
  Bytes octets{};  // of wire time
  Bytes buffer{};  // the same in cells, for the worst mix of frames
};

struct Buffers {
  HeadroomOfLink node, fabric, core;  // fabric, core: octets 0 without such links
  Bytes leaf{}, spine{};              // headroom of all ports of a switch, all lossless classes
  Bytes left_leaf{};                  // of the buffer; below 0: the headroom pool has to be shared
};

// By the formula of the switch model (dataplane/switch/headroom.h), which `railyard check` uses too.
Buffers buffers(const Request& request, const Shape& shape, const SwitchChoice& chosen);

}  // namespace railyard::plan
