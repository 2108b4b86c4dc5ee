#include "control/collectives/algorithms/ring.h"

#include <algorithm>

#include "control/collectives/collective_plan.h"

namespace railyard::collectives {
namespace {

// The ranks of one host in the order in which a ring goes through them, from `entry` to `exit` (places in the host).
void go_through(std::uint32_t begin, std::uint32_t members, std::uint32_t entry, std::uint32_t exit, Ranks& out) {
  const bool back = members > 1 && exit == (entry + 1) % members;
  out.push_back(begin + entry);
  for (std::uint32_t i = 1; i < members; ++i) {
    const std::uint32_t next = (entry + (back ? members - i : i)) % members;
    if (next != exit) out.push_back(begin + next);
  }
  if (members > 1) out.push_back(begin + exit);
}

// The ranks in the order of the channel's ring. In hosts with scale-up networks the ring enters a host at the rail at
// which it has left the last one, at another rail in each channel: so all hops between hosts stay on a rail, unless the
// number of hosts is odd and each has two ranks only: then the last hop crosses rails.
Ranks order(const Plan& plan) {
  const CollectiveShape& shape = plan.shape();
  const std::uint32_t n = plan.ranks();
  Ranks out;
  if (shape.host.empty()) {
    for (std::uint32_t r = 0; r < n; ++r) out.push_back(r);
    return out;
  }
  Ranks begins;
  for (std::uint32_t r = 0; r < n; ++r)
    if (r == 0 || shape.host[r] != shape.host[r - 1]) begins.push_back(r);
  const std::size_t hosts = begins.size();
  for (std::size_t h = 0; h < hosts; ++h) {
    const std::uint32_t members = (h + 1 < hosts ? begins[h + 1] : n) - begins[h];
    // Places in a host where the ring goes on to the next one, before the channel turns them.
    const auto exit_of = [&](std::size_t k) -> std::uint32_t {
      const bool odd_one = hosts % 2 != 0 && hosts > 1 && members > 2;
      if (odd_one && k + 2 == hosts) return members - 2;
      if (odd_one && k + 1 == hosts) return 0;
      return k % 2 == 0 ? members - 1 : 0;
    };
    const std::uint32_t entry = h == 0 ? 0 : exit_of(h - 1);
    go_through(begins[h], members, (entry + plan.channel()) % members, (exit_of(h) + plan.channel()) % members, out);
  }
  return out;
}

Ranges in_order_of(const Ranks& who, const Ranges& blocks) {
  Ranges out;
  for (const std::uint32_t r : who) out.push_back(blocks[r]);
  return out;
}

void all_reduce(Plan& plan, Range range) {
  const Ranks who = order(plan);
  const Ranges parts = plan.split(range, plan.ranks());
  ring_reduce_scatter(plan, who, parts);
  ring_all_gather(plan, who, parts);
}
void reduce_scatter(Plan& plan, const Ranges& blocks) {
  const Ranks who = order(plan);
  ring_reduce_scatter(plan, who, in_order_of(who, blocks));
}
void all_gather(Plan& plan, const Ranges& blocks) {
  const Ranks who = order(plan);
  ring_all_gather(plan, who, in_order_of(who, blocks));
}
// A chain from the root on, in the order of the ring.
void broadcast(Plan& plan, Range range) {
  Ranks who = order(plan);
  std::ranges::rotate(who, std::ranges::find(who, plan.shape().root));
  for (std::size_t i = 0; i + 1 < who.size(); ++i) plan.copy(who[i], who[i + 1], range);
}
// The same chain, to the root.
void reduce(Plan& plan, Range range) {
  Ranks who = order(plan);
  std::ranges::rotate(who, std::ranges::find(who, plan.shape().root) + 1);
  for (std::size_t i = 0; i + 1 < who.size(); ++i) plan.reduce(who[i], who[i + 1], range);
}

}  // namespace

// Round s: who[i] hands on the block that has come s ranks so far.
void ring_reduce_scatter(Plan& plan, const Ranks& who, const Ranges& blocks) {
  const std::size_t m = who.size();
  for (std::size_t s = 0; s + 1 < m; ++s)
    for (std::size_t i = 0; i < m; ++i) plan.reduce(who[i], who[(i + 1) % m], blocks[(i + 2 * m - s - 1) % m]);
}

void ring_all_gather(Plan& plan, const Ranks& who, const Ranges& blocks) {
  const std::size_t m = who.size();
  for (std::size_t s = 0; s + 1 < m; ++s)
    for (std::size_t i = 0; i < m; ++i) plan.copy(who[i], who[(i + 1) % m], blocks[(i + m - s) % m]);
}

constinit const Algorithm kRing{
    .name = "ring",
    .help = "each rank sends to the next one; n - 1 or 2 (n - 1) steps",
    .all_reduce = all_reduce,
    .reduce_scatter = reduce_scatter,
    .all_gather = all_gather,
    .broadcast = broadcast,
    .reduce = reduce,
    .channels_by_nic = true,
    .transfers = all_pairs_twice,
};

}  // namespace railyard::collectives
