// A lab over two sites, for tests: spine1, leaf1 and h1 at a, leaf2 and h2 at b.
#pragma once

#include <string>

#include "control/front/site_plan.h"

namespace railyard::front {

// One link crosses: spine1:2 - leaf2:2.
SitePlan two_sites();

}  // namespace railyard::front
