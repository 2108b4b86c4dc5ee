// The congestion control of RoCE NICs whose profile names none.
#pragma once

#include "control/spec/spec.h"

namespace railyard::spec {

// Whether a switch of the lab marks a class that carries its RoCE traffic: ECN-capable packets of a traffic or a
// collective, or what services of its NICs answer.
bool marks_roce(const Lab& lab);

// Gives each host profile with `roce.congestion: auto` what NICs ship with: DCQCN if the lab marks its RoCE traffic (with
// the settings of NVIDIA's firmware, as far as `dcqcn` says none), else none. Where there is no RoCE at all profiles stay as they are.
void choose_congestion(Lab& lab);

}  // namespace railyard::spec
