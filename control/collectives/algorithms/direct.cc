#include "control/collectives/collective_plan.h"

namespace railyard::collectives {
namespace {

// All pairs at once, each rank beginning with the one behind it: send(from, to).
template <class Send>
void each_pair(const Plan& plan, Send send) {
  const std::uint32_t n = plan.ranks();
  for (std::uint32_t k = 1; k < n; ++k)
    for (std::uint32_t r = 0; r < n; ++r) send(r, (r + k) % n);
}

void reduce_scatter(Plan& plan, const Ranges& blocks) {
  each_pair(plan, [&](std::uint32_t from, std::uint32_t to) { plan.reduce(from, to, blocks[to]); });
}
void all_gather(Plan& plan, const Ranges& blocks) {
  each_pair(plan, [&](std::uint32_t from, std::uint32_t to) { plan.copy(from, to, blocks[from]); });
}
void all_reduce(Plan& plan, Range range) {
  const Ranges blocks = plan.split(range, plan.ranks());
  reduce_scatter(plan, blocks);
  all_gather(plan, blocks);
}
// What comes in is put behind what goes out.
void all_to_all(Plan& plan, const Ranges& blocks) {
  const Ranges own = plan.blocks();
  each_pair(plan, [&](std::uint32_t from, std::uint32_t to) {
    plan.copy(from, to, blocks[to], plan.whole().octets + own[from].offset + (blocks[to].offset - own[to].offset));
  });
}

}  // namespace

constinit const Algorithm kDirect{
    .name = "direct",
    .help = "each rank sends to all others in parallel; 1 or 2 steps",
    .all_reduce = all_reduce,
    .reduce_scatter = reduce_scatter,
    .all_gather = all_gather,
    .all_to_all = all_to_all,
    .transfers = all_pairs_twice,
};

}  // namespace railyard::collectives
