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
void all_to_all(Plan& plan) {
  each_pair(plan, [&](std::uint32_t from, std::uint32_t to) {
    const Range all = plan.outgoing(from, to);
    const Range part = plan.of_channel(all);
    plan.copy(from, to, part, plan.incoming(from, to) + (part.offset - all.offset));
  });
}
void reduce(Plan& plan, Range range) {
  for (std::uint32_t r = 0; r < plan.ranks(); ++r)
    if (r != plan.shape().root) plan.reduce(r, plan.shape().root, range);
}
void gather(Plan& plan, const Ranges& blocks) {
  for (std::uint32_t r = 0; r < plan.ranks(); ++r)
    if (r != plan.shape().root) plan.copy(r, plan.shape().root, blocks[r]);
}
void scatter(Plan& plan, const Ranges& blocks) {
  for (std::uint32_t r = 0; r < plan.ranks(); ++r)
    if (r != plan.shape().root) plan.copy(plan.shape().root, r, blocks[r]);
}
void send_recv(Plan& plan, Range range) {
  for (std::uint32_t r = 0; r < plan.ranks(); ++r)
    plan.copy(r, (r + 1) % plan.ranks(), range, plan.second_buffer() + range.offset);
}

}  // namespace

constinit const Algorithm kDirect{
    .name = "direct",
    .help = "each rank sends to all that need its data in parallel; 1 or 2 steps",
    .all_reduce = all_reduce,
    .reduce_scatter = reduce_scatter,
    .all_gather = all_gather,
    .reduce = reduce,
    .gather = gather,
    .scatter = scatter,
    .all_to_all = all_to_all,
    .send_recv = send_recv,
    .transfers = all_pairs_twice,
};

}  // namespace railyard::collectives
