// Rings as building blocks: `who[i]` and `blocks[i]` belong together.
#pragma once

#include "control/collectives/plan.h"

namespace railyard::collectives {

// In the end who[i] has the sum of blocks[i].
void ring_reduce_scatter(Plan& plan, const Ranks& who, const Ranges& blocks);
// who[i] begins with blocks[i]; in the end all have all.
void ring_all_gather(Plan& plan, const Ranks& who, const Ranges& blocks);

}  // namespace railyard::collectives
