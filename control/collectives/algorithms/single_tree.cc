#include "control/collectives/collective_plan.h"

namespace railyard::collectives {
namespace {

// A binary heap: node i's parent is (i - 1) / 2. Odd channels number the ranks from the other end, so that who has
// children in one mostly has none in the other.
std::uint32_t node(const Plan& plan, std::size_t i, std::uint32_t root) {
  const std::size_t turned = plan.channel() % 2 == 0 || i == 0 ? i : plan.ranks() - i;
  return static_cast<std::uint32_t>((turned + root) % plan.ranks());
}

void down(Plan& plan, Range range, std::uint32_t root) {
  for (std::size_t i = 1; i < plan.ranks(); ++i)
    plan.copy(node(plan, (i - 1) / 2, root), node(plan, i, root), range);
}

void all_reduce(Plan& plan, Range range) {
  const std::uint32_t root = plan.channel() % 2 == 0 ? 0 : plan.ranks() - 1;
  for (std::size_t i = plan.ranks() - 1; i >= 1; --i)
    plan.reduce(node(plan, i, root), node(plan, (i - 1) / 2, root), range);
  down(plan, range, root);
}

}  // namespace

constinit const Algorithm kSingleTree{
    .name = "single-tree",
    .help = "one binary tree over all ranks: with 5 or more, 2/3 of tree's rate for large sizes",
    .all_reduce = all_reduce,
    .broadcast = [](Plan& plan, Range range) { down(plan, range, plan.shape().root); },
    .transfers = [](const Layout& layout, double) { return 2.0 * layout.ranks; },
};

}  // namespace railyard::collectives
