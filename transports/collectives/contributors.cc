#include "transports/collectives/contributors.h"

#include <algorithm>

#include "dataplane/base/hash.h"

namespace railyard {
namespace {

// Calls `visit(run)` for each run of octets between two cuts in [from, to).
template <class Visit>
void for_each_run(const RankProgram& program, std::uint64_t from, std::uint64_t to, Visit visit) {
  const std::vector<std::uint64_t>& cuts = *program.cuts;
  for (auto c = std::ranges::lower_bound(cuts, from); c != cuts.end() && *c < to; ++c)
    visit(static_cast<std::size_t>(c - cuts.begin()));
}

}  // namespace

std::uint64_t Contributors::weight(const RankProgram& program, std::uint32_t rank) noexcept {
  if (!program.reduces) return 1;
  return program.ranks <= kMostInASet ? std::uint64_t{1} << rank : mix64(rank + 1) & kMask;
}

std::uint64_t Contributors::weight_of_all(const RankProgram& program) noexcept {
  std::uint64_t sum = 0;
  for (std::uint32_t r = 0; r < program.ranks; ++r) sum += weight(program, r);
  return sum & kMask;
}

std::uint64_t Contributors::expected(const RankProgram& program, const CollectiveExtent& extent) noexcept {
  if (!extent.is_sum()) return weight(program, extent.rank);
  if (extent.rank == CollectiveExtent::kSum) return weight_of_all(program);
  std::uint64_t sum = 0;
  for (const std::uint32_t r : (*program.groups)[extent.group()]) sum += weight(program, r);
  return sum & kMask;
}

void Contributors::begin(const RankProgram& program) {
  sums_.assign(program.cuts->size(), 0);
  for (const CollectiveExtent& e : program.inputs)
    for_each_run(program, e.offset, e.offset + e.octets, [&](std::size_t i) { sums_[i] = weight(program, e.rank); });
}

std::uint64_t Contributors::of(const CollectiveStep& send) const noexcept {
  const std::uint64_t first = sums_[send.first_cut];
  std::uint64_t mixed = first;
  bool same = true;
  for (std::uint32_t i = send.first_cut + 1; i < send.end_cut; ++i) {
    same = same && sums_[i] == first;
    mixed = mix64(mixed + sums_[i]);
  }
  return same ? first : mixed & kMask;
}

void Contributors::add(const CollectiveStep& receive, std::uint64_t sum) noexcept {
  for (std::uint32_t i = receive.first_cut; i < receive.end_cut; ++i) sums_[i] = (sums_[i] + sum) & kMask;
}

void Contributors::set(const CollectiveStep& receive, std::uint64_t sum) noexcept {
  for (std::uint32_t i = receive.first_cut; i < receive.end_cut; ++i) sums_[i] = sum;
}

void Contributors::verify(const RankProgram& program, std::uint32_t repeat, WrongData& wrong) const {
  const std::vector<std::uint64_t>& cuts = *program.cuts;
  for (const CollectiveExtent& e : program.results) {
    if (!program.goes(e.occasion, repeat)) continue;
    const std::uint64_t expected = Contributors::expected(program, e);
    for_each_run(program, e.offset, e.offset + e.octets, [&](std::size_t i) {
      if (sums_[i] == expected) [[likely]]
        return;
      if (wrong.octets == 0) wrong = {0, repeat, cuts[i], sums_[i], expected};
      wrong.octets += cuts[i + 1] - cuts[i];
    });
  }
}

}  // namespace railyard
