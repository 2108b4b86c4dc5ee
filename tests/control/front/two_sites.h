// A lab over two sites, for tests: spine1, leaf1 and h1 at a, leaf2 and h2 at b.
#pragma once

#include <string>

#include "control/front/site_plan.h"

namespace railyard::front {

// Links: leaf1:1 - h1:1 and leaf2:1 - h2:1 within the sites, spine1:1 - leaf1:2 within a, spine1:2 - leaf2:2 from a to b.
SitePlan two_sites();

}  // namespace railyard::front
