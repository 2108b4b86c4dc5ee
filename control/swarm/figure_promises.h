// What holds of the figures of any report: shares are shares, and nobody gets more than a link carries.
#pragma once

#include <functional>
#include <string>

#include "control/build/built_lab.h"

namespace railyard::swarm {

// Of a lab that rests at `now`. `broken` is told what was seen.
void look_at_figures(build::BuiltLab& lab, Instant now, const std::function<void(const std::string&)>& broken);

}  // namespace railyard::swarm
