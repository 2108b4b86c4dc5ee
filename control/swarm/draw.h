// Chance for what is generated (control/spec/draw.h), under the names of this room.
#pragma once

#include "control/spec/draw.h"

namespace railyard::swarm {

using spec::Draw;
using spec::Text;

}  // namespace railyard::swarm
