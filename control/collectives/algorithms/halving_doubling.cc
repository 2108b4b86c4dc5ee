#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "control/collectives/collective_plan.h"

namespace railyard::collectives {
namespace {

// Blocks [from, to), those that lie behind each other as one.
Ranges run_of(const Ranges& blocks, std::size_t from, std::size_t to) {
  Ranges out;
  for (std::size_t b = from; b < to; ++b) {
    if (!out.empty() && out.back().end() == blocks[b].offset)
      out.back().octets += blocks[b].octets;
    else
      out.push_back(blocks[b]);
  }
  return out;
}

// Recursive halving (Thakur, Rabenseifner, Gropp 2005): with the rank at distance n/2, n/4, ... the half of
// what is left that is the other's goes there.
void halving(Plan& plan, const Ranges& blocks) {
  for (std::size_t d = plan.ranks() / 2; d >= 1; d /= 2)
    for (std::uint32_t r = 0; r < plan.ranks(); ++r) {
      const std::size_t other = r ^ d;
      const std::size_t from = other / d * d;
      for (const Range& range : run_of(blocks, from, from + d)) plan.reduce(r, static_cast<std::uint32_t>(other), range);
    }
}

// Recursive doubling (ibid.): all that one has goes to the rank at distance 1, 2, 4, ...
void doubling(Plan& plan, const Ranges& blocks) {
  for (std::size_t d = 1; d < plan.ranks(); d *= 2)
    for (std::uint32_t r = 0; r < plan.ranks(); ++r) {
      const std::size_t from = r / d * d;
      for (const Range& range : run_of(blocks, from, from + d)) plan.copy(r, static_cast<std::uint32_t>(r ^ d), range);
    }
}

void halving_doubling(Plan& plan, Range range) {
  const Ranges parts = plan.split(range, plan.ranks());
  halving(plan, parts);
  doubling(plan, parts);
}

std::optional<Refusal> refuse_other_than_powers_of_two(const Algorithm& self, const Layout& layout) {
  const std::uint32_t n = layout.ranks;
  if (std::has_single_bit(n)) return std::nullopt;
  return Refusal{
      "algorithm",
      fmt::format("{} needs 2, 4, 8, ... ranks, but there are {}; expected {} or {} ranks, or another algorithm",
                  self.name, n, std::bit_floor(n), std::bit_ceil(n))};
}

double transfers_of_halves(const Layout& layout, double /*octets*/) {
  return 2 * layout.ranks * std::log2(layout.ranks);
}

}  // namespace

constinit const Algorithm kHalvingDoubling{
    .name = "halving-doubling",
    .help = "recursive halving, then doubling, for 2, 4, 8, ... ranks; 2 log2 n steps",
    .all_reduce = halving_doubling,
    .refuse = refuse_other_than_powers_of_two,
    .transfers = transfers_of_halves,
};

constinit const Algorithm kHalving{
    .name = "halving",
    .help = "recursive halving, for 2, 4, 8, ... ranks; log2 n steps",
    .reduce_scatter = halving,
    .refuse = refuse_other_than_powers_of_two,
    .transfers = transfers_of_halves,
};

constinit const Algorithm kDoubling{
    .name = "doubling",
    .help = "recursive doubling, for 2, 4, 8, ... ranks; log2 n steps",
    .all_gather = doubling,
    .refuse = refuse_other_than_powers_of_two,
    .transfers = transfers_of_halves,
};

}  // namespace railyard::collectives
