#include "control/collectives/collective_plan.h"

#include "control/collectives/plan.h"
#include "dataplane/base/assert.h"

namespace railyard::collectives {

std::vector<RankProgram> plan_collective(const CollectiveShape& shape, std::uint32_t ranks) {
  RAILYARD_ASSERT(ranks >= 2 && shape.size % shape.element == 0 && shape.chunk % shape.element == 0,
                  "collectives are checked before they are planned");
  return Plan(shape, ranks).make();
}

}  // namespace railyard::collectives
