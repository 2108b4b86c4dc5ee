#include "control/collectives/collective_plan.h"

#include <algorithm>

#include "control/collectives/plan.h"
#include "dataplane/base/assert.h"

namespace railyard::collectives {

std::vector<RankProgram> plan_collective(const CollectiveShape& shape, std::uint32_t ranks) {
  RAILYARD_ASSERT(ranks >= 2 && shape.size % shape.element == 0 && shape.chunk % shape.element == 0,
                  "collectives are checked before they are planned");
  return Plan(shape, ranks).make();
}

double busbw_factor(const CollectiveShape& shape, std::uint32_t ranks) {
  if (shape.matrix.empty()) return busbw_factor(shape.operation, ranks);
  std::vector<std::uint64_t> out(ranks), in(ranks);
  for (std::size_t r = 0; r < ranks; ++r)
    for (std::size_t q = 0; q < ranks; ++q) {
      if (r == q) continue;
      out[r] += shape.matrix[r * ranks + q];
      in[q] += shape.matrix[r * ranks + q];
    }
  return static_cast<double>(std::max(std::ranges::max(out), std::ranges::max(in))) / static_cast<double>(shape.size);
}

}  // namespace railyard::collectives
